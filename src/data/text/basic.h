// BERT's first step: text to words, punctuation and Chinese characters.
#pragma once

#include <string>

#include "data/text/tokens.h"

namespace mycel::data {

struct BasicOptions {
  bool lower_case = false, keep_whitespace = false, preserve_unused_token = true;
  std::string form = "NONE";  // of the choice NormalizeForm; lower_case takes its place
};
BasicOptions basic_options(const Options& o);
// Appends the words; offsets count bytes of the text as folded or normalized.
void basic_tokens(const std::string& text, const BasicOptions& options, Tokens* out);

}  // namespace mycel::data
