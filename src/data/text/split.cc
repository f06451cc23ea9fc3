// Tokenizers that need no vocabulary: at white space, at every character, where the script changes,
// at matches of a regular expression.
#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include "data/text/regex.h"
#include "data/text/text.h"
#include "data/text/tokens.h"
#include "data/text/unicode.h"

namespace mycel::data {
namespace {

const TransformDef kWhitespaceTokenizer{
    .name = "text.WhitespaceTokenizer",
    .doc =
        "Cuts a string at white space (as ICU's u_isUWhiteSpace has it). Result: strings (n); "
        "with_offsets adds the first byte and the byte behind each, uint32 (n). A text without "
        "words gives one empty word. ValueError: not one string, not UTF-8.",
    .args = {"with_offsets: bool = False"},
    .make =
        [](const Options& o) {
          return tokenizer(
              [](const std::string& text, Tokens* out) {
                size_t start = 0;  // of the word
                const auto add = [&](size_t end) {
                  if (end > start) out->add({text.data() + start, end - start}, start, end);
                };
                each_code_point(text, [&](int32_t c, size_t from, size_t to) {
                  if (!u_isUWhiteSpace(c)) return;
                  add(from);
                  start = to;
                });
                add(text.size());
              },
              o.boolean("with_offsets"));
        },
};

const TransformDef kUnicodeCharTokenizer{
    .name = "text.UnicodeCharTokenizer",
    .doc =
        "Cuts a string into its Unicode code points. Result: strings (n); with_offsets adds the "
        "first byte and the byte behind each, uint32 (n). ValueError: not one string, not UTF-8.",
    .args = {"with_offsets: bool = False"},
    .make =
        [](const Options& o) {
          return tokenizer(
              [](const std::string& text, Tokens* out) {
                each_code_point(text, [&](int32_t, size_t from, size_t to) {
                  out->add({text.data() + from, to - from}, from, to);
                });
              },
              o.boolean("with_offsets"));
        },
};

// Runs of one script; white space, which every script shares, is a run of its own.
void by_script(const std::string& text, bool keep_whitespace, Tokens* out) {
  size_t start = 0;
  int32_t script = USCRIPT_INVALID_CODE;
  bool space = false;
  const auto end_run = [&](size_t end) {
    if (end > start && (!space || keep_whitespace))
      out->add({text.data() + start, end - start}, start, end);
    start = end;
  };
  each_code_point(text, [&](int32_t c, size_t from, size_t) {
    UErrorCode status = U_ZERO_ERROR;
    const int32_t s = uscript_getScript(c, &status);
    const bool is_space = u_isUWhiteSpace(c);
    if (from > 0 && (s != script || is_space != space)) end_run(from);
    script = s;
    space = is_space;
  });
  end_run(text.size());
}

const TransformDef kUnicodeScriptTokenizer{
    .name = "text.UnicodeScriptTokenizer",
    .doc =
        "Cuts a string where the Unicode script of its characters changes (UAX 24); marks of no "
        "script and digits are runs of their own. White space is dropped, or kept as words. "
        "Result: strings (n); with_offsets adds the first byte and the byte behind each, uint32 "
        "(n). ValueError: not one string, not UTF-8.",
    .args = {"keep_whitespace: bool = False", "with_offsets: bool = False"},
    .make =
        [](const Options& o) {
          const bool keep = o.boolean("keep_whitespace");
          return tokenizer(
              [keep](const std::string& text, Tokens* out) { by_script(text, keep, out); },
              o.boolean("with_offsets"));
        },
};

void by_regex(const std::string& text, const Regex& delimiter, const Regex* kept, Tokens* out) {
  const icu::UnicodeString units = to_utf16(text);
  const std::vector<uint32_t> bytes = utf8_offsets(units);
  const auto add = [&](int32_t from, int32_t to) {
    const uint32_t b = bytes[static_cast<size_t>(from)], e = bytes[static_cast<size_t>(to)];
    if (e > b) out->add({text.data() + b, e - b}, b, e);
  };
  auto matcher = delimiter.matcher(units);
  UErrorCode status = U_ZERO_ERROR;
  int32_t at = 0;
  while (matcher->find(status) && U_SUCCESS(status)) {
    const int32_t from = matcher->start(status), to = matcher->end(status);
    add(at, from);
    if (kept && to > from && kept->matches_whole(units.tempSubStringBetween(from, to)))
      add(from, to);
    at = to;
  }
  add(at, units.length());
}

const TransformDef kRegexTokenizer{
    .name = "text.RegexTokenizer",
    .doc =
        "Cuts a string at the matches of delim_pattern, a regular expression of ICU. A match that "
        "keep_delim_pattern matches as a whole is kept as a word. Result: strings (n); "
        "with_offsets adds the first byte and the byte behind each, uint32 (n). ValueError: a "
        "pattern that cannot be read; not one string, not UTF-8.",
    .args = {"delim_pattern: string", "keep_delim_pattern: string = ''",
             "with_offsets: bool = False"},
    .make =
        [](const Options& o) {
          const Regex delimiter(o.string("delim_pattern"));
          std::shared_ptr<const Regex> kept;
          if (!o.string("keep_delim_pattern").empty())
            kept = std::make_shared<const Regex>(o.string("keep_delim_pattern"));
          return tokenizer(
              [delimiter, kept](const std::string& text, Tokens* out) {
                by_regex(text, delimiter, kept.get(), out);
              },
              o.boolean("with_offsets"));
        },
};

}  // namespace

TransformDefs split_transforms() {
  return {&kWhitespaceTokenizer, &kUnicodeCharTokenizer, &kUnicodeScriptTokenizer,
          &kRegexTokenizer};
}

}  // namespace mycel::data
