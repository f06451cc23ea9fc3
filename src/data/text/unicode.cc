#include "data/text/unicode.h"

#include <algorithm>

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

namespace mycel::data {
namespace {

const icu::Normalizer2* normalizer(std::string_view form) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* n = nullptr;
  if (form == "NFC") n = icu::Normalizer2::getNFCInstance(status);
  if (form == "NFD") n = icu::Normalizer2::getNFDInstance(status);
  if (form == "NFKC") n = icu::Normalizer2::getNFKCInstance(status);
  if (form == "NFKD") n = icu::Normalizer2::getNFKDInstance(status);
  if (form == "NFKC_Casefold") n = icu::Normalizer2::getNFKCCasefoldInstance(status);
  MYCEL_CHECK(n && U_SUCCESS(status), "ICU has no normal form '{}': {}", form, u_errorName(status));
  return n;
}

std::string apply(const icu::Normalizer2& n, std::string_view text) {
  std::string out;
  icu::StringByteSink<std::string> sink(&out, static_cast<int32_t>(text.size()));
  UErrorCode status = U_ZERO_ERROR;
  n.normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<int32_t>(text.size())), sink,
                  nullptr, status);
  MYCEL_CHECK(U_SUCCESS(status), "ICU cannot normalize: {}", u_errorName(status));
  return out;
}

}  // namespace

void not_utf8(std::string_view text, int64_t at) {
  value_error("the text of {} bytes is not UTF-8: byte {} is 0x{:02x}", text.size(), at,
              static_cast<uint8_t>(text[static_cast<size_t>(at)]));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return !(c & 0x80); });
}

void check_utf8(std::string_view text) {
  // ICU and offsets count in 32 bits.
  if (text.size() > INT32_MAX)
    value_error("a text of {} bytes is too long: 2147483647 are the most", text.size());
  if (is_ascii(text)) return;
  each_code_point(text, [](int32_t, size_t, size_t) {});
}

icu::UnicodeString to_utf16(std::string_view text) {
  check_utf8(text);
  return icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
}

std::string to_utf8(const icu::UnicodeString& text) {
  std::string out;
  return text.toUTF8String(out);
}

std::string normalized(std::string_view text, std::string_view form) {
  check_utf8(text);
  if (form == "NONE" || is_ascii(text)) return std::string(text);
  return apply(*normalizer(form), text);
}

std::string case_folded(std::string_view text) {
  check_utf8(text);
  if (is_ascii(text)) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return out;
  }
  return apply(*normalizer("NFKC_Casefold"), text);
}

}  // namespace mycel::data
