// Elements picked and placed by index.
#include "interop/onnx/tensors.h"
#include "interop/onnx/writing.h"

namespace mycel::interop::onnx {
namespace {

// Each row several times: rows picked by known indices.
void write_repeated(Writing& w) {
  int64_t axis = w.attrs.integer("axis"), n = w.type(0).shape[static_cast<int>(axis)];
  if (n == kUnknownDim) w.fail("the extent of axis {} must be known", axis);
  std::vector<int64_t> at;
  for (int64_t i = 0; i < n * w.attrs.integer("rep"); ++i) at.push_back(i / w.attrs.integer("rep"));
  w.result(w.emit("Gather", {w.in(0), w.ints(at)}, {{"axis", axis}}));
}

void write_gather(Writing& w) {
  if (w.has_attr("rep")) return write_repeated(w);
  if (w.attrs.integer("batch_dims") != 0) w.fail("batch_dims {}", w.attrs.integer("batch_dims"));
  std::string how = w.attrs.string("bounds"), at = w.in(1);
  int64_t axis = w.attrs.integer("axis");
  if (how == "clip") {
    int64_t n = w.type(0).shape[static_cast<int>(axis)];
    if (n == kUnknownDim) w.fail("the extent of axis {} must be known", axis);
    DType d = w.type(1).dtype;
    at = w.emit("Clip", {at, w.number(0, d), w.number(static_cast<double>(n - 1), d)});
  } else if (how != "error") {
    w.fail("indices out of bounds: '{}'", how);
  }
  w.result(w.emit("Gather", {w.in(0), at}, {{"axis", axis}}));
}

void write_gather_elements(Writing& w) {
  w.result(w.emit("GatherElements", {w.in(0), w.in(1)}, {{"axis", w.attrs.integer("dim")}}));
}

std::string long_index(Writing& w, int i) {
  return w.cast(w.in(i), w.type(i).dtype, DType::kInt64);
}

void write_gather_nd(Writing& w) { w.result(w.emit("GatherND", {w.in(0), long_index(w, 1)})); }

// "ScatterND(reduction='add')" in the record.
void write_scatter_nd(Writing& w) {
  std::string line = w.node.op->def.onnx;
  WrittenAttrs with;
  if (size_t at = line.find('\''); at != std::string::npos)
    with.emplace_back("reduction", line.substr(at + 1, line.rfind('\'') - at - 1));
  w.result(w.emit("ScatterND", {w.in(0), long_index(w, 1), w.in(2)}, with));
}

void write_scatter_elements(Writing& w) {
  std::string line = w.node.op->def.onnx;
  WrittenAttrs with{{"axis", w.attrs.integer("axis")}};
  if (size_t at = line.find('\''); at != std::string::npos)
    with.emplace_back("reduction", line.substr(at + 1, line.rfind('\'') - at - 1));
  std::string at = w.in(1);
  if (w.has_attr("batch_dims")) {  // whole rows: one index for each
    if (w.attrs.integer("batch_dims") != 0 || w.attrs.string("bounds") != "error" ||
        w.type(1).shape.rank() != 1)
      w.fail("indices {} with batch_dims or bounds", w.type(1).str());
    std::vector<int64_t> column(static_cast<size_t>(w.type(2).shape.rank()), 1);
    int64_t axis = w.attrs.integer("axis");
    column[static_cast<size_t>(axis < 0 ? axis + w.type(2).shape.rank() : axis)] = -1;
    at = w.emit("Reshape", {at, w.ints(column)});
    at = w.emit("Expand", {at, w.emit("Shape", {w.in(2)})});
  }
  w.result(w.emit("ScatterElements", {w.in(0), at, w.in(2)}, with));
}

void write_one_hot(Writing& w) {
  auto as_vector = [&](int i) { return w.emit("Reshape", {w.in(i), w.ints({1})}); };
  std::string values = w.emit("Concat", {as_vector(2), as_vector(1)}, {{"axis", int64_t{0}}});
  std::string depth = w.out.constant(Tensor::scalar(DType::kInt64, w.attrs.integer("depth")));
  w.result(
      w.emit("OneHot", {long_index(w, 0), depth, values}, {{"axis", w.attrs.integer("axis")}}));
}

// The k largest, or all of them in order.
void write_top_k(Writing& w) {
  bool sort = w.has_attr("descending");
  int64_t axis = w.attrs.integer(sort ? "axis" : "dim");
  int64_t k = sort ? w.type(0).shape[static_cast<int>(axis)] : w.attrs.integer("k");
  if (k == kUnknownDim) w.fail("the extent of axis {} must be known", axis);
  bool largest = w.attrs.boolean(sort ? "descending" : "largest");
  std::vector<std::string> r =
      w.emit_many("TopK", {w.in(0), w.ints({k})}, 2,
                  {{"axis", axis},
                   {"largest", int64_t{largest}},
                   {"sorted", int64_t{sort || w.attrs.boolean("sorted")}}});
  w.result(r[0], 0);
  w.result(w.cast(r[1], DType::kInt64, w.result_type(1).dtype), 1);
}

void write_non_zero(Writing& w) {
  std::string at = w.emit("Transpose", {w.emit("NonZero", {w.in(0)})});
  w.result(w.cast(at, DType::kInt64, w.result_type().dtype));
}

// The values, and for each element the number of its value.
void write_unique(Writing& w) {
  std::vector<std::string> r = w.emit_many("Unique", {w.in(0)}, 3, {{"sorted", int64_t{0}}});
  w.result(r[0], 0);
  std::string of = w.emit("Reshape", {r[2], w.emit("Shape", {w.in(0)})});
  w.result(w.cast(of, DType::kInt64, w.result_type(1).dtype), 1);
}

constexpr Writer kWriters[] = {
    {"Unique", write_unique},
    {"Gather", write_gather},
    {"GatherElements", write_gather_elements},
    {"GatherND", write_gather_nd},
    {"ScatterND", write_scatter_nd},
    {"ScatterElements", write_scatter_elements},
    {"OneHot", write_one_hot},
    {"TopK", write_top_k},
    {"NonZero", write_non_zero},
};

}  // namespace

Writers index_writers() { return kWriters; }

}  // namespace mycel::interop::onnx
