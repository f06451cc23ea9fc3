// Texts in other forms: normal forms, case folding, replacements.
#include "data/text/regex.h"
#include "data/text/text.h"
#include "data/text/tokens.h"
#include "data/text/unicode.h"

namespace mycel::data {
namespace {

const TransformDef kCaseFold{
    .name = "text.CaseFold",
    .doc =
        "Strings without differences of case: NFKC_Casefold of Unicode, which goes further than "
        "lower case ('Straße' becomes 'strasse'). Any shape. ValueError: not UTF-8.",
    .args = {},
    .make =
        [](const Options&) {
          return each_string([](const std::string& s) { return case_folded(s); });
        },
};

const TransformDef kNormalizeUTF8{
    .name = "text.NormalizeUTF8",
    .doc =
        "Strings in a normal form of Unicode (UAX 15); NONE changes nothing. Any shape. "
        "ValueError: not UTF-8.",
    .args = {"normalize_form: NormalizeForm = NFKC"},
    .make =
        [](const Options& o) {
          return each_string([form = o.choice("normalize_form")](const std::string& s) {
            return normalized(s, form);
          });
        },
};

const TransformDef kRegexReplace{
    .name = "text.RegexReplace",
    .doc =
        "Puts `replace` in the place of what the regular expression of ICU matches, everywhere or "
        "(replace_all False) once; $1 stands for the first group. Strings of any shape, each by "
        "itself. ValueError: a pattern that cannot be read, a group that is not there, not UTF-8.",
    .args = {"pattern: string", "replace: string", "replace_all: bool = True"},
    .make =
        [](const Options& o) {
          const Regex pattern(o.string("pattern"));
          return each_string([pattern, by = o.string("replace"), all = o.boolean("replace_all")](
                                 const std::string& s) { return pattern.replaced(s, by, all); });
        },
};

// Redirections have no text; tags go (greedily, within a line), entities become spaces, digits
// become words, what is left but a to z becomes spaces.
std::string plain(const std::string& text) {
  static const char* const kDigits[] = {"zero", "one", "two",   "three", "four",
                                        "five", "six", "seven", "eight", "nine"};
  static const Regex kTags("<.*>"), kEntities("&[^;]*;");  // compiled once, never changed
  static const Regex kRedirect("(?i)#redirect");
  check_utf8(text);
  if (text.find('#') != text.npos && kRedirect.found(text)) return "";
  std::string in = text;
  if (in.find('<') != in.npos) in = kTags.replaced(in, "", true);
  if (in.find('&') != in.npos) in = kEntities.replaced(in, " ", true);
  std::string out;
  const auto space = [&] {
    if (!out.empty() && out.back() != ' ') out += ' ';
  };
  for (const char c : in) {
    if (c >= '0' && c <= '9') {
      space();
      out += kDigits[c - '0'];
      out += ' ';
    } else if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c + 32);
    } else if (c >= 'a' && c <= 'z') {
      out += c;
    } else {
      space();
    }
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

const TransformDef kFilterWikipediaXML{
    .name = "text.FilterWikipediaXML",
    .doc =
        "Text of a dump of Wikipedia as lower-case words of a to z with one space between them: "
        "what stands between the first < and the last > of a line goes, entities become spaces, "
        "digits become words, everything else becomes a space; a page with #redirect has no text. "
        "Strings of any shape. ValueError: "
        "not UTF-8.",
    .args = {},
    .make = [](const Options&) { return each_string(plain); },
};

}  // namespace

TransformDefs form_transforms() {
  return {&kCaseFold, &kNormalizeUTF8, &kRegexReplace, &kFilterWikipediaXML};
}

}  // namespace mycel::data
