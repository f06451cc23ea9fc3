// Reductions, running sums, positions of extremes, softmax.
#include "interop/onnx/tensors.h"
#include "interop/onnx/writing.h"

namespace mycel::interop::onnx {
namespace {

using Ints = std::vector<int64_t>;

// None and no axes both mean all of them.
std::string axes_of(Writing& w) {
  const ir::Attr& axis = w.attrs["axis"];
  return axis.none() || axis.ints().empty() ? "" : w.ints(axis.ints());
}

std::string reduced(Writing& w, const char* op, const std::string& x) {
  return w.emit(op, {x, axes_of(w)}, {{"keepdims", int64_t{w.attrs.boolean("keep_dims")}}});
}

template <const char* op>
void write_reduce(Writing& w) {
  DType from = w.type(0).dtype, to = w.result_type().dtype;
  if (w.node.types.size() > 1) w.fail("ONNX has no op of this meaning");
  // Bools are compared as numbers.
  DType work = is_bool(from) ? DType::kInt32 : from;
  std::string x = w.in(0);
  if (is_bool(to) && !is_bool(from)) {  // all, any of numbers
    x = w.cast(x, from, DType::kBool);
    from = DType::kBool;
    work = DType::kInt32;
  }
  std::string y = reduced(w, op, w.cast(x, from, work));
  w.result(w.cast(y, work, to));
}
constexpr char kSum[] = "ReduceSum", kMean[] = "ReduceMean", kMax[] = "ReduceMax";
constexpr char kMin[] = "ReduceMin", kProd[] = "ReduceProd", kL2[] = "ReduceL2";
constexpr char kSquares[] = "ReduceSumSquare", kLogSumExp[] = "ReduceLogSumExp";

template <const char* op>
void write_position(Writing& w) {
  if (is_bool(w.dtype(0))) w.recast(0, DType::kInt32);
  std::string y = w.emit(
      op, {w.in(0)},
      {{"axis", w.attrs.integer("axis")}, {"keepdims", int64_t{w.attrs.boolean("keep_dims")}}});
  w.result(w.cast(y, DType::kInt64, w.result_type().dtype));
}
constexpr char kArgMax[] = "ArgMax", kArgMin[] = "ArgMin";

void write_cumsum(Writing& w) {
  DType to = w.result_type().dtype;
  std::string x = w.cast(w.in(0), w.type(0).dtype, to);
  std::string axis = w.out.constant(Tensor::scalar(DType::kInt64, w.attrs.integer("axis")));
  w.result(w.emit("CumSum", {x, axis},
                  {{"exclusive", int64_t{w.attrs.boolean("exclusive")}},
                   {"reverse", int64_t{w.attrs.boolean("reverse")}}}));
}

template <const char* op>
void write_softmax(Writing& w) {
  DType to = w.result_type().dtype;
  std::string x = w.cast(w.in(0), w.type(0).dtype, to);
  w.result(w.emit(op, {x}, {{"axis", w.attrs.integer("axis")}}));
}
constexpr char kSoftmax[] = "Softmax", kLogSoftmax[] = "LogSoftmax";

constexpr Writer kWriters[] = {
    {kSum, write_reduce<kSum>},
    {kMean, write_reduce<kMean>},
    {kMax, write_reduce<kMax>},
    {kMin, write_reduce<kMin>},
    {kProd, write_reduce<kProd>},
    {kL2, write_reduce<kL2>},
    {kSquares, write_reduce<kSquares>},
    {kLogSumExp, write_reduce<kLogSumExp>},
    {kArgMax, write_position<kArgMax>},
    {kArgMin, write_position<kArgMin>},
    {"CumSum", write_cumsum},
    {kSoftmax, write_softmax<kSoftmax>},
    {kLogSoftmax, write_softmax<kLogSoftmax>},
};

}  // namespace

Writers reduce_writers() { return kWriters; }

}  // namespace mycel::interop::onnx
