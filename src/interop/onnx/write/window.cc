// Convolutions, pools, resizing.
#include "interop/onnx/tensors.h"
#include "interop/onnx/writing.h"

namespace mycel::interop::onnx {
namespace {

using Ints = std::vector<int64_t>;

bool channel_last(const Writing& w) { return w.attrs.string("layout") == "channel_last"; }

// Channels to the second place and back.
std::string channels_first(Writing& w, const std::string& x) {
  if (!channel_last(w)) return x;
  int rank = w.type(0).shape.rank();
  Ints perm{0, rank - 1};
  for (int64_t d = 1; d + 1 < rank; ++d) perm.push_back(d);
  return w.emit("Transpose", {x}, {{"perm", perm}});
}
void give(Writing& w, const std::string& y) {
  if (!channel_last(w)) return w.result(y);
  int rank = w.result_type().shape.rank();
  Ints perm{0};
  for (int64_t d = 2; d < rank; ++d) perm.push_back(d);
  perm.push_back(1);
  w.result(w.emit("Transpose", {y}, {{"perm", perm}}));
}

// One number, one a dim, or two a dim; "before" of all dims first, as ONNX has them.
Ints pads_of(const Writing& w, size_t n) {
  const Ints& p = w.attrs.ints("padding");
  Ints before, after;
  for (size_t d = 0; d < n; ++d) {
    bool pairs = p.size() == 2 * n;
    before.push_back(pairs ? p[2 * d] : p[p.size() == n ? d : 0]);
    after.push_back(pairs ? p[2 * d + 1] : before.back());
  }
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

Ints each(const Ints& v, size_t n) { return v.size() == n ? v : Ints(n, v.at(0)); }

void padding_to(const Writing& w, size_t n, WrittenAttrs& with) {
  std::string mode = w.attrs.string("pad_mode");
  if (mode == "same") with.emplace_back("auto_pad", "SAME_UPPER");
  if (mode == "pad") with.emplace_back("pads", pads_of(w, n));
}

void write_conv(Writing& w) {
  auto n = static_cast<size_t>(w.type(0).shape.rank() - 2);
  WrittenAttrs with{{"strides", each(w.attrs.ints("stride"), n)},
                    {"dilations", each(w.attrs.ints("dilation"), n)},
                    {"group", w.attrs.integer("groups")}};
  padding_to(w, n, with);
  give(w, w.emit("Conv", {channels_first(w, w.in(0)), w.in(1), w.has(2) ? w.in(2) : ""}, with));
}

// The padding follows from the sizes, which must be known.
void write_conv_transpose(Writing& w) {
  auto n = static_cast<size_t>(w.type(0).shape.rank() - 2);
  Ints stride = each(w.attrs.ints("stride"), n), dilation = each(w.attrs.ints("dilation"), n);
  Ints before, after, more;
  int first = channel_last(w) ? 1 : 2;
  bool same = w.attrs.string("pad_mode") == "same", valid = w.attrs.string("pad_mode") == "valid";
  Ints given = same || valid ? Ints(2 * n, 0) : pads_of(w, n);
  for (size_t d = 0; d < n; ++d) {
    int axis = static_cast<int>(d);
    int64_t in = w.type(0).shape[first + axis], out = w.result_type().shape[first + axis];
    if (in == kUnknownDim || out == kUnknownDim) w.fail("the sizes must be known");
    int64_t full = (in - 1) * stride[d] + (w.type(1).shape[2 + axis] - 1) * dilation[d] + 1;
    int64_t total = same ? std::max<int64_t>(full - out, 0) : given[d] + given[d + n];
    before.push_back(same ? total / 2 : given[d]);
    after.push_back(total - before.back());
    more.push_back(out - (full - total));
    if (more.back() < 0) w.fail("a size that the padding does not give");
  }
  before.insert(before.end(), after.begin(), after.end());
  give(w, w.emit("ConvTranspose", {channels_first(w, w.in(0)), w.in(1)},
                 {{"strides", stride},
                  {"dilations", dilation},
                  {"pads", before},
                  {"output_padding", more},
                  {"group", w.attrs.integer("groups")}}));
}

WrittenAttrs window_of(Writing& w) {
  auto n = static_cast<size_t>(w.type(0).shape.rank() - 2);
  Ints kernel = each(w.attrs.ints("kernel_size"), n);
  const ir::Attr& stride = w.attrs["stride"];
  WrittenAttrs with{{"kernel_shape", kernel},
                    {"strides", stride.none() ? kernel : each(stride.ints(), n)},
                    {"ceil_mode", int64_t{w.attrs.boolean("ceil_mode")}}};
  padding_to(w, n, with);
  return with;
}

void write_max_pool(Writing& w) {
  if (w.node.types.size() > 1) w.fail("the places of the maxima");
  WrittenAttrs with = window_of(w);
  with.emplace_back(
      "dilations", each(w.attrs.ints("dilation"), static_cast<size_t>(w.type(0).shape.rank() - 2)));
  give(w, w.emit("MaxPool", {channels_first(w, w.in(0))}, with));
}

void write_average_pool(Writing& w) {
  if (w.attrs.integer("divisor_override") != 0) w.fail("divisor_override");
  WrittenAttrs with = window_of(w);
  // What "same" adds is not counted.
  bool counted = w.attrs.boolean("count_include_pad") && w.attrs.string("pad_mode") == "pad";
  with.emplace_back("count_include_pad", int64_t{counted});
  give(w, w.emit("AveragePool", {channels_first(w, w.in(0))}, with));
}

// Windows that divide the input evenly, or one over all of it.
void write_adaptive_pool(Writing& w, const char* all, const char* windows) {
  Ints kernel;
  int first = channel_last(w) ? 1 : 2;
  bool whole = true;
  for (size_t d = 0; d < w.attrs.ints("output_size").size(); ++d) {
    int64_t n = w.type(0).shape[first + static_cast<int>(d)], to = w.attrs.ints("output_size")[d];
    whole = whole && to == 1;
    if (to != 1 && (n == kUnknownDim || n % to)) w.fail("{} positions from {}", to, n);
    kernel.push_back(to == 1 ? n : n / to);
  }
  std::string x = channels_first(w, w.in(0));
  if (whole) return give(w, w.emit(all, {x}));
  for (int64_t k : kernel) {
    if (k == kUnknownDim) w.fail("the sizes must be known");
  }
  give(w, w.emit(windows, {x}, {{"kernel_shape", kernel}, {"strides", kernel}}));
}
void write_global_average(Writing& w) {
  write_adaptive_pool(w, "GlobalAveragePool", "AveragePool");
}
void write_global_max(Writing& w) { write_adaptive_pool(w, "GlobalMaxPool", "MaxPool"); }

void write_resize(Writing& w) {
  std::string method = w.attrs.string("method"), at = w.attrs.string("coordinates");
  if (method == "area") w.fail("method 'area'");
  if (w.attrs.real("scale") > 0) w.fail("a scale that is not the ratio of the sizes");
  WrittenAttrs with{{"mode", method},
                    {"coordinate_transformation_mode", at},
                    {"cubic_coeff_a", w.attrs.real("cubic")},
                    {"exclude_outside", int64_t{w.attrs.boolean("drop_outside")}},
                    {"nearest_mode", at == "asymmetric" ? "floor" : "round_prefer_ceil"}};
  Ints sizes = w.known_dims(w.result_type());
  w.result(w.emit("Resize", {w.in(0), "", "", w.ints(sizes)}, with));
}

constexpr Writer kWriters[] = {
    {"Conv", write_conv},
    {"ConvTranspose", write_conv_transpose},
    {"MaxPool", write_max_pool},
    {"AveragePool", write_average_pool},
    {"GlobalAveragePool", write_global_average},
    {"GlobalMaxPool", write_global_max},
    {"Resize", write_resize},
};

}  // namespace

Writers window_writers() { return kWriters; }

}  // namespace mycel::interop::onnx
