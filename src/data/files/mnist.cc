// Data sets in the IDX format (Y. LeCun, http://yann.lecun.com/exdb/mnist): big-endian dims, then
// the numbers.
#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/records.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

uint32_t big_endian(const unsigned char* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

// An array of uint8 (type 8) or int32 (type 12): n items of equal shape.
class IdxFile {
 public:
  IdxFile(const Folder& folder, const std::string& name, int type, int rank)
      : file_(folder.open(name)) {
    const uint64_t header = 4 + 4 * static_cast<uint64_t>(rank);
    const std::string text = file_->text(0, header);
    const auto* p = reinterpret_cast<const unsigned char*>(text.data());
    if (p[0] != 0 || p[1] != 0 || p[2] != type || p[3] != rank)
      fail(ErrorKind::kOs,
           "'{}' is not an IDX file of {} dims: it begins with {:02x} {:02x} {:02x} {:02x}",
           file_->name(), rank, p[0], p[1], p[2], p[3]);
    begin_ = header;
    count_ = big_endian(p + 4);
    item_ = type == 8 ? 1 : 4;
    for (int d = 1; d < rank; ++d) {
      shape_.push_back(big_endian(p + 4 + 4 * d));
      if (item_ > (uint64_t{1} << 31)) break;  // a broken header; the check below fails
      item_ *= shape_[d - 1];
    }
    if (item_ > (uint64_t{1} << 31) || file_->size() - header < item_ * count_)
      fail(ErrorKind::kOs, "'{}' is truncated: {} items are promised, {} bytes are there",
           file_->name(), count_, file_->size() - header);
  }
  int64_t count() const { return count_; }
  const Shape& shape() const { return shape_; }
  const std::string& name() const { return file_->name(); }
  void read(int64_t i, void* out) const { file_->read_at(begin_ + i * item_, out, item_); }
  // Numbers of 32 bits of item i.
  std::vector<uint32_t> numbers(int64_t i) const {
    const std::string text = file_->text(begin_ + i * item_, item_);
    std::vector<uint32_t> out;
    for (size_t k = 0; k + 4 <= text.size(); k += 4)
      out.push_back(big_endian(reinterpret_cast<const unsigned char*>(text.data()) + k));
    return out;
  }

 private:
  BytesPtr file_;
  uint64_t begin_ = 0, item_ = 0;
  int64_t count_ = 0;
  Shape shape_;
};

// Images and labels of one part of a data set; `skip` and `count` cut it (QMNIST's halves).
struct Part {
  IdxFile images, labels;
  int64_t skip = 0, count = 0;
};

Part part(const Folder& folder, const std::string& images, const std::string& labels,
          bool extended) {
  Part p{IdxFile(folder, images, 8, 3),
         extended ? IdxFile(folder, labels, 12, 2) : IdxFile(folder, labels, 8, 1)};
  if (p.images.count() != p.labels.count())
    fail(ErrorKind::kOs, "'{}' has {} images, but '{}' has {} labels", p.images.name(),
         p.images.count(), p.labels.name(), p.labels.count());
  if (extended && p.labels.shape()[0] != 8)
    fail(ErrorKind::kOs, "'{}' has {} numbers a label; QMNIST has 8", p.labels.name(),
         p.labels.shape()[0]);
  p.count = p.images.count();
  return p;
}

enum class LabelKind { kByte, kFirst, kAll };

DatasetPtr rows_of(const Options& o, std::vector<Part> list, LabelKind kind,
                   const std::string& where) {
  auto parts = std::make_shared<const std::vector<Part>>(std::move(list));
  int64_t size = 0;
  for (const Part& p : *parts) size += p.count;
  return file_rows(
      o.owner(), {"image", "label"}, size,
      [parts, kind](int64_t i) -> Row {
        const Part* p = parts->data();
        for (; i >= p->count; ++p) i -= p->count;
        i += p->skip;
        Shape shape = p->images.shape();
        shape.push_back(1);
        Tensor image = Tensor::empty(DType::kUInt8, shape);
        p->images.read(i, image.mutable_raw());
        if (kind == LabelKind::kByte) {
          uint8_t byte = 0;
          p->labels.read(i, &byte);
          return {image, label(byte)};
        }
        const std::vector<uint32_t> numbers = p->labels.numbers(i);
        if (kind == LabelKind::kFirst) return {image, label(numbers[0])};
        return {image, Tensor::from(numbers, {8})};
      },
      where);
}

// Files <front>train-images-idx3-ubyte and so on; `all` is test and training in order of names.
std::vector<Part> usual_parts(const Options& o, const Folder& folder, const std::string& train,
                              const std::string& test) {
  const std::string usage = one_of(o, "usage", {"train", "test", "all"}, "all");
  std::vector<std::string> fronts;
  if (usage != "train") fronts.push_back(test);
  if (usage != "test") fronts.push_back(train);
  std::sort(fronts.begin(), fronts.end());
  std::vector<Part> parts;
  for (const std::string& f : fronts)
    parts.push_back(part(folder, f + "-images-idx3-ubyte", f + "-labels-idx1-ubyte", false));
  return parts;
}

DatasetPtr open_mnist(const Options& o) {
  const Folder folder(o.string("dataset_dir"));
  return rows_of(o, usual_parts(o, folder, "train", "t10k"), LabelKind::kByte, folder.path());
}

DatasetPtr open_emnist(const Options& o) {
  const std::string name =
      one_of(o, "name", {"byclass", "bymerge", "balanced", "letters", "digits", "mnist"}, "mnist");
  const Folder folder(o.string("dataset_dir"));
  return rows_of(o, usual_parts(o, folder, "emnist-" + name + "-train", "emnist-" + name + "-test"),
                 LabelKind::kByte, folder.path());
}

DatasetPtr open_qmnist(const Options& o) {
  const std::string usage =
      one_of(o, "usage", {"train", "test", "test10k", "test50k", "nist", "all"}, "all");
  const Folder folder(o.string("dataset_dir"));
  std::vector<Part> parts;
  const auto add = [&](const std::string& front) {
    parts.push_back(part(folder, front + "-images-idx3-ubyte", front + "-labels-idx2-int", true));
  };
  if (usage == "train" || usage == "all") add("qmnist-train");
  if (usage != "train" && usage != "nist") add("qmnist-test");
  if (usage == "nist" || usage == "all") add("xnist");
  constexpr int64_t kFirst = 10000;  // of the test images: those of MNIST
  Part& p = parts[0];
  if (usage == "test10k") p.count = std::min(p.count, kFirst);
  if (usage == "test50k") {
    p.skip = std::min(p.count, kFirst);
    p.count -= p.skip;
  }
  return rows_of(o, std::move(parts), o.boolean("compat") ? LabelKind::kFirst : LabelKind::kAll,
                 folder.path());
}

const SourceDef kMnist{
    .name = "MnistDataset",
    .doc =
        "Handwritten digits (Y. LeCun): train-images-idx3-ubyte, train-labels-idx1-ubyte and "
        "the same with t10k, unpacked. `usage`: train, test or all (None). Columns: image "
        "uint8 [28, 28, 1]; label uint32 [].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kRowArgs),
    .open = open_mnist,
};
const SourceDef kFashionMnist{
    .name = "FashionMnistDataset",
    .doc =
        "Pictures of clothes (H. Xiao et al., 2017) in the files of MNIST. `usage`: train, test "
        "or all (None). Columns: image uint8 [28, 28, 1]; label uint32 [].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kRowArgs),
    .open = open_mnist,
};
const SourceDef kKMnist{
    .name = "KMnistDataset",
    .doc =
        "Cursive Japanese characters (T. Clanuwat et al., 2018) in the files of MNIST. `usage`: "
        "train, test or all (None). Columns: image uint8 [28, 28, 1]; label uint32 [].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kRowArgs),
    .open = open_mnist,
};
const SourceDef kQMnist{
    .name = "QMnistDataset",
    .doc =
        "MNIST rebuilt from its origin (C. Yadav and L. Bottou, 2019): "
        "qmnist-train-images-idx3-ubyte, qmnist-train-labels-idx2-int, the same with "
        "qmnist-test and xnist. `usage`: train, test, test10k (the first 10,000 of test), "
        "test50k (the others), nist or all (None). Columns: image uint8 [28, 28, 1]; label "
        "uint32 [], or with compat=False all eight numbers, uint32 [8].",
    .args = with({"dataset_dir: string", "usage: string? = None", "compat: bool = True"}, kRowArgs),
    .open = open_qmnist,
};
const SourceDef kEMnist{
    .name = "EMnistDataset",
    .doc =
        "Handwritten letters and digits (G. Cohen et al., 2017): "
        "emnist-<name>-train-images-idx3-ubyte and so on. `name`: byclass, bymerge, balanced, "
        "letters, digits or mnist. `usage`: train, test or all (None). Columns: image uint8 "
        "[28, 28, 1]; label uint32 [].",
    .args = with({"dataset_dir: string", "name: string", "usage: string? = None"}, kRowArgs),
    .open = open_emnist,
};

}  // namespace

SourceDefs mnist_sources() { return {&kMnist, &kFashionMnist, &kKMnist, &kQMnist, &kEMnist}; }

}  // namespace mycel::data
