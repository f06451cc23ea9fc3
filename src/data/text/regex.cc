#include "data/text/regex.h"

#include "data/text/unicode.h"

namespace mycel::data {

Regex::Regex(const std::string& pattern) : pattern_(pattern) {
  UParseError where;
  UErrorCode status = U_ZERO_ERROR;
  compiled_.reset(icu::RegexPattern::compile(to_utf16(pattern), 0, where, status));
  if (U_FAILURE(status)) {
    value_error("'{}' is not a regular expression of ICU: {} at character {}", pattern,
                u_errorName(status), where.offset);
  }
}

std::unique_ptr<icu::RegexMatcher> Regex::matcher(const icu::UnicodeString& text) const {
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<icu::RegexMatcher> m(compiled_->matcher(text, status));
  MYCEL_CHECK(U_SUCCESS(status), "ICU cannot match '{}': {}", pattern_, u_errorName(status));
  return m;
}

std::string Regex::replaced(std::string_view text, const std::string& by, bool all) const {
  const icu::UnicodeString in = to_utf16(text), replacement = to_utf16(by);
  UErrorCode status = U_ZERO_ERROR;
  auto m = matcher(in);
  const icu::UnicodeString out =
      all ? m->replaceAll(replacement, status) : m->replaceFirst(replacement, status);
  if (U_FAILURE(status))
    value_error("cannot replace '{}' by '{}': {}", pattern_, by, u_errorName(status));
  return to_utf8(out);
}

bool Regex::found(std::string_view text) const {
  const icu::UnicodeString in = to_utf16(text);
  return matcher(in)->find();
}

bool Regex::matches_whole(const icu::UnicodeString& text) const {
  UErrorCode status = U_ZERO_ERROR;
  return matcher(text)->matches(status) && U_SUCCESS(status);
}

std::vector<uint32_t> utf8_offsets(const icu::UnicodeString& text) {
  std::vector<uint32_t> out(static_cast<size_t>(text.length()) + 1);
  uint32_t bytes = 0;
  for (int32_t i = 0; i < text.length();) {
    const UChar32 c = text.char32At(i);
    const int32_t units = U16_LENGTH(c);
    for (int32_t k = 0; k < units; ++k) out[static_cast<size_t>(i + k)] = bytes;
    bytes += static_cast<uint32_t>(U8_LENGTH(c));
    i += units;
  }
  out.back() = bytes;
  return out;
}

}  // namespace mycel::data
