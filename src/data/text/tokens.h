// Tokenizers: transforms that cut one string into tokens. With offsets they give three values:
// tokens, first bytes, bytes behind (uint32), as published.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/transform.h"

namespace mycel::data {

struct Tokens {
  std::vector<std::string> values;
  std::vector<uint32_t> starts, limits;  // bytes of the text that was given

  void add(std::string_view token, size_t start, size_t limit) {
    values.emplace_back(token);
    starts.push_back(static_cast<uint32_t>(start));
    limits.push_back(static_cast<uint32_t>(limit));
  }
};

using Tokenizer = std::function<void(const std::string& text, Tokens* out)>;
using TokensTokenizer = std::function<void(const std::vector<std::string>& texts, Tokens* out)>;

// Of one value, a single string (TypeError, ValueError for anything else). Where a text has no
// tokens, the result is one empty token, so that no tensor is empty; as published.
std::shared_ptr<Transform> tokenizer(Tokenizer f, bool with_offsets);
// Of one value, a string or a list of strings.
std::shared_ptr<Transform> tokenizer_of_tokens(TokensTokenizer f, bool with_offsets);
// A function of each string of an array.
std::shared_ptr<Transform> each_string(std::function<std::string(const std::string&)> f);

}  // namespace mycel::data
