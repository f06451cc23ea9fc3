// WordPiece (Y. Wu et al., Google's Neural Machine Translation System, 2016; J. Devlin et al.,
// BERT, 2018): a word is cut into the longest pieces of a vocabulary, from the left.
#include "data/text/basic.h"
#include "data/text/text.h"
#include "data/text/unicode.h"
#include "data/text/vocabulary.h"

namespace mycel::data {
namespace {

struct Pieces {
  std::shared_ptr<const Vocabulary> vocab;
  std::string suffix, unknown;
  size_t longest = 0;  // bytes of a word that is cut

  explicit Pieces(const Options& o)
      : vocab(vocabulary(o, "vocab")),
        suffix(o.string("suffix_indicator")),
        unknown(o.string("unknown_token")) {
    const int64_t most = o.integer("max_bytes_per_token");
    if (most < 0) o.fail("max_bytes_per_token", "must not be negative, got {}", most);
    longest = static_cast<size_t>(most);
  }

  // The pieces of a word that begins at byte `base`.
  void cut(std::string_view word, size_t base, Tokens* out) const {
    check_utf8(word);
    const size_t before = out->values.size();
    bool known = word.size() <= longest;
    std::string piece;
    for (size_t from = 0; known && from < word.size();) {
      piece.assign(from ? suffix : "");
      const size_t mark = piece.size();
      size_t to = std::min(word.size(), from + vocab->words().longest());
      while (to > from) {
        const bool whole = to == word.size() || (word[to] & 0xC0) != 0x80;  // no character is cut
        if (whole) {
          piece.resize(mark);
          piece += word.substr(from, to - from);
          if (vocab->words().find(piece) != Words::kNone) break;
        }
        --to;
      }
      known = to > from;
      if (known) out->add(piece, base + from, base + to);
      from = to;
    }
    if (known) return;
    out->values.resize(before);
    out->starts.resize(before);
    out->limits.resize(before);
    out->add(unknown.empty() ? word : unknown, base, base + word.size());
  }
};

const TransformDef kWordpieceTokenizer{
    .name = "text.WordpieceTokenizer",
    .doc =
        "Cuts words, one string or a list, into the longest pieces that the vocabulary has, from "
        "the left; pieces behind the first carry suffix_indicator in front. A word that cannot be "
        "cut, or has more than max_bytes_per_token bytes, becomes unknown_token, or stays as it is "
        "when that is empty. Result: strings (n); with_offsets adds the first byte and the byte "
        "behind each within its word, uint32 (n). ValueError: not UTF-8, a negative "
        "max_bytes_per_token. Source: Y. Wu et al., 2016, arXiv:1609.08144.",
    .args = {"vocab: transform", "suffix_indicator: string = '##'",
             "max_bytes_per_token: int = 100", "unknown_token: string = '[UNK]'",
             "with_offsets: bool = False"},
    .make =
        [](const Options& o) {
          return tokenizer_of_tokens(
              [pieces = Pieces(o)](const std::vector<std::string>& words, Tokens* out) {
                for (const std::string& w : words) {
                  if (!w.empty()) pieces.cut(w, 0, out);
                }
              },
              o.boolean("with_offsets"));
        },
};

const TransformDef kBertTokenizer{
    .name = "text.BertTokenizer",
    .doc =
        "BasicTokenizer and then WordpieceTokenizer of each word. Result: strings (n); "
        "with_offsets adds the first byte and the byte behind each, uint32 (n), in the text as "
        "folded or normalized. ValueError: not one string, not UTF-8, a negative "
        "max_bytes_per_token. Source: J. Devlin et al., 2018, arXiv:1810.04805.",
    .args = {"vocab: transform", "suffix_indicator: string = '##'",
             "max_bytes_per_token: int = 100", "unknown_token: string = '[UNK]'",
             "lower_case: bool = False", "keep_whitespace: bool = False",
             "normalization_form: NormalizeForm = NONE", "preserve_unused_token: bool = True",
             "with_offsets: bool = False"},
    .make =
        [](const Options& o) {
          return tokenizer(
              [pieces = Pieces(o), options = basic_options(o)](const std::string& text,
                                                               Tokens* out) {
                Tokens words;
                basic_tokens(text, options, &words);
                for (size_t i = 0; i < words.values.size(); ++i)
                  pieces.cut(words.values[i], words.starts[i], out);
              },
              o.boolean("with_offsets"));
        },
};

}  // namespace

TransformDefs wordpiece_transforms() { return {&kWordpieceTokenizer, &kBertTokenizer}; }

}  // namespace mycel::data
