#include "data/text/vocabulary.h"

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "data/cast.h"
#include "data/text/text.h"

namespace mycel::data {

Vocabulary::Vocabulary(Words words) : words_(std::move(words)) {
  for (size_t i = 0; i < words_.size(); ++i) places_[words_.value(i)] = static_cast<uint32_t>(i);
}

void Vocabulary::run(Row* values, Philox&) const {
  for (Value& v : *values) {
    const StringArray& in = v.strings();
    Tensor out = Tensor::empty(DType::kInt32, in.shape);
    auto ids = out.mutable_data<int32_t>();
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = words_.find(in.values[i]);
    v = std::move(out);
  }
}

std::string_view Vocabulary::token(int64_t id) const {
  if (id < 0 || id > INT32_MAX) return "";
  const auto found = places_.find(static_cast<int32_t>(id));
  return found == places_.end() ? std::string_view() : words_.word(found->second);
}

std::shared_ptr<const Vocabulary> vocabulary(const Options& o, std::string_view name) {
  auto v = std::dynamic_pointer_cast<const Vocabulary>(o.transform(name));
  if (!v) {
    type_error("{}: '{}' must be a Vocab, got {}", o.owner(), name,
               o.transform(name)->description());
  }
  return v;
}

namespace {

// Words one after the other, numbered from 0, with the special tokens in front or behind.
class Builder {
 public:
  explicit Builder(const Options& o)
      : special_(o.strings("special_tokens")), first_(o.boolean("special_first")) {
    if (first_) add_special();
  }
  void add(std::string_view word) {
    if (!words_.add(word, next_)) {
      const bool special = std::find(special_.begin(), special_.end(), word) != special_.end();
      value_error("Vocab: '{}' is there twice{}", word,
                  special ? ", as a word and as a special token" : "");
    }
    ++next_;
  }
  std::shared_ptr<Transform> done() {
    if (!first_) add_special();
    return std::make_shared<Vocabulary>(std::move(words_));
  }

 private:
  void add_special() {
    for (const std::string& s : special_) add(s);
  }
  std::vector<std::string> special_;
  bool first_;
  Words words_;
  int32_t next_ = 0;
};

const TransformDef kVocabulary{
    .name = "text.vocabulary",
    .doc =
        "A vocabulary of words, numbered from 0 with the special tokens in front (special_first) "
        "or behind; or numbered by `ids`. As a transform: int32 ids of the same shape as the "
        "strings, -1 for unknown ones. ValueError: a word that is there twice, a negative id.",
    .args = {"words: strings", "special_tokens: strings? = None", "special_first: bool = True",
             "ids: ints? = None"},
    .make = [](const Options& o) -> std::shared_ptr<Transform> {
      const std::vector<std::string> words = o.strings("words");
      if (o.none("ids")) {
        Builder b(o);
        for (const std::string& w : words) b.add(w);
        return b.done();
      }
      const std::vector<int64_t> ids = o.ints("ids");
      if (ids.size() != words.size())
        o.fail("ids", "must be {} numbers, one a word, got {}", words.size(), ids.size());
      Words table;
      for (size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] < 0 || ids[i] > INT32_MAX)
          o.fail("ids", "must be in [0, 2147483647], got {}", ids[i]);
        if (!table.add(words[i], static_cast<int32_t>(ids[i])))
          o.fail("words", "holds '{}' twice", words[i]);
      }
      return std::make_shared<Vocabulary>(std::move(table));
    },
};

const TransformDef kVocabularyFile{
    .name = "text.vocabulary_file",
    .doc =
        "A vocabulary of the lines of a text file, each up to `delimiter` when that is not empty; "
        "vocab_size lines at most. OSError: the file cannot be read. ValueError: a word that "
        "is there twice.",
    .args = {"file_path: string", "delimiter: string = ''", "vocab_size: int? = None",
             "special_tokens: strings? = None", "special_first: bool = True"},
    .make = [](const Options& o) -> std::shared_ptr<Transform> {
      const int64_t most = o.none("vocab_size") ? INT64_MAX : o.positive("vocab_size");
      std::ifstream file(o.string("file_path"), std::ios::binary);
      if (!file) mycel::fail(ErrorKind::kOs, "Vocab: cannot read '{}'", o.string("file_path"));
      Builder b(o);
      std::string line;
      for (int64_t n = 0; n < most && std::getline(file, line); ++n) {
        if (line.ends_with('\r')) line.pop_back();
        const std::string& d = o.string("delimiter");
        b.add(std::string_view(line).substr(0, d.empty() ? line.npos : line.find(d)));
      }
      return b.done();
    },
};

const TransformDef kVocabularyWords{
    .name = "text.vocabulary_words",
    .doc = "The words of a vocabulary and their ids: strings (n), int32 (n), in place of a row.",
    .args = {"vocab: transform"},
    .make =
        [](const Options& o) {
          const auto v = vocabulary(o, "vocab");
          return of_row(
              [v](Row* values, Philox&) {
                const auto n = static_cast<int64_t>(v->words().size());
                std::vector<std::string> words;
                std::vector<int32_t> ids;
                for (size_t i = 0; i < v->words().size(); ++i) {
                  words.emplace_back(v->words().word(i));
                  ids.push_back(v->words().value(i));
                }
                *values = {Value::list(std::move(words)), Tensor::from(ids, {n})};
              },
              false);
        },
};

const TransformDef kVocabularyTokens{
    .name = "text.vocabulary_tokens",
    .doc = "The words that have the ids; '' for ids that no word has. Ints of any shape.",
    .args = {"vocab: transform"},
    .make =
        [](const Options& o) {
          const auto v = vocabulary(o, "vocab");
          return each_value([v](const Value& ids) -> Value {
            const Tensor t = cast(ids.tensor(), DType::kInt64);
            StringArray out;
            out.shape = t.shape();
            for (int64_t id : t.data<int64_t>()) out.values.emplace_back(v->token(id));
            return out;
          });
        },
};

const TransformDef kLookup{
    .name = "text.Lookup",
    .doc =
        "The ids of tokens: strings of any shape to data_type of the same shape. A token that is "
        "not in the vocabulary has the id of unknown_token. ValueError: a token without an id, an "
        "unknown_token that has none.",
    .args = {"vocab: transform", "unknown_token: string? = None", "data_type: dtype = int32"},
    .make =
        [](const Options& o) {
          const auto v = vocabulary(o, "vocab");
          int32_t unknown = Words::kNone;
          if (!o.none("unknown_token")) {
            unknown = v->words().find(o.string("unknown_token"));
            if (unknown == Words::kNone)
              o.fail("unknown_token", "is '{}', which is not in the vocabulary",
                     o.string("unknown_token"));
          }
          const DType dtype = o.dtype("data_type");
          return each_value([v, unknown, dtype](const Value& value) -> Value {
            const StringArray& in = value.strings();
            Tensor out = Tensor::empty(DType::kInt32, in.shape);
            auto ids = out.mutable_data<int32_t>();
            for (size_t i = 0; i < ids.size(); ++i) {
              const int32_t id = v->words().find(in.values[i]);
              ids[i] = id == Words::kNone ? unknown : id;
              if (ids[i] == Words::kNone)
                value_error("'{}' is not in the vocabulary, and there is no unknown_token",
                            in.values[i]);
            }
            return cast(out, dtype);
          });
        },
};

}  // namespace

TransformDefs vocabulary_transforms() {
  return {&kVocabulary, &kVocabularyFile, &kVocabularyWords, &kVocabularyTokens, &kLookup};
}

}  // namespace mycel::data
