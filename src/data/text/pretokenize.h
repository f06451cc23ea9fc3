// Cuts text into the words that byte pairs are joined in: by the patterns of GPT-2 and of its
// successors, which are written out, or by any regular expression of ICU.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mycel::data {

class Pretokenizer {
 public:
  virtual ~Pretokenizer() = default;
  // Appends the ends of the words of a text, which is UTF-8; the last one is its size.
  virtual void cut(std::string_view text, std::vector<uint32_t>* ends) const = 0;
};

std::shared_ptr<const Pretokenizer> gpt2_words();
// The one for a pattern of the field, or null: the pattern is another one.
std::shared_ptr<const Pretokenizer> known_words(const std::string& pattern);
// Any pattern: matches and what lies between them are words.
std::shared_ptr<const Pretokenizer> regex_words(const std::string& pattern);
// The text as one word.
std::shared_ptr<const Pretokenizer> whole_text();

}  // namespace mycel::data
