// Parts of tensors: slices, splits, turned around.
#include "interop/tensorflow/ops/build.h"

namespace mycel::interop::tensorflow {
namespace {

Tensors slice(Call& c) {
  Tensor x = c.x(0);
  Ints begin = c.known_ints(1), size = c.known_ints(2);
  if (begin.size() != static_cast<size_t>(x.rank()) || size.size() != begin.size())
    c.fail("{} begins, {} sizes for {}", begin.size(), size.size(), x.shape().str());
  Dims d = c.dims(x);
  for (size_t k = 0; k < size.size(); ++k) {
    if (size[k] == -1) size[k] = d[k] - begin[k];
    if (begin[k] < 0 || size[k] < 0 || begin[k] > d[k] - size[k])
      c.fail("{} elements from {} of {}", size[k], begin[k], d[k]);
    if (begin[k] != 0 || size[k] != d[k])
      x = ops::narrow(x, static_cast<int64_t>(k), begin[k], size[k]);
  }
  return {x};
}

Tensors strided_slice(Call& c) {
  Ints begin = c.known_ints(1), end = c.known_ints(2), step = c.known_ints(3);
  if (begin.size() != end.size() || step.size() != begin.size())
    c.fail("{} begins, {} ends, {} steps", begin.size(), end.size(), step.size());
  if (c.flag("offset", false)) {
    for (size_t k = 0; k < end.size(); ++k) end[k] += begin[k];
  }
  return {ops::strided_slice(c.x(0), begin, end, step, c.integer("begin_mask", 0),
                             c.integer("end_mask", 0), c.integer("ellipsis_mask", 0),
                             c.integer("new_axis_mask", 0), c.integer("shrink_axis_mask", 0))};
}

// (axis, x), equal parts.
Tensors split(Call& c) {
  Tensor x = c.x(1);
  const int axis = axis_of(c, c.known_int(0), x.rank());
  const int64_t parts = c.integer("num_split", 0), n = c.dims(x)[static_cast<size_t>(axis)];
  if (parts < 1 || n % parts) c.fail("{} parts of {}", parts, n);
  Tensors out;
  for (int64_t i = 0; i < parts; ++i) out.push_back(ops::narrow(x, axis, n / parts * i, n / parts));
  return out;
}
Tensors split_v(Call& c) {
  Tensor x = c.x(0);
  Ints sizes = c.known_ints(1);
  const int axis = axis_of(c, c.known_int(2), x.rank());
  const int64_t n = c.dims(x)[static_cast<size_t>(axis)];
  int64_t rest = n, at = 0;
  for (int64_t s : sizes) rest -= s < 0 ? 0 : s;
  for (int64_t& s : sizes) {
    if (s < 0) s = rest;
  }
  Tensors out;
  for (int64_t s : sizes) {
    if (s < 0 || at > n - s) c.fail("parts of {} elements sum to more than {}", s, n);
    out.push_back(ops::narrow(x, axis, at, s));
    at += s;
  }
  return out;
}

Tensors reverse(Call& c) {
  Tensor x = c.x(0);
  Ints axes = c.known_ints(1);
  for (int64_t& a : axes) a = axis_of(c, a, x.rank());
  if (axes.empty()) return {x};
  return {ops::flip(x, axes)};
}
Tensors reverse_sequence(Call& c) {
  return {
      ops::reverse_sequence(c.x(0), c.x(1), c.integer("seq_dim", 0), c.integer("batch_dim", 0))};
}

Tensors dynamic_update_slice(Call& c) {
  Tensor x = c.x(0), part = c.x(1);
  Ints at = c.known_ints(2);
  Dims d = c.dims(x), p = c.dims(part);
  if (at.size() != d.size() || p.size() != d.size())
    c.fail("{} into {} at {} numbers", part.shape().str(), x.shape().str(), at.size());
  // Parts that stick out are moved inside. Row by row of each dim, outwards.
  for (size_t k = 0; k < d.size(); ++k)
    at[k] = std::clamp<int64_t>(at[k], 0, std::max<int64_t>(d[k] - p[k], 0));
  for (size_t k = d.size(); k-- > 0;) {
    const auto axis = static_cast<int64_t>(k);
    Tensor around = x;
    for (size_t j = 0; j < k; ++j)
      around = ops::narrow(around, static_cast<int64_t>(j), at[j], p[j]);
    Tensors parts;
    if (at[k] > 0) parts.push_back(ops::narrow(around, axis, 0, at[k]));
    parts.push_back(part);
    if (at[k] + p[k] < d[k])
      parts.push_back(ops::narrow(around, axis, at[k] + p[k], d[k] - at[k] - p[k]));
    if (parts.size() > 1) part = ops::concat(parts, axis);
  }
  return {part};
}

constexpr Record kRecords[] = {
    {65, "SLICE", "Slice", slice, moves, "1 2"},
    {45, "STRIDED_SLICE", "StridedSlice", strided_slice, moves, "1 2 3"},
    {49, "SPLIT", "Split", split, moves, "0"},
    {102, "SPLIT_V", "SplitV", split_v, moves, "1 2"},
    {105, "REVERSE_V2", "ReverseV2", reverse, moves, "1"},
    {112, "REVERSE_SEQUENCE", "ReverseSequence", reverse_sequence, moves},
    {151, "DYNAMIC_UPDATE_SLICE", "", dynamic_update_slice, moves, "2"},
};

}  // namespace

Records slice_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
