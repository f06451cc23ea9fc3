// CIFAR-10 and CIFAR-100 (A. Krizhevsky, "Learning multiple layers of features from tiny images",
// 2009), binary edition: a record is its labels, then three planes of 32 x 32 pixels.
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/records.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

constexpr int64_t kPixels = 32 * 32;

struct Batches {
  std::vector<BytesPtr> files;
  std::vector<int64_t> counts;
  int64_t record = 0, size = 0;
};

std::shared_ptr<const Batches> open_batches(const Options& o, const Folder& folder,
                                            const std::vector<std::string>& train,
                                            const std::string& test, int64_t labels) {
  const std::string usage = one_of(o, "usage", {"train", "test", "all"}, "all");
  auto b = std::make_shared<Batches>();
  b->record = labels + 3 * kPixels;
  std::vector<std::string> names;
  if (usage != "test") names = train;
  if (usage != "train") names.push_back(test);
  for (const std::string& name : names) {
    BytesPtr file = folder.open(name);
    if (file->size() % b->record != 0 || file->size() == 0)
      fail(ErrorKind::kOs, "{}: '{}' has {} bytes, which is no number of records of {} bytes",
           o.owner(), file->name(), file->size(), b->record);
    b->counts.push_back(static_cast<int64_t>(file->size()) / b->record);
    b->size += b->counts.back();
    b->files.push_back(std::move(file));
  }
  return b;
}

// The record's bytes.
void read(const Batches& b, int64_t i, std::vector<uint8_t>* out) {
  size_t f = 0;
  for (; i >= b.counts[f]; ++f) i -= b.counts[f];
  out->resize(b.record);
  b.files[f]->read_at(i * b.record, out->data(), out->size());
}

Value image(const uint8_t* planes) {
  Tensor t = Tensor::empty(DType::kUInt8, {32, 32, 3});
  auto* out = static_cast<uint8_t*>(t.mutable_raw());
  for (int64_t p = 0; p < kPixels; ++p) {
    for (int64_t c = 0; c < 3; ++c) out[3 * p + c] = planes[c * kPixels + p];
  }
  return t;
}

const SourceDef kCifar10{
    .name = "Cifar10Dataset",
    .doc =
        "CIFAR-10 in binary files: data_batch_1.bin to data_batch_5.bin and test_batch.bin. "
        "`usage`: train, test or all (None). Columns: image uint8 [32, 32, 3]; label uint32 "
        "[].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kRowArgs),
    .open = [](const Options& o) -> DatasetPtr {
      const Folder folder(o.string("dataset_dir"));
      const auto b = open_batches(o, folder,
                                  {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                   "data_batch_4.bin", "data_batch_5.bin"},
                                  "test_batch.bin", 1);
      return file_rows(
          o.owner(), {"image", "label"}, b->size,
          [b](int64_t i) -> Row {
            std::vector<uint8_t> bytes;
            read(*b, i, &bytes);
            return {image(bytes.data() + 1), label(bytes[0])};
          },
          folder.path());
    },
};

const SourceDef kCifar100{
    .name = "Cifar100Dataset",
    .doc =
        "CIFAR-100 in binary files: train.bin and test.bin. `usage`: train, test or all (None). "
        "Columns: image uint8 [32, 32, 3]; coarse_label uint32 []; fine_label uint32 [].",
    .args = with({"dataset_dir: string", "usage: string? = None"}, kRowArgs),
    .open = [](const Options& o) -> DatasetPtr {
      const Folder folder(o.string("dataset_dir"));
      const auto b = open_batches(o, folder, {"train.bin"}, "test.bin", 2);
      return file_rows(
          o.owner(), {"image", "coarse_label", "fine_label"}, b->size,
          [b](int64_t i) -> Row {
            std::vector<uint8_t> bytes;
            read(*b, i, &bytes);
            return {image(bytes.data() + 2), label(bytes[0]), label(bytes[1])};
          },
          folder.path());
    },
};

}  // namespace

SourceDefs cifar_sources() { return {&kCifar10, &kCifar100}; }

}  // namespace mycel::data
