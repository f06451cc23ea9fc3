// Regular expressions of ICU on UTF-8 texts. A pattern is compiled once; each match has its own
// matcher, so that many threads use one pattern.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <unicode/regex.h>

namespace mycel::data {

class Regex {
 public:
  // ValueError: naming what is wrong with the pattern, and where.
  explicit Regex(const std::string& pattern);
  std::unique_ptr<icu::RegexMatcher> matcher(const icu::UnicodeString& text) const;
  std::string replaced(std::string_view text, const std::string& by, bool all) const;
  bool found(std::string_view text) const;  // somewhere
  bool matches_whole(const icu::UnicodeString& text) const;

 private:
  std::string pattern_;
  std::shared_ptr<const icu::RegexPattern> compiled_;
};

// Where pieces of a UTF-16 text lie in its UTF-8 form: bytes in front of unit i, for all i.
std::vector<uint32_t> utf8_offsets(const icu::UnicodeString& text);

}  // namespace mycel::data
