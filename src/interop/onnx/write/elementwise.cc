// Elementwise ops whose dtypes or attributes ONNX says in another way.
#include "interop/onnx/tensors.h"
#include "interop/onnx/writing.h"

namespace mycel::interop::onnx {
namespace {

DType dtype_in(const Writing& w, int i) { return w.type(i).dtype; }

// ONNX's arithmetic knows no bools: their sum is "or", their product "and".
void write_or_of_bools(Writing& w, const char* op, const char* on_bools) {
  bool flags = is_bool(dtype_in(w, 0)) && is_bool(dtype_in(w, 1));
  w.result(w.emit(flags ? on_bools : op, {w.in(0), w.in(1)}));
}
void write_add(Writing& w) { write_or_of_bools(w, "Add", "Or"); }
void write_mul(Writing& w) { write_or_of_bools(w, "Mul", "And"); }

std::string as_bool(Writing& w, int i) { return w.cast(w.in(i), dtype_in(w, i), DType::kBool); }
template <const char* op>
void write_logic(Writing& w) {
  std::vector<std::string> in;
  for (int i = 0; i < w.inputs(); ++i) in.push_back(as_bool(w, i));
  w.result(w.emit(op, in));
}
constexpr char kAnd[] = "And", kOr[] = "Or", kXor[] = "Xor", kNot[] = "Not";

void write_where(Writing& w) { w.result(w.emit("Where", {as_bool(w, 0), w.in(1), w.in(2)})); }

void write_div(Writing& w) {
  DType to = w.result_type().dtype;
  if (w.has_attr("rounding_mode") && !w.attrs["rounding_mode"].none()) {
    if (is_int(to)) w.fail("integers with rounding_mode");
    std::string q = w.emit("Div", {w.in(0), w.in(1)});
    if (w.attrs.string("rounding_mode") == "floor") return w.result(w.emit("Floor", {q}));
    std::string sign = w.emit("Sign", {q});
    return w.result(w.emit("Mul", {sign, w.emit("Floor", {w.emit("Abs", {q})})}));
  }
  auto in = [&](int i) { return w.cast(w.in(i), dtype_in(w, i), to); };
  w.result(w.emit("Div", {in(0), in(1)}));
}

void write_mod(Writing& w) {
  // Of floats ONNX has the remainder with the sign of the first operand alone.
  if (is_int(dtype_in(w, 0))) return w.result(w.emit("Mod", {w.in(0), w.in(1)}));
  std::string times = w.emit("Floor", {w.emit("Div", {w.in(0), w.in(1)})});
  w.result(w.emit("Sub", {w.in(0), w.emit("Mul", {times, w.in(1)})}));
}

void write_cast(Writing& w) {
  DType from = dtype_in(w, 0), to = w.result_type().dtype;
  if (is_complex(from) || is_complex(to)) w.fail("{} to {}", name_of(from), name_of(to));
  w.result(w.emit("Cast", {w.in(0)}, {{"to", int64_t{code_of(to)}}}));
}

// Rounding leaves integers as they are.
template <const char* op>
void write_rounding(Writing& w) {
  w.result(w.emit(is_float(dtype_in(w, 0)) ? op : "Identity", {w.in(0)}));
}
constexpr char kFloor[] = "Floor", kCeil[] = "Ceil", kRound[] = "Round";

void write_is_nan(Writing& w) {
  if (is_float(dtype_in(w, 0))) return w.result(w.emit("IsNaN", {w.in(0)}));
  w.result(w.emit("Not", {w.emit("Equal", {w.in(0), w.in(0)})}));
}
void write_is_inf(Writing& w) {
  if (!is_float(dtype_in(w, 0)))
    return w.result(w.emit("Not", {w.emit("Equal", {w.in(0), w.in(0)})}));
  w.result(w.emit("IsInf", {w.in(0)}));
}

void write_shift(Writing& w) {
  if (!is_unsigned_int(dtype_in(w, 0))) w.fail("ONNX shifts unsigned integers alone");
  std::string way = w.node.op->def.onnx;
  w.result(w.emit("BitShift", {w.in(0), w.in(1)},
                  {{"direction", way.find("LEFT") == std::string::npos ? "RIGHT" : "LEFT"}}));
}

void write_invert(Writing& w) {
  w.result(w.emit(is_bool(dtype_in(w, 0)) ? "Not" : "BitwiseNot", {w.in(0)}));
}

constexpr Writer kWriters[] = {
    {"BitwiseNot", write_invert},
    {"Add", write_add},
    {"Mul", write_mul},
    {"And", write_logic<kAnd>},
    {"Or", write_logic<kOr>},
    {"Xor", write_logic<kXor>},
    {"Not", write_logic<kNot>},
    {"Where", write_where},
    {"Div", write_div},
    {"Mod", write_mod},
    {"Cast", write_cast},
    {"Floor", write_rounding<kFloor>},
    {"Ceil", write_rounding<kCeil>},
    {"Round", write_rounding<kRound>},
    {"IsNaN", write_is_nan},
    {"IsInf", write_is_inf},
    {"BitShift", write_shift},
};

}  // namespace

Writers elementwise_writers() { return kWriters; }

}  // namespace mycel::interop::onnx
