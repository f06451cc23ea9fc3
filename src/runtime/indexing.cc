#include "runtime/indexing.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/core_ops.h"
#include "ir/op.h"
#include "runtime/dispatch.h"
#include "runtime/trace.h"

namespace mycel::runtime {
namespace {

using Kind = Index::Kind;
using Ints = ir::Attr::Ints;

// The ops that indexing is made of, found by name once.
struct Ops {
  const ir::Op& slice = ir::op_named("basic_slice");
  const ir::Op& update = ir::op_named("slice_update");
  const ir::Op& reshape = ir::op_named("reshape");
  const ir::Op& squeeze = ir::op_named("squeeze");
  const ir::Op& expand = ir::op_named("expand_dims");
  const ir::Op& transpose = ir::op_named("transpose");
  const ir::Op& stack = ir::op_named("stack");
  const ir::Op& gather = ir::op_named("gather");
  const ir::Op& gather_nd = ir::op_named("gather_nd");
  const ir::Op& scatter = ir::op_named("tensor_scatter_update");
  const ir::Op& select = ir::op_named("select");
  const ir::Op& nonzero = ir::op_named("nonzero");
  const ir::Op& zeros_like = ir::op_named("zeros_like");
  const ir::Op& add = ir::op_named("add");
  const ir::Op& equal = ir::op_named("equal");
};
const Ops& ops() {
  static const Ops o;
  return o;
}

Tensor reshape(const Tensor& x, const Shape& s) {
  return x.shape() == s ? x : call1(ops().reshape, {x}, {ir::Attr(s)});
}
Tensor broadcast_to(const Tensor& x, const Shape& s) {
  return x.shape() == s ? x : call1(*ir::core_ops().broadcast_to, {x}, {ir::Attr(s)});
}
Tensor cast(const Tensor& x, DType d) {
  return x.dtype() == d ? x : call1(*ir::core_ops().cast, {x}, {d});
}

template <typename... A>
[[noreturn]] void index_error(fmt::format_string<A...> f, A&&... a) {
  fail(ErrorKind::kIndex, f, std::forward<A>(a)...);
}

// The positions of a mask's true elements, one int64 tensor per dim; their number is unknown when
// the mask is.
Tensors nonzero(const Tensor& mask) {
  if (!primal(mask).concrete()) {
    Tensor places = call1(ops().nonzero, {mask});
    Tensors columns;
    for (int64_t d = 0; d < mask.rank(); ++d)
      columns.push_back(call1(ops().gather, {places, Tensor::scalar(DType::kInt64, d)}, {1}));
    return columns;
  }
  Tensor m = concrete(mask, "indexing with a mask");
  const auto* bits = static_cast<const uint8_t*>(m.raw());
  const int64_t n = m.size();
  const int64_t count = std::count_if(bits, bits + n, [](uint8_t b) { return b != 0; });
  Tensors out;
  for (int d = 0; d < m.rank(); ++d) out.push_back(Tensor::empty(DType::kInt64, {count}));
  int64_t place[kMaxRank] = {}, row = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (bits[i]) {
      for (int d = 0; d < m.rank(); ++d) out[d].mutable_data<int64_t>()[row] = place[d];
      ++row;
    }
    for (int d = m.rank() - 1; d >= 0 && ++place[d] == m.dim(d); --d) place[d] = 0;
  }
  return out;
}

// The index with one entry per dim of the (possibly extended) tensor, in order, plus new axes.
struct Plan {
  Tensor x;
  std::vector<Index>
      items;              // kAt, kSlice, kTensor consume one dim each; kNewAxis and kEllipsis none
  bool advanced = false;  // a tensor of positions takes part
};

int dims_taken(const Index& i) {
  switch (i.kind) {
    case Kind::kNewAxis:
    case Kind::kEllipsis:
      return 0;
    case Kind::kTensor:
      return is_bool(i.values.dtype()) ? i.values.rank() : 1;
    default:
      return 1;
  }
}

void add_mask(Plan& p, const Tensor& mask, int dim) {
  if (mask.rank() == 0) {  // x[True]: a new axis of size 1 or 0
    p.x = call1(ops().expand, {p.x}, {dim});
    bool yes = concrete(mask, "indexing with a mask").item() != 0;
    p.items.push_back(Index::tensor(Tensor::zeros(DType::kInt64, {yes ? 1 : 0})));
    return;
  }
  for (int d = 0; d < mask.rank(); ++d) {
    // An empty mask picks nothing, whatever it lies on: as NumPy and the array API have it.
    if (mask.dim(d) != p.x.dim(dim + d) && mask.dim(d) != 0) {
      index_error("indexing: mask {} does not fit dims {} to {} of {}", mask.describe(), dim,
                  dim + mask.rank() - 1, p.x.describe());
    }
  }
  for (const Tensor& t : nonzero(mask)) p.items.push_back(Index::tensor(t));
}

Plan normalize(const Tensor& x, std::span<const Index> index) {
  int taken = 0, ellipses = 0;
  for (const Index& i : index) {
    taken += dims_taken(i);
    ellipses += i.kind == Kind::kEllipsis;
    if (i.kind == Kind::kTensor && !is_bool(i.values.dtype()) && !is_int(i.values.dtype())) {
      index_error("indexing: a tensor used as index must hold ints or bools, got {}",
                  i.values.describe());
    }
  }
  if (ellipses > 1) index_error("indexing: '...' may stand only once");
  if (taken > x.rank()) {
    index_error("indexing: {} has {} dims, {} indices given", x.describe(), x.rank(), taken);
  }
  Plan p;
  p.x = x;
  int dim = 0;
  auto fill = [&](int count) {
    for (int k = 0; k < count; ++k, ++dim) p.items.push_back(Index::slice());
  };
  for (const Index& i : index) {
    if (i.kind == Kind::kEllipsis) {
      fill(x.rank() - taken);
      if (x.rank() == taken)
        p.items.push_back(i);  // stands for no dim, yet parts the tensors around it
    } else if (i.kind == Kind::kTensor && is_bool(i.values.dtype())) {
      p.advanced = true;
      add_mask(p, i.values, dim);
      dim += std::max(1, i.values.rank());
    } else {
      p.advanced |= i.kind == Kind::kTensor;
      p.items.push_back(i);
      dim += dims_taken(i);
    }
  }
  fill(p.x.rank() - dim);
  return p;
}

// Attributes of basic_slice for the slices of a plan; positions become slices of one element unless
// they are left to the gather.
struct Region {
  Ints begin, end, step;
  bool whole = true;
};

Region region_of(const Plan& p, bool positions) {
  Region r;
  int dim = 0;
  for (const Index& i : p.items) {
    if (dims_taken(i) == 0) continue;
    const int64_t n = p.x.dim(dim);
    if (i.kind == Kind::kAt && positions) {
      if (n != kUnknownDim && (i.begin < -n || i.begin >= n)) {
        index_error("indexing: position {} is outside dim {} of {}", i.begin, dim, p.x.describe());
      }
      r.begin.push_back(i.begin);
      r.end.push_back(i.begin == -1 ? Index::kHigh : i.begin + 1);
      r.step.push_back(1);
      r.whole = false;
    } else if (i.kind == Kind::kSlice) {
      if (i.step == 0) value_error("indexing: the step of a slice must not be 0");
      r.begin.push_back(i.begin);
      r.end.push_back(i.end);
      r.step.push_back(i.step);
      r.whole &=
          i.step == 1 && (i.begin == 0 || i.begin == Index::kLow) && i.end >= n && n != kUnknownDim;
      if (n == kUnknownDim) r.whole &= i.step == 1 && i.begin == 0 && i.end == Index::kHigh;
    } else {
      r.begin.push_back(0);
      r.end.push_back(Index::kHigh);
      r.step.push_back(1);
    }
    ++dim;
  }
  return r;
}

Tensor cut(const Tensor& x, const Region& r) {
  return r.whole ? x : call1(ops().slice, {x}, {r.begin, r.end, r.step});
}

Tensor insert_axes(Tensor x, const std::vector<int>& at) {
  if (at.empty()) return x;
  if (x.shape().known() && x.rank() + static_cast<int>(at.size()) <= kMaxRank) {
    Shape s = x.shape();
    for (int a : at) s.insert(a, 1);
    return reshape(x, s);
  }
  for (int a : at) x = call1(ops().expand, {x}, {a});
  return x;
}

Tensor basic_item(const Plan& p) {
  Tensor y = cut(p.x, region_of(p, true));
  Ints drop;
  std::vector<int> axes;
  Shape s;
  int dim = 0, out = 0;
  for (const Index& i : p.items) {
    if (i.kind == Kind::kEllipsis) continue;
    if (i.kind == Kind::kNewAxis) {
      axes.push_back(out++);
      s.push_back(1);
      continue;
    }
    if (i.kind == Kind::kAt) {
      drop.push_back(dim);
    } else {
      s.push_back(y.dim(dim));
      ++out;
    }
    ++dim;
  }
  if (s.known()) return reshape(y, s);
  if (!drop.empty()) y = call1(ops().squeeze, {y}, {drop});
  return insert_axes(y, axes);
}

// Where the tensors of positions stand among the dims, and what they look like together.
struct Advanced {
  std::vector<int> axes;  // dims of x that they index
  Tensors values;         // int64; positions given as numbers have rank 0
  Shape shape;            // of all of them together
  bool adjacent = true;   // no slice or new axis between them
  size_t first = 0;       // item of the first
};

Advanced advanced_of(const Plan& p) {
  Advanced a;
  int dim = 0;
  size_t last = 0;
  for (size_t k = 0; k < p.items.size(); ++k) {
    const Index& i = p.items[k];
    if (i.kind == Kind::kTensor || i.kind == Kind::kAt) {
      if (a.axes.empty()) a.first = k;
      if (!a.axes.empty() && last + 1 != k) a.adjacent = false;
      last = k;
      a.axes.push_back(dim);
      a.values.push_back(i.kind == Kind::kAt ? Tensor::scalar(DType::kInt64, i.begin)
                                             : cast(i.values, DType::kInt64));
    }
    dim += dims_taken(i);
  }
  for (const Tensor& t : a.values) {
    Shape merged;
    if (!broadcast(a.shape, t.shape(), &merged)) {
      index_error("indexing: index shapes {} and {} do not broadcast", a.shape.str(),
                  t.shape().str());
    }
    a.shape = merged;
  }
  return a;
}

// Output axes of the new axes among the items, given where the advanced dims land.
std::vector<int> new_axes(const Plan& p, const Advanced& a) {
  std::vector<int> at;
  int out = a.adjacent ? 0 : a.shape.rank();
  for (size_t k = 0; k < p.items.size(); ++k) {
    const Index& i = p.items[k];
    if (a.adjacent && k == a.first) out += a.shape.rank();
    if (i.kind == Kind::kNewAxis) at.push_back(out++);
    if (i.kind == Kind::kSlice) ++out;
  }
  return at;
}

// Dims `front` first, the others behind in order.
Ints front_first(int rank, const std::vector<int>& front) {
  Ints perm(front.begin(), front.end());
  for (int d = 0; d < rank; ++d) {
    if (std::find(front.begin(), front.end(), d) == front.end()) perm.push_back(d);
  }
  return perm;
}

bool in_order(const Ints& perm) { return std::is_sorted(perm.begin(), perm.end()); }

Tensor gather_many(const Tensor& x, const Advanced& a) {
  Tensors parts;
  Tensor like;  // has the shape of all together, where that is unknown
  for (const Tensor& t : a.values) {
    if (!a.shape.known() && t.shape() == a.shape) like = call1(ops().zeros_like, {t});
  }
  for (const Tensor& t : a.values) {
    bool by_adding = like && !(t.shape() == a.shape);
    parts.push_back(by_adding ? call1(ops().add, {t, like}) : broadcast_to(t, a.shape));
  }
  Tensor places = call1(ops().stack, parts, {-1});
  Ints perm = front_first(x.rank(), a.axes);
  Tensor y =
      call1(ops().gather_nd, {in_order(perm) ? x : call1(ops().transpose, {x}, {perm}), places});
  if (!a.adjacent || a.axes[0] == 0) return y;
  // The indexed dims go back to where the first of them stood.
  std::vector<int> order;
  const int lead = a.shape.rank();
  for (int d = 0; d < a.axes[0]; ++d) order.push_back(lead + d);
  for (int d = 0; d < lead; ++d) order.push_back(d);
  for (int d = lead + a.axes[0]; d < y.rank(); ++d) order.push_back(d);
  return call1(ops().transpose, {y}, {Ints(order.begin(), order.end())});
}

Tensor advanced_item(const Plan& p) {
  Tensor x = cut(p.x, region_of(p, false));
  Advanced a = advanced_of(p);
  Tensor y =
      a.axes.size() == 1 ? call1(ops().gather, {x, a.values[0]}, {a.axes[0]}) : gather_many(x, a);
  return insert_axes(y, new_axes(p, a));
}

// A value as NumPy fits it into a region: leading dims of size 1 go, the rest is broadcast.
Tensor fit_value(const Tensor& value, const Shape& region, const Tensor& x) {
  Tensor v = cast(value, x.dtype());
  Shape s = v.shape(), merged;
  while (s.rank() > region.rank() && s[0] == 1) s.erase(0);
  if (!broadcast(s, region, &merged) || (region.known() && !(merged == region))) {
    value_error("indexing: a value of shape {} does not fit the region of shape {}",
                value.shape().str(), region.str());
  }
  return broadcast_to(reshape(v, s), region);
}

Tensor set_basic(const Plan& p, const Tensor& value) {
  Region r = region_of(p, true);
  Shape cut_shape =
      r.whole ? p.x.shape() : cut(Tensor::abstract(p.x.dtype(), p.x.shape()), r).shape();
  Shape visible;
  int dim = 0;
  for (const Index& i : p.items) {
    if (i.kind == Kind::kEllipsis) continue;
    if (i.kind == Kind::kNewAxis) {
      visible.push_back(1);
      continue;
    }
    if (i.kind != Kind::kAt) visible.push_back(cut_shape[dim]);
    ++dim;
  }
  Tensor v = reshape(fit_value(value, visible, p.x), cut_shape);
  return r.whole ? v : call1(ops().update, {p.x, v}, {r.begin, r.end, r.step});
}

// x[mask] = one value, x[t] = rows: forms that need no table of places. Empty when none fits.
Tensor set_simple(const Tensor& x, std::span<const Index> index, const Tensor& value) {
  if (index.size() != 1 || index[0].kind != Kind::kTensor) return {};
  const Tensor& t = index[0].values;
  if (is_bool(t.dtype()) && t.shape() == x.shape() && value.size() == 1 && t.rank() > 0) {
    return call1(ops().select, {t, reshape(cast(value, x.dtype()), {}), x});
  }
  if (is_int(t.dtype()) && x.rank() > 0 && t.rank() > 0 && t.shape().known()) {
    Shape region = t.shape();
    if (region.rank() + x.rank() - 1 > kMaxRank) return {};
    for (int d = 1; d < x.rank(); ++d) region.push_back(x.dim(d));
    Shape places = t.shape();
    places.push_back(1);
    return call1(ops().scatter,
                 {x, reshape(cast(t, DType::kInt64), places), fit_value(value, region, x)});
  }
  return {};
}

// x with the elements numbered by `places`, of an unknown number, set to value.
Tensor set_unknown(const Tensor& x, const Tensor& places, const Tensor& value) {
  Tensor flat = reshape(x, {x.size()}), rows = reshape(places, {-1, 1});
  Tensor taken = call1(ops().equal, {places, places});
  if (value.size() == 1) {  // needs no value per place
    Tensor none = Tensor::zeros(DType::kBool, flat.shape());
    Tensor mask = call1(ops().scatter, {none, rows, reshape(taken, {-1})});
    flat = call1(ops().select, {mask, reshape(value, {}), flat});
  } else {
    Tensor v = call1(ops().select, {taken, value, cast(places, x.dtype())});
    flat = call1(ops().scatter, {flat, rows, reshape(v, {-1})});
  }
  return reshape(flat, x.shape());
}

// Through a table of places: every element of x is numbered, the same index picks numbers, and the
// values are scattered to them.
Tensor set_advanced(const Tensor& x, std::span<const Index> index, const Tensor& value) {
  if (!x.shape().known()) {
    value_error("indexing: assignment through positions needs known dims, got {}", x.describe());
  }
  Tensor table = Tensor::empty(DType::kInt64, x.shape());
  std::span<int64_t> numbers = table.mutable_data<int64_t>();
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  Tensor places = get_item(table, index);
  if (!places.shape().known()) return set_unknown(x, places, cast(value, x.dtype()));
  Tensor v = fit_value(value, places.shape(), x);
  Tensor flat = call1(ops().scatter, {reshape(x, {x.size()}), reshape(places, {places.size(), 1}),
                                      reshape(v, {places.size()})});
  return reshape(flat, x.shape());
}

}  // namespace

Tensor get_item(const Tensor& x, std::span<const Index> index) {
  Plan p = normalize(x, index);
  return p.advanced ? advanced_item(p) : basic_item(p);
}

Tensor set_item(const Tensor& x, std::span<const Index> index, const Tensor& value) {
  if (Tensor simple = set_simple(x, index, value)) return simple;
  Plan p = normalize(x, index);
  return p.advanced ? set_advanced(x, index, value) : set_basic(p, value);
}

}  // namespace mycel::runtime
