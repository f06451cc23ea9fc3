#include "data/text/basic.h"

#include <unicode/uchar.h>

#include "data/text/text.h"
#include "data/text/unicode.h"

namespace mycel::data {
namespace {

bool is_chinese(int32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_punctuation(int32_t c) {
  if (c < 128) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  }
  return (U_GET_GC_MASK(c) & U_GC_P_MASK) != 0;
}

bool is_space(int32_t c) {
  if (c < 128) return c == ' ' || (c >= '\t' && c <= '\r');
  return (U_GET_GC_MASK(c) & U_GC_Z_MASK) != 0;
}

// Bytes of the special token that begins at `at`; 0 when none does: [CLS] [SEP] [UNK] [PAD] [MASK]
// [unused12].
size_t special_at(std::string_view text, size_t at) {
  if (text[at] != '[') return 0;
  const std::string_view rest = text.substr(at);
  for (const char* s : {"[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]"}) {
    if (rest.starts_with(s)) return std::string_view(s).size();
  }
  constexpr std::string_view kUnused = "[unused";
  if (!rest.starts_with(kUnused)) return 0;
  size_t i = kUnused.size();
  while (i < rest.size() && rest[i] >= '0' && rest[i] <= '9') ++i;
  return i > kUnused.size() && i < rest.size() && rest[i] == ']' ? i + 1 : 0;
}

// Lower case without accents.
std::string lower(std::string_view text) {
  if (is_ascii(text)) return case_folded(text);
  const std::string apart = normalized(case_folded(text), "NFD");
  std::string out;
  each_code_point(apart, [&](int32_t c, size_t from, size_t to) {
    if (u_charType(c) != U_NON_SPACING_MARK) out.append(apart, from, to - from);
  });
  return out;
}

// Controls and format characters become spaces.
std::string without_controls(std::string text) {
  if (is_ascii(text)) {
    for (char& c : text) c = static_cast<uint8_t>(c) < 32 || c == 127 ? ' ' : c;
    return text;
  }
  std::string out;
  each_code_point(text, [&](int32_t c, size_t from, size_t to) {
    if (U_GET_GC_MASK(c) & (U_GC_CC_MASK | U_GC_CF_MASK)) {
      out += ' ';
    } else {
      out.append(text, from, to - from);
    }
  });
  return out;
}

std::string lower_but_special(const std::string& text, bool preserve) {
  std::string out;
  size_t done = 0;
  for (size_t i = text.find('['); preserve && i != text.npos; i = text.find('[', i)) {
    const size_t n = special_at(text, i);
    if (!n) {
      ++i;
      continue;
    }
    out += lower(std::string_view(text).substr(done, i - done));
    out.append(text, i, n);
    done = i += n;
  }
  return out + lower(std::string_view(text).substr(done));
}

}  // namespace

BasicOptions basic_options(const Options& o) {
  return {.lower_case = o.boolean("lower_case"),
          .keep_whitespace = o.boolean("keep_whitespace"),
          .preserve_unused_token = o.boolean("preserve_unused_token"),
          .form = o.choice("normalization_form")};
}

void basic_tokens(const std::string& given, const BasicOptions& options, Tokens* out) {
  const std::string text =
      without_controls(options.lower_case ? lower_but_special(given, options.preserve_unused_token)
                                          : normalized(given, options.form));
  size_t start = 0;          // of the word or run of white space
  size_t special_until = 0;  // behind the special token that is being passed over
  bool in_space = false;
  const auto end_run = [&](size_t end) {
    if (end > start && (!in_space || options.keep_whitespace))
      out->add({text.data() + start, end - start}, start, end);
    start = end;
  };
  each_code_point(text, [&](int32_t c, size_t from, size_t to) {
    if (from < special_until) return;
    const bool space = is_space(c);
    if (space != in_space) end_run(from);
    in_space = space;
    size_t n = c == '[' && options.preserve_unused_token ? special_at(text, from) : 0;
    if (n) special_until = from + n;
    if (!n && (is_punctuation(c) || is_chinese(c))) n = to - from;
    if (!n) return;
    end_run(from);
    end_run(from + n);
  });
  end_run(text.size());
}

namespace {

const TransformDef kBasicTokenizer{
    .name = "text.BasicTokenizer",
    .doc =
        "Cuts a string into words, marks of punctuation and Chinese characters (J. Devlin et al., "
        "BERT, 2018). lower_case folds case and drops accents; otherwise normalization_form is "
        "applied. Controls count as spaces. preserve_unused_token keeps [CLS], [SEP], [UNK], "
        "[PAD], [MASK] and [unusedN] whole. Result: strings (n); with_offsets adds the first byte "
        "and the byte behind each, uint32 (n), in the text as folded or normalized. ValueError: "
        "not one string, not UTF-8.",
    .args = {"lower_case: bool = False", "keep_whitespace: bool = False",
             "normalization_form: NormalizeForm = NONE", "preserve_unused_token: bool = True",
             "with_offsets: bool = False"},
    .make =
        [](const Options& o) {
          return tokenizer(
              [options = basic_options(o)](const std::string& text, Tokens* out) {
                basic_tokens(text, options, out);
              },
              o.boolean("with_offsets"));
        },
};

}  // namespace

TransformDefs basic_transforms() { return {&kBasicTokenizer}; }

}  // namespace mycel::data
