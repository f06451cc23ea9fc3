// Tables of word vectors: plain text files of the field, GloVe, fastText and character n-grams.
#include <cctype>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "data/text/text.h"
#include "data/text/unicode.h"
#include "data/text/words.h"

namespace mycel::data {
namespace {

// A table of vectors is a transform that turns tokens into vectors; ToVectors shares it.
class VectorTable : public Transform {
 public:
  // Lines "token x1 x2 …", `most` of them at most (0: all); the first line may hold two counts.
  VectorTable(const std::string& path, int64_t most, bool header_needed);
  int64_t dim() const { return dim_; }
  // Adds nothing and gives false when the token has no vector.
  virtual bool find(const std::string& token, float* out) const { return copy(token, out); }
  void run(Row* values, Philox&) const override;

 protected:
  bool copy(std::string_view token, float* out) const {
    const int32_t i = words_.find(token);
    if (i < 0) return false;
    std::memcpy(out, numbers_.data() + i * dim_, static_cast<size_t>(dim_) * sizeof(float));
    return true;
  }

 private:
  void add_line(std::string_view line, int64_t number, const std::string& path);
  Words words_;
  std::vector<float> numbers_;
  int64_t dim_ = 0;
};

std::vector<std::string_view> fields(std::string_view line) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at < line.size();) {
    const size_t from = line.find_first_not_of(" \t\r", at);
    if (from == line.npos) break;
    const size_t to = std::min(line.size(), line.find_first_of(" \t\r", from));
    out.push_back(line.substr(from, to - from));
    at = to;
  }
  return out;
}

bool is_count(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void VectorTable::add_line(std::string_view line, int64_t number, const std::string& path) {
  const std::vector<std::string_view> f = fields(line);
  if (f.empty()) return;
  if (f.size() < 2) value_error("'{}', line {}: '{}' has no vector", path, number, f[0]);
  const auto dim = static_cast<int64_t>(f.size()) - 1;
  if (dim_ == 0) dim_ = dim;
  if (dim != dim_) {
    value_error("'{}', line {}: the vector of '{}' has {} numbers, those before {}", path, number,
                f[0], dim, dim_);
  }
  if (!words_.add(f[0], static_cast<int32_t>(words_.size()))) return;  // the first one counts
  for (size_t i = 1; i < f.size(); ++i) {
    float x = 0;
    const auto [end, error] = std::from_chars(f[i].data(), f[i].data() + f[i].size(), x);
    if (error != std::errc() || end != f[i].data() + f[i].size())
      value_error("'{}', line {}: '{}' is not a number", path, number, f[i]);
    numbers_.push_back(x);
  }
}

VectorTable::VectorTable(const std::string& path, int64_t most, bool header_needed) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::kOs, "cannot read '{}'", path);
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (most && static_cast<int64_t>(words_.size()) >= most) break;
    if (number == 1) {
      const std::vector<std::string_view> f = fields(line);
      const bool counts = f.size() == 2 && is_count(f[0]) && is_count(f[1]);
      if (counts) continue;
      if (header_needed)
        value_error("'{}': the first line must be two counts, got '{}'", path, line.substr(0, 60));
    }
    add_line(line, number, path);
  }
  if (words_.size() == 0) value_error("'{}' holds no vectors", path);
}

void VectorTable::run(Row* values, Philox&) const {
  for (Value& v : *values) {
    const StringArray& in = v.strings();
    Shape shape = in.shape;
    shape.push_back(dim_);
    Tensor out = Tensor::zeros(DType::kFloat32, shape);
    float* to = out.mutable_data<float>().data();
    for (size_t i = 0; i < in.values.size(); ++i)
      find(in.values[i], to + static_cast<int64_t>(i) * dim_);
    v = std::move(out);
  }
}

// The mean of the vectors of a word's character n-grams, n = 2, 3, 4 (K. Hashimoto et al., A Joint
// Many-Task Model, 2017).
class CharNGrams final : public VectorTable {
 public:
  using VectorTable::VectorTable;
  bool find(const std::string& token, float* out) const override {
    std::vector<std::string> chars = {"#BEGIN#"};
    each_code_point(token, [&](int32_t, size_t from, size_t to) {
      chars.push_back(token.substr(from, to - from));
    });
    chars.emplace_back("#END#");
    std::vector<float> one(static_cast<size_t>(dim())), sum(one.size());
    int found = 0;
    for (size_t n = 2; n <= 4; ++n) {
      for (size_t i = 0; i + n <= chars.size(); ++i) {
        std::string key = std::to_string(n) + "gram-";
        for (size_t k = 0; k < n; ++k) key += chars[i + k];
        if (!copy(key, one.data())) continue;
        ++found;
        for (size_t k = 0; k < sum.size(); ++k) sum[k] += one[k];
      }
    }
    for (size_t k = 0; k < sum.size() && found; ++k) out[k] = sum[k] / static_cast<float>(found);
    return found > 0;
  }
};

int64_t most_vectors(const Options& o) {
  if (o.none("max_vectors")) return 0;
  const int64_t n = o.integer("max_vectors");
  if (n < 0) o.fail("max_vectors", "must not be negative, got {}", n);
  return n;
}

template <typename Table, bool header>
std::shared_ptr<Transform> open(const Options& o) {
  return std::make_shared<Table>(o.string("file_path"), most_vectors(o), header);
}

#define MYCEL_VECTOR_ARGS {"file_path: string", "max_vectors: int? = None"}
constexpr const char* kVectorsDoc =
    "Vectors of tokens from a text file of lines 'token x1 x2 …', max_vectors at most (0 or None: "
    "all). As a transform: strings of any shape to float32 with one dim more, zeros for unknown "
    "ones. ValueError: a line that is no vector or of another length. OSError: no such file.";

const TransformDef kVectors{.name = "text.vectors",
                            .doc = kVectorsDoc,
                            .args = MYCEL_VECTOR_ARGS,
                            .make = open<VectorTable, false>};
const TransformDef kFastText{
    .name = "text.fast_text",
    .doc = "Vectors of a .vec file of fastText; its first line holds two counts.",
    .args = MYCEL_VECTOR_ARGS,
    .make = [](const Options& o) -> std::shared_ptr<Transform> {
      if (!o.string("file_path").ends_with(".vec"))
        o.fail("file_path", "must end in .vec, got '{}'", o.string("file_path"));
      return open<VectorTable, true>(o);
    }};
const TransformDef kGloVe{.name = "text.glove",
                          .doc = "Vectors of a file of GloVe, glove.6B.*.txt.",
                          .args = MYCEL_VECTOR_ARGS,
                          .make = [](const Options& o) -> std::shared_ptr<Transform> {
                            const std::string file =
                                std::filesystem::path(o.string("file_path")).filename().string();
                            if (!file.starts_with("glove.6B.") || !file.ends_with(".txt"))
                              o.fail("file_path", "must be named glove.6B.*.txt, got '{}'", file);
                            return open<VectorTable, false>(o);
                          }};
const TransformDef kCharNGram{
    .name = "text.char_n_gram",
    .doc = "Vectors of character n-grams; a token has the mean of those of its n-grams.",
    .args = MYCEL_VECTOR_ARGS,
    .make = open<CharNGrams, false>};

const TransformDef kToVectors{
    .name = "text.ToVectors",
    .doc =
        "The vectors of tokens: strings of any shape to float32 with one dim more. A token without "
        "a vector has unk_init, zeros when that is None; lower_case_backup looks it up in lower "
        "case before. ValueError: unk_init of another length.",
    .args = {"vectors: transform", "unk_init: numbers? = None", "lower_case_backup: bool = False"},
    .make =
        [](const Options& o) {
          auto table = std::dynamic_pointer_cast<const VectorTable>(o.transform("vectors"));
          if (!table)
            type_error("ToVectors: 'vectors' must be Vectors, GloVe, FastText or CharNGram, got {}",
                       o.transform("vectors")->description());
          std::vector<float> unknown(static_cast<size_t>(table->dim()));
          if (const std::vector<double> given = o.reals("unk_init"); !given.empty()) {
            if (given.size() != unknown.size())
              o.fail("unk_init", "must be {} numbers, as long as the vectors, got {}",
                     unknown.size(), given.size());
            std::transform(given.begin(), given.end(), unknown.begin(),
                           [](double x) { return static_cast<float>(x); });
          }
          return each_value(
              [table, unknown, lower = o.boolean("lower_case_backup")](const Value& v) -> Value {
                const StringArray& in = v.strings();
                Shape shape = in.shape;
                shape.push_back(table->dim());
                Tensor out = Tensor::empty(DType::kFloat32, shape);
                float* to = out.mutable_data<float>().data();
                for (const std::string& token : in.values) {
                  if (!table->find(token, to) && !(lower && table->find(case_folded(token), to)))
                    std::copy(unknown.begin(), unknown.end(), to);
                  to += table->dim();
                }
                return out;
              });
        },
};

}  // namespace

TransformDefs vector_transforms() {
  return {&kVectors, &kFastText, &kGloVe, &kCharNGram, &kToVectors};
}

}  // namespace mycel::data
