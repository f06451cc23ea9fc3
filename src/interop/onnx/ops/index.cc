// Picking and placing elements by index, sorting, distinct values.
#include <map>
#include <set>

#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

// Negative positions count from the end.
Tensor from_front(const Tensor& index, int64_t n) {
  Tensor i = as(index, DType::kInt64);
  Tensor size = Tensor::scalar(DType::kInt64, n);
  return ops::select(ops::less(i, Tensor::scalar(DType::kInt64, int64_t{0})), ops::add(i, size), i);
}

Values gather(Call& c) {
  Tensor x = c.x(0);
  int axis = axis_of(c, c.integer("axis", 0), x.rank());
  Tensor at = from_front(c.x(1), c.dims(x)[static_cast<size_t>(axis)]);
  return one(ops::gather(x, at, axis));
}

Values gather_elements(Call& c) {
  Tensor x = c.x(0);
  int axis = axis_of(c, c.integer("axis", 0), x.rank());
  return one(ops::gather_d(x, from_front(c.x(1), c.dims(x)[static_cast<size_t>(axis)]), axis));
}

// Positions in the last dim of `index`, each of an axis of x from `first` on.
Tensor places_from_front(Call& c, const Tensor& x, const Tensor& index, int first) {
  Dims dims = c.dims(x), n;
  int64_t count = index.dim(index.rank() - 1);
  for (int64_t k = 0; k < count; ++k) n.push_back(dims.at(static_cast<size_t>(first + k)));
  Tensor i = as(index, DType::kInt64);
  return ops::select(ops::less(i, Tensor::scalar(DType::kInt64, int64_t{0})),
                     ops::add(i, ints_tensor(n)), i);
}

Values gather_nd(Call& c) {
  Tensor x = c.x(0), at = c.x(1);
  int64_t batch = c.integer("batch_dims", 0);
  at = places_from_front(c, x, at, static_cast<int>(batch));
  if (batch == 0) return one(ops::gather_nd(x, at));
  // The batch dims become the first coordinates.
  Dims xs = c.dims(x), is = c.dims(at);
  int b = static_cast<int>(batch);
  Tensors parts;
  Ints shape(is.begin(), is.end() - 1);
  for (int d = 0; d < b; ++d) {
    Ints one_dim(shape.size(), 1);
    one_dim[static_cast<size_t>(d)] = xs[static_cast<size_t>(d)];
    Tensor along = ops::reshape(ints_tensor(counted(xs[static_cast<size_t>(d)])), one_dim);
    parts.push_back(ops::expand_dims(ops::broadcast_to(along, shape), -1));
  }
  parts.push_back(at);
  return one(ops::gather_nd(x, ops::concat(parts, -1)));
}

Values scatter_nd(Call& c) {
  Tensor x = c.x(0), at = places_from_front(c, c.x(0), c.x(1), 0), v = c.x(2);
  std::string how = c.text("reduction", "none");
  if (how == "none") return one(ops::tensor_scatter_update(x, at, v));
  if (how == "add") return one(ops::tensor_scatter_add(x, at, v));
  if (how == "mul") return one(ops::tensor_scatter_mul(x, at, v));
  if (how == "max") return one(ops::tensor_scatter_max(x, at, v));
  if (how == "min") return one(ops::tensor_scatter_min(x, at, v));
  c.fail("reduction '{}'; allowed: none, add, mul, max, min", how);
}

// Elements placed along an axis are whole coordinates of a scatter.
Values scatter_elements(Call& c) {
  Tensor x = c.x(0), v = c.x(2);
  int axis = axis_of(c, c.integer("axis", 0), x.rank());
  Tensor at = from_front(c.x(1), c.dims(x)[static_cast<size_t>(axis)]);
  Dims shape = c.dims(at);
  Tensors parts;
  for (int d = 0; d < x.rank(); ++d) {
    Tensor along = at;
    if (d != axis) {
      Ints one_dim(shape.size(), 1);
      int64_t n = shape[static_cast<size_t>(d)];
      one_dim[static_cast<size_t>(d)] = n;
      along = ops::broadcast_to(ops::reshape(ints_tensor(counted(n)), one_dim), shape);
    }
    parts.push_back(ops::expand_dims(along, -1));
  }
  Tensor places = ops::concat(parts, -1);
  std::string how = c.text("reduction", "none");
  if (how == "none") return one(ops::tensor_scatter_update(x, places, v));
  if (how == "add") return one(ops::tensor_scatter_add(x, places, v));
  if (how == "mul") return one(ops::tensor_scatter_mul(x, places, v));
  if (how == "max") return one(ops::tensor_scatter_max(x, places, v));
  if (how == "min") return one(ops::tensor_scatter_min(x, places, v));
  c.fail("reduction '{}'; allowed: none, add, mul, max, min", how);
}

// Rows written into a cache from a place of each sample on.
Values tensor_scatter(Call& c) {
  Tensor cache = c.x(0), update = c.x(1);
  int axis = axis_of(c, c.integer("axis", -2), cache.rank());
  Dims dims = c.dims(cache), shape = c.dims(update);
  auto a = static_cast<size_t>(axis);
  if (axis == 0) c.fail("axis 0 is the batch");
  bool circular = c.text("mode", "linear") == "circular";
  Tensors parts;
  for (int d = 0; d < cache.rank(); ++d) {
    Ints one_dim(shape.size(), 1);
    int64_t n = shape[static_cast<size_t>(d)];
    one_dim[static_cast<size_t>(d)] = n;
    Tensor along = ops::reshape(ints_tensor(counted(n)), one_dim);
    if (d == axis && c.has(2)) {
      Ints batch(shape.size(), 1);
      batch[0] = shape[0];
      along = ops::add(along, ops::reshape(as(c.x(2), DType::kInt64), batch));
      if (circular) along = ops::floor_mod(along, Tensor::scalar(DType::kInt64, dims[a]));
    }
    parts.push_back(ops::expand_dims(ops::broadcast_to(along, shape), -1));
  }
  return one(ops::tensor_scatter_update(cache, ops::concat(parts, -1), update));
}

Values one_hot(Call& c) {
  int64_t depth = c.known_ints(1).at(0);
  Tensor values = c.x(2), at = from_front(as(c.x(0), DType::kInt64), depth);
  Tensor off = ops::reshape(ops::narrow(values, 0, 0, 1), {});
  Tensor on = ops::reshape(ops::narrow(values, 0, 1, 1), {});
  int64_t axis = c.integer("axis", -1);
  int rank = at.rank() + 1;
  Tensor places = ops::expand_dims(at, axis);
  Ints shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis_of(c, axis, rank))] = depth;
  Tensor hit = ops::equal(places, ops::reshape(ints_tensor(counted(depth)), shape));
  return one(ops::select(hit, on, off));
}

Values compress(Call& c) {
  Tensor x = c.x(0), keep = c.known(1);
  Ints at;
  for (int64_t i = 0; i < keep.size(); ++i) {
    if (element_as_int(keep.raw(), keep.dtype(), i)) at.push_back(i);
  }
  if (!c.has_attr("axis")) return one(ops::gather(ops::reshape(x, {-1}), ints_tensor(at), 0));
  return one(ops::gather(x, ints_tensor(at), axis_of(c, c.integer("axis"), x.rank())));
}

Values non_zero(Call& c) {
  Tensor at = ops::nonzero(c.x(0));
  return one(ops::transpose(as(at, DType::kInt64), ir::Attr(Ints{1, 0})));
}

Values top_k(Call& c) {
  Tensor x = c.x(0);
  int64_t k = c.opset < 10 ? c.integer("k") : c.known_ints(1).at(0);
  Tensors r =
      ops::topk(x, k, c.integer("axis", -1), c.flag("largest", true), c.flag("sorted", true));
  return {Value(r[0]), Value(as(r[1], DType::kInt64))};
}

Values where(Call& c) { return one(ops::select(c.x(0), c.x(1), c.x(2))); }

Values reverse_sequence(Call& c) {
  return one(
      ops::reverse_sequence(c.x(0), c.x(1), c.integer("time_axis", 0), c.integer("batch_axis", 1)));
}

// Slices along an axis compared byte by byte would order them wrongly, so as lists of numbers.
Values unique(Call& c) {
  Tensor x = c.known(0);
  bool sorted = c.flag("sorted", true), flat = !c.has_attr("axis");
  if (!flat && x.rank() == 0) c.fail("an axis of a tensor without dims");
  Tensor rows = flat ? ops::reshape(x, {-1}) : x;
  int axis = flat ? 0 : axis_of(c, c.integer("axis"), x.rank());
  Ints perm = counted(rows.rank());
  std::swap(perm[0], perm[static_cast<size_t>(axis)]);
  Tensor first = rows.rank() > 1 ? ops::transpose(rows, ir::Attr(perm)) : rows;
  int64_t n = first.dim(0), width = n ? first.size() / n : 0;
  std::map<std::vector<double>, int64_t> seen;
  std::vector<std::vector<double>> order;
  Ints at, inverse, counts;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> row;
    for (int64_t j = 0; j < width; ++j)
      row.push_back(element_as_double(first.raw(), first.dtype(), i * width + j));
    auto [it, fresh] = seen.emplace(row, static_cast<int64_t>(at.size()));
    if (fresh) at.push_back(i), counts.push_back(0), order.push_back(row);
    inverse.push_back(it->second);
    ++counts[static_cast<size_t>(it->second)];
  }
  if (sorted) {
    Ints rank(at.size()), by(at.size()), new_at, new_counts;
    std::iota(by.begin(), by.end(), 0);
    std::sort(by.begin(), by.end(), [&](int64_t a, int64_t b) {
      return order[static_cast<size_t>(a)] < order[static_cast<size_t>(b)];
    });
    for (size_t i = 0; i < by.size(); ++i) {
      rank[static_cast<size_t>(by[i])] = static_cast<int64_t>(i);
      new_at.push_back(at[static_cast<size_t>(by[i])]);
      new_counts.push_back(counts[static_cast<size_t>(by[i])]);
    }
    at = new_at;
    counts = new_counts;
    for (int64_t& v : inverse) v = rank[static_cast<size_t>(v)];
  }
  return {Value(ops::gather(rows, ints_tensor(at), axis)), Value(ints_tensor(at)),
          Value(ints_tensor(inverse)), Value(ints_tensor(counts))};
}

constexpr Record kRecords[] = {
    {"Gather", gather},
    {"GatherElements", gather_elements},
    {"GatherND", gather_nd},
    {"Scatter", scatter_elements},
    {"ScatterElements", scatter_elements},
    {"ScatterND", scatter_nd},
    {"TensorScatter", tensor_scatter},
    {"OneHot", one_hot, "1"},
    {"Compress", compress, "1"},
    {"NonZero", non_zero},
    {"TopK", top_k, "1"},
    {"Where", where},
    {"ReverseSequence", reverse_sequence},
    {"Unique", unique, "0"},
};

}  // namespace

Records index_records() { return kRecords; }

}  // namespace mycel::interop::onnx
