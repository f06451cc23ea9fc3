// UTF-8 in and out of ICU, with checks: a text that is not UTF-8 is an error that names the byte,
// never a replacement character.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include "base/error.h"

namespace mycel::data {

[[noreturn]] void not_utf8(std::string_view text, int64_t at);  // ValueError
// ValueError when `text` is not UTF-8, or beyond 2 GiB.
void check_utf8(std::string_view text);
bool is_ascii(std::string_view text);
icu::UnicodeString to_utf16(std::string_view text);  // ValueError
std::string to_utf8(const icu::UnicodeString& text);

// f(code point, first byte, byte behind it) for each code point; ValueError.
template <typename F>
void each_code_point(std::string_view text, F&& f) {
  const auto* s = reinterpret_cast<const uint8_t*>(text.data());
  const auto n = static_cast<int64_t>(text.size());
  for (int64_t i = 0; i < n;) {
    const int64_t start = i;
    int32_t c = 0;
    U8_NEXT(s, i, n, c);
    if (c < 0) not_utf8(text, start);
    f(c, static_cast<size_t>(start), static_cast<size_t>(i));
  }
}

// Normal forms of UAX 15 by the name of the choice (NONE, NFC, NFKC, NFD, NFKD); ValueError when
// `text` is not UTF-8. ASCII text comes back as it is.
std::string normalized(std::string_view text, std::string_view form);
// NFKC_Casefold: case differences go, and so do those that NFKC removes.
std::string case_folded(std::string_view text);

}  // namespace mycel::data
