#include "data/text/pretokenize.h"

#include <array>

#include <unicode/uchar.h>

#include "data/text/regex.h"
#include "data/text/unicode.h"

namespace mycel::data {
namespace {

enum Kind : uint8_t { kLetter, kDigit, kSpace, kOther };

Kind kind_of(int32_t c) {
  const uint32_t mask = U_GET_GC_MASK(c);
  if (mask & U_GC_L_MASK) return kLetter;
  if (mask & U_GC_N_MASK) return kDigit;
  return u_isUWhiteSpace(c) ? kSpace : kOther;
}

constexpr std::array<Kind, 128> ascii_kinds() {
  std::array<Kind, 128> kinds{};
  for (int c = 0; c < 128; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    kinds[static_cast<size_t>(c)] = letter                 ? kLetter
                                    : c >= '0' && c <= '9' ? kDigit
                                    : space                ? kSpace
                                                           : kOther;
  }
  return kinds;
}
constexpr std::array<Kind, 128> kAscii = ascii_kinds();

// A code point of checked UTF-8: its kind, and the byte behind it.
struct Next {
  Kind kind;
  uint32_t size;
};
inline Next next(std::string_view text, size_t at) {
  const auto c = static_cast<uint8_t>(text[at]);
  if (c < 128) return {kAscii[c], 1};
  const auto* s = reinterpret_cast<const uint8_t*>(text.data());
  auto i = static_cast<int64_t>(at);
  int32_t code = 0;
  U8_NEXT_UNSAFE(s, i, code);
  return {kind_of(code), static_cast<uint32_t>(static_cast<size_t>(i) - at)};
}

// Behind the run of characters of one kind, `most` of them at most.
inline size_t run_end(std::string_view text, size_t at, Kind kind, int most = INT32_MAX) {
  while (at < text.size() && most-- > 0) {
    const Next n = next(text, at);
    if (n.kind != kind) break;
    at += n.size;
  }
  return at;
}

// Behind 's 't 're 've 'm 'll 'd, or `at`.
inline size_t contraction(std::string_view text, size_t at, bool any_case) {
  if (text[at] != '\'' || at + 1 >= text.size()) return at;
  const auto lower = [&](size_t i) -> char {
    if (i >= text.size()) return 0;
    const char c = text[i];
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  };
  const char a = lower(at + 1), b = lower(at + 2);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + 2;
  if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return at + 3;
  // The letter that folds to s: U+017F.
  if (any_case && text.substr(at + 1, 2) == "\xC5\xBF") return at + 3;
  return at;
}

// \s+(?!\S) | \s+ : all of a run of white space but the last character of it when a word follows,
// unless that is all there is.
inline size_t space_end(std::string_view text, size_t at) {
  size_t end = at, last = at;
  while (end < text.size()) {
    const Next n = next(text, end);
    if (n.kind != kSpace) break;
    last = end;
    end += n.size;
  }
  return end < text.size() && last > at ? last : end;
}

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
struct Gpt2 {
  size_t end_of_word(std::string_view text, size_t at) const {
    if (const size_t end = contraction(text, at, false); end > at) return end;
    const size_t from = text[at] == ' ' && at + 1 < text.size() ? at + 1 : at;
    const Next n = next(text, from);
    if (n.kind != kSpace) return run_end(text, from + n.size, n.kind);
    return space_end(text, at);
  }
};

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|
// \s*[\r\n]+|\s+(?!\S)|\s+, with `digits` in the place of 3.
struct Gpt4 {
  int digits = 3;
  size_t end_of_word(std::string_view text, size_t at) const {
    if (const size_t end = contraction(text, at, true); end > at) return end;
    const Next first = next(text, at);
    if (first.kind == kLetter) return run_end(text, at, kLetter);
    if (first.kind == kDigit) return run_end(text, at, kDigit, digits);
    const size_t second = at + first.size;
    if (text[at] != '\r' && text[at] != '\n' && second < text.size() &&
        next(text, second).kind == kLetter)
      return run_end(text, second, kLetter);
    const size_t from = text[at] == ' ' && second < text.size() ? second : at;
    if (next(text, from).kind == kOther) {
      size_t end = run_end(text, from, kOther);
      while (end < text.size() && (text[end] == '\r' || text[end] == '\n')) ++end;
      return end;
    }
    // White space: up to the last line end in it, or as in GPT-2.
    const size_t end = run_end(text, at, kSpace);
    const size_t line = text.substr(at, end - at).find_last_of("\r\n");
    return line != text.npos ? at + line + 1 : space_end(text, at);
  }
};

struct Whole {
  size_t end_of_word(std::string_view text, size_t) const { return text.size(); }
};

template <typename Words>
class OneByOne final : public Pretokenizer {
 public:
  explicit OneByOne(Words words = {}) : words_(words) {}
  void cut(std::string_view text, std::vector<uint32_t>* ends) const override {
    for (size_t at = 0; at < text.size();) {
      at = words_.end_of_word(text, at);
      ends->push_back(static_cast<uint32_t>(at));
    }
  }

 private:
  Words words_;
};

class ByRegex final : public Pretokenizer {
 public:
  explicit ByRegex(const std::string& pattern) : regex_(pattern) {}
  void cut(std::string_view text, std::vector<uint32_t>* ends) const override {
    const icu::UnicodeString units = to_utf16(text);
    const std::vector<uint32_t> bytes = utf8_offsets(units);
    uint32_t last = 0;
    const auto add = [&](int32_t unit) {
      const uint32_t end = bytes[static_cast<size_t>(unit)];
      if (end > last) ends->push_back(end);
      last = end;
    };
    auto matcher = regex_.matcher(units);
    UErrorCode status = U_ZERO_ERROR;
    while (matcher->find(status) && U_SUCCESS(status)) {
      add(matcher->start(status));
      add(matcher->end(status));
    }
    add(units.length());
  }

 private:
  Regex regex_;
};

constexpr const char* kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* kGpt4 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kOneDigit =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace

std::shared_ptr<const Pretokenizer> gpt2_words() { return std::make_shared<OneByOne<Gpt2>>(); }
std::shared_ptr<const Pretokenizer> known_words(const std::string& pattern) {
  if (pattern == kGpt2) return gpt2_words();
  if (pattern == kGpt4) return std::make_shared<OneByOne<Gpt4>>(Gpt4{3});
  if (pattern == kOneDigit) return std::make_shared<OneByOne<Gpt4>>(Gpt4{1});
  return nullptr;
}
std::shared_ptr<const Pretokenizer> regex_words(const std::string& pattern) {
  return std::make_shared<ByRegex>(pattern);
}
std::shared_ptr<const Pretokenizer> whole_text() { return std::make_shared<OneByOne<Whole>>(); }

}  // namespace mycel::data
