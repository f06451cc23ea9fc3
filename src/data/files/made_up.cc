// Data sets without files: FakeImageDataset and RandomDataset. Every value is drawn from a
// generator keyed by its row, so that rows are the same in any order and on any thread.
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/random.h"
#include "data/files/arguments.h"
#include "data/files/records.h"
#include "data/files/rows.h"
#include "data/files/schema.h"

namespace mycel::data {
namespace {

DatasetPtr open_fake_image(const Options& o) {
  const int64_t count = o.positive("num_images"), classes = o.positive("num_classes");
  const int64_t seed = o.integer("base_seed");
  const std::vector<int64_t> size = o.ints("image_size");
  if (size.size() != 3)
    o.fail("image_size", "must be (height, width, channels), got {} numbers", size.size());
  for (int64_t d : size) {
    if (d < 1) o.fail("image_size", "must be positive, got {}", d);
  }
  if (seed < 0) o.fail("base_seed", "must not be negative, got {}", seed);
  const Shape shape{size[0], size[1], size[2]};
  return file_rows(
      o.owner(), {"image", "label"}, count,
      [=](int64_t i) -> Row {
        Philox draw(static_cast<uint64_t>(seed + i));
        const auto kind = static_cast<int64_t>(draw.below(static_cast<uint64_t>(classes)));
        Tensor image = Tensor::empty(DType::kUInt8, shape);
        auto* to = static_cast<char*>(image.mutable_raw());
        for (size_t at = 0; at < image.bytes(); at += 8) {
          const uint64_t bits = draw.next64();
          std::memcpy(to + at, &bits, std::min<size_t>(8, image.bytes() - at));
        }
        return {image, label(kind)};
      },
      "made up");
}

// A column as a schema says; without one, a few columns of any kind.
std::vector<SchemaColumn> columns_of(const Options& o, int64_t* rows) {
  std::vector<SchemaColumn> columns;
  if (!o.none("schema")) {
    if (!o["schema"].is<std::string>())
      type_error("{}: 'schema' must be a Schema or the path of one, got {}", o.owner(),
                 o["schema"].str());
    Schema schema = read_schema(o.string("schema"), o.owner());
    if (schema.rows > 0) *rows = schema.rows;
    columns = std::move(schema.columns);
  } else {
    constexpr DType kTypes[] = {DType::kUInt8,   DType::kInt32,   DType::kInt64,
                                DType::kFloat32, DType::kFloat64, DType::kBool};
    Philox draw(0, 1);
    const uint64_t n = 1 + draw.below(4);
    for (uint64_t c = 0; c < n; ++c) {
      SchemaColumn column{"c" + std::to_string(c)};
      column.dtype = kTypes[draw.below(std::size(kTypes))];
      column.shape.emplace();
      for (uint64_t d = draw.below(3); d > 0; --d)
        column.shape->push_back(1 + static_cast<int64_t>(draw.below(8)));
      columns.push_back(std::move(column));
    }
  }
  const std::vector<std::string> wanted = o.strings("columns_list");
  if (wanted.empty()) return columns;
  std::vector<SchemaColumn> chosen;
  for (const std::string& w : wanted) {
    const auto it = std::find_if(columns.begin(), columns.end(),
                                 [&](const SchemaColumn& c) { return c.name == w; });
    if (it == columns.end()) o.fail("columns_list", "names '{}', which the schema has not", w);
    chosen.push_back(*it);
  }
  return chosen;
}

// Bits of integers, numbers of [0, 1), true and false.
Tensor drawn(const SchemaColumn& c, Philox* draw) {
  Shape shape;
  for (int64_t d : c.shape.value_or(std::vector<int64_t>{1})) shape.push_back(d < 0 ? 1 : d);
  Tensor t = Tensor::empty(c.dtype, shape);
  void* to = t.mutable_raw();
  const int64_t n = shape.size();
  for (int64_t i = 0; i < n; ++i) {
    if (is_float(c.dtype)) {
      set_element(to, c.dtype, i, draw->uniform());
    } else if (is_bool(c.dtype)) {
      set_element(to, c.dtype, i, static_cast<int64_t>(draw->below(2)));
    } else {
      set_element(to, c.dtype, i, static_cast<int64_t>(draw->next64()));
    }
  }
  return t;
}

DatasetPtr open_random(const Options& o) {
  int64_t rows = 0;
  auto columns = std::make_shared<const std::vector<SchemaColumn>>(columns_of(o, &rows));
  if (!o.none("total_rows") && o.integer("total_rows") != 0) rows = o.positive("total_rows");
  if (rows == 0) rows = 1 + static_cast<int64_t>(Philox(0, 2).below(1024));
  std::vector<std::string> names;
  for (const SchemaColumn& c : *columns) {
    if (c.string)
      o.fail("schema", "has a column '{}' of strings; only numbers are made up", c.name);
    names.push_back(c.name);
  }
  return file_rows(
      o.owner(), names, rows,
      [columns](int64_t i) {
        Philox draw(static_cast<uint64_t>(i), 3);
        Row row;
        for (const SchemaColumn& c : *columns) row.emplace_back(drawn(c, &draw));
        return row;
      },
      "made up");
}

const SourceDef kFakeImage{
    .name = "FakeImageDataset",
    .doc =
        "Pictures of noise: `num_images` of `image_size` (height, width, channels), in "
        "`num_classes` classes; those of `base_seed` + 1 begin with the second of `base_seed`. "
        "Columns: image uint8 [h, w, c]; label uint32 [].",
    .args = with({"num_images: int = 1000", "image_size: ints = (224, 224, 3)",
                  "num_classes: int = 10", "base_seed: int = 0"},
                 kRowArgs),
    .open = open_fake_image,
};
const SourceDef kRandom{
    .name = "RandomDataset",
    .doc =
        "Rows of random numbers: `total_rows` of them (otherwise numRows of the schema, or 1 to "
        "1024). `schema`: JSON text, the path of a file with it or a Schema, which gives names, "
        "dtypes and shapes (dims that are not known: 1); without it columns c0, c1 and so on of "
        "any "
        "kind. `columns_list`: those wanted. Integers have random bits, floats are in [0, 1).",
    .args = {"total_rows: int? = None", "schema: any? = None", "columns_list: strings? = None",
             "num_samples: int? = None", "num_parallel_workers: int? = None", "cache: any? = None",
             "shuffle: any? = None", "num_shards: int? = None", "shard_id: int? = None"},
    .open = open_random,
};

}  // namespace

SourceDefs made_up_sources() { return {&kFakeImage, &kRandom}; }

}  // namespace mycel::data
