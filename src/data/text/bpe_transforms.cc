// Byte pairs as transforms: text to ids or tokens, and ids to text.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "data/cast.h"
#include "data/text/bpe.h"
#include "data/text/text.h"

namespace mycel::data {
namespace {

std::string whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    mycel::fail(ErrorKind::kOs, "cannot read '{}'", path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// One string to ids or tokens.
class ByteLevelBpe final : public Transform {
 public:
  explicit ByteLevelBpe(const Options& o)
      : ids_(o.choice("out_type") == "INT"),
        special_(o.boolean("add_special_tokens")),
        offsets_(o.boolean("with_offsets")) {
    const std::string text = whole_file(o.string("path"));
    model_ = o.none("merges_path")
                 ? BytePairs::from_json(text)
                 : BytePairs::from_vocab(text, whole_file(o.string("merges_path")),
                                         o.boolean("add_prefix_space"));
  }
  const BytePairs& model() const { return *model_; }

  void run(Row* values, Philox&) const override {
    if (values->size() != 1) value_error("cuts one column into pieces, got {}", values->size());
    BpePieces pieces;
    model_->encode((*values)[0].string(), special_, offsets_, &pieces);
    const auto n = static_cast<int64_t>(pieces.ids.size());
    if (ids_) {
      (*values)[0] = Tensor::from(pieces.ids, {n});
    } else {
      std::vector<std::string> tokens;
      tokens.reserve(pieces.ids.size());
      for (const int32_t id : pieces.ids) tokens.emplace_back(model_->token(id));
      (*values)[0] = Value::list(std::move(tokens));
    }
    if (!offsets_) return;
    values->emplace_back(Tensor::from(pieces.starts, {n}));
    values->emplace_back(Tensor::from(pieces.limits, {n}));
  }

 private:
  std::shared_ptr<const BytePairs> model_;
  bool ids_, special_, offsets_;
};

const TransformDef kByteLevelBPETokenizer{
    .name = "text.ByteLevelBPETokenizer",
    .doc =
        "Byte-level byte pair encoding, as in GPT-2 and its successors. `path` is a tokenizer.json "
        "or, with merges_path, a vocab.json (add_prefix_space is for these: the former says it "
        "itself). One string to int32 ids (n), or to tokens (out_type STRING); with_offsets adds "
        "the first byte and the byte behind each, uint32 (n), in the normalized text. "
        "add_special_tokens adds those that the file puts around a text. ValueError: not one "
        "string, not UTF-8, a file that is no such tokenizer. NotImplementedError: a part of the "
        "file that is not supported, by name. OSError: no such file. Source: R. Sennrich et al., "
        "2016, arXiv:1508.07909; A. Radford et al., 2019.",
    .args = {"path: string", "merges_path: string? = None",
             "out_type: SPieceTokenizerOutType = INT", "add_special_tokens: bool = True",
             "add_prefix_space: bool = False", "with_offsets: bool = False"},
    .make = [](const Options& o) -> std::shared_ptr<Transform> {
      return std::make_shared<ByteLevelBpe>(o);
    },
};

const TransformDef kByteLevelBPEDecoder{
    .name = "text.ByteLevelBPEDecoder",
    .doc =
        "The text of ids of a ByteLevelBPETokenizer: ints (n) to one string. skip_special_tokens "
        "leaves out tokens that the file calls special. ValueError: an id that is not there, not "
        "1 dim.",
    .args = {"tokenizer: transform", "skip_special_tokens: bool = True"},
    .make =
        [](const Options& o) {
          auto t = std::dynamic_pointer_cast<const ByteLevelBpe>(o.transform("tokenizer"));
          if (!t)
            type_error("ByteLevelBPEDecoder: 'tokenizer' must be a ByteLevelBPETokenizer, got {}",
                       o.transform("tokenizer")->description());
          return each_value([t, skip = o.boolean("skip_special_tokens")](const Value& v) -> Value {
            if (v.shape().rank() != 1) value_error("expected 1 dim, got {}", v.describe());
            const Tensor wide = cast(v.tensor(), DType::kInt64);
            std::vector<int32_t> ids;
            for (const int64_t id : wide.data<int64_t>()) {
              if (id < 0 || id > INT32_MAX) value_error("there is no token {}", id);
              ids.push_back(static_cast<int32_t>(id));
            }
            return t->model().decode(ids.data(), ids.size(), skip);
          });
        },
};

}  // namespace

TransformDefs bpe_transforms() { return {&kByteLevelBPETokenizer, &kByteLevelBPEDecoder}; }

}  // namespace mycel::data
