// SentencePiece (T. Kudo, J. Richardson, 2018, arXiv:1808.06226) through its own library.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include "base/error.h"
#include "data/text/text.h"
#include "data/text/unicode.h"

namespace mycel::data {
namespace {

// A model is a transform that turns a string into pieces; SentencePieceTokenizer shares it.
class Model final : public Transform {
 public:
  explicit Model(const std::string& proto) {
    const auto status = processor_.LoadFromSerializedProto(proto);
    if (!status.ok()) value_error("not a model of SentencePiece: {}", status.message());
  }
  void run(Row* values, Philox&) const override {
    for (Value& v : *values) v = pieces(v.strings());
  }
  Value pieces(const StringArray& in) const { return Value::list(encode<std::string>(in)); }
  Value ids(const StringArray& in) const {
    std::vector<int32_t> all;
    for (const int id : encode<int>(in)) all.push_back(id);
    return Tensor::from(all, {static_cast<int64_t>(all.size())});
  }
  std::string proto() const { return processor_.serialized_model_proto(); }

 private:
  template <typename T>
  std::vector<T> encode(const StringArray& in) const {
    if (in.shape.rank() > 1)
      value_error("expected one string or a list of strings, got {} dims", in.shape.rank());
    std::vector<T> all, some;
    for (const std::string& s : in.values) {
      check_utf8(s);
      const auto status = processor_.Encode(s, &some);
      if (!status.ok()) value_error("SentencePiece: {}", status.message());
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  sentencepiece::SentencePieceProcessor processor_;
};

std::string whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    mycel::fail(ErrorKind::kOs, "SentencePiece: cannot read '{}'", path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

class Sentences final : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::vector<std::string>* all) : all_(all) {}
  bool done() const override { return at_ >= all_->size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return (*all_)[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>* all_;
  size_t at_ = 0;
};

std::vector<std::string> sentences_of(const Options& o) {
  if (!o.none("sentences")) return o.strings("sentences");
  std::vector<std::string> out;
  for (const std::string& path : o.strings("files")) {
    std::istringstream text(whole_file(path));
    for (std::string line; std::getline(text, line);) out.push_back(line);
  }
  return out;
}

const TransformDef kTrain{
    .name = "text.sentencepiece_train",
    .doc =
        "A SentencePiece model trained on sentences, or on the lines of files. vocab_size pieces, "
        "character_coverage of the characters in [0.98, 1], further arguments of the trainer as "
        "'name', 'value', 'name', 'value' … ValueError: what the trainer refuses. OSError: a "
        "file that cannot be read.",
    .args = {"files: strings? = None", "sentences: strings? = None", "vocab_size: int = 8000",
             "character_coverage: number = 0.9995", "model_type: SentencePieceModel = UNIGRAM",
             "params: strings? = None"},
    .make = [](const Options& o) -> std::shared_ptr<Transform> {
      std::unordered_map<std::string, std::string> args;
      const std::vector<std::string> params = o.strings("params");
      for (size_t i = 0; i + 1 < params.size(); i += 2) args[params[i]] = params[i + 1];
      std::string type = o.choice("model_type");
      std::transform(type.begin(), type.end(), type.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      args["model_type"] = type;
      args["vocab_size"] = std::to_string(o.positive("vocab_size"));
      args["character_coverage"] = fmt::format("{}", o.within("character_coverage", 0.98, 1));
      args["minloglevel"] = "2";
      const std::vector<std::string> all = sentences_of(o);
      for (const std::string& s : all) check_utf8(s);
      if (all.empty()) value_error("SentencePiece: there are no sentences to learn from");
      Sentences iterator(&all);
      std::string proto;
      const auto status = sentencepiece::SentencePieceTrainer::Train(args, &iterator, &proto);
      if (!status.ok()) value_error("SentencePiece cannot be trained: {}", status.message());
      return std::make_shared<Model>(proto);
    },
};

const TransformDef kModel{
    .name = "text.sentencepiece_model",
    .doc = "A SentencePiece model from its file. ValueError: no model. OSError: no such file.",
    .args = {"file_path: string"},
    .make = [](const Options& o) -> std::shared_ptr<Transform> {
      return std::make_shared<Model>(whole_file(o.string("file_path")));
    },
};

std::shared_ptr<const Model> model_of(const Options& o, std::string_view name) {
  auto m = std::dynamic_pointer_cast<const Model>(o.transform(name));
  if (!m) type_error("{}: '{}' must be a SentencePieceVocab", o.owner(), name);
  return m;
}

const TransformDef kSave{
    .name = "text.sentencepiece_save",
    .doc = "Writes a SentencePiece model to a file; a row stays as it is. OSError: cannot write.",
    .args = {"vocab: transform", "file_path: string"},
    .make =
        [](const Options& o) {
          const auto model = model_of(o, "vocab");
          return of_row(
              [model, path = o.string("file_path")](Row*, Philox&) {
                std::ofstream file(path, std::ios::binary);
                const std::string proto = model->proto();
                file.write(proto.data(), static_cast<std::streamsize>(proto.size()));
                file.close();
                if (!file) mycel::fail(ErrorKind::kOs, "SentencePiece: cannot write '{}'", path);
              },
              false);
        },
};

const TransformDef kTokenizer{
    .name = "text.SentencePieceTokenizer",
    .doc =
        "Pieces of one string, or of a list of strings one after the other: strings (n), or their "
        "ids, int32 (n). `mode` is a SentencePieceVocab or the path of a model. ValueError: not "
        "UTF-8, no model. OSError: no such file.",
    .args = {"mode: any", "out_type: SPieceTokenizerOutType"},
    .make =
        [](const Options& o) {
          std::shared_ptr<const Model> model;
          if (o["mode"].is<std::string>()) {
            model = std::make_shared<const Model>(whole_file(o.string("mode")));
          } else if (o["mode"].is<TransformPtr>()) {
            model = model_of(o, "mode");
          } else {
            type_error(
                "SentencePieceTokenizer: 'mode' must be a SentencePieceVocab or the path of "
                "a model, got {}",
                o["mode"].str());
          }
          const bool ids = o.choice("out_type") == "INT";
          return each_value([model, ids](const Value& v) -> Value {
            return ids ? model->ids(v.strings()) : model->pieces(v.strings());
          });
        },
};

}  // namespace

TransformDefs sentencepiece_transforms() { return {&kTrain, &kModel, &kSave, &kTokenizer}; }

}  // namespace mycel::data
