// Reading and checking the table form of a nest: afterwards every position lies in its list, lists
// of statements end, and operands have the types that their operation takes.
#include <cstring>

#include "lite/runtime/nest_analysis.h"
#include "lite/runtime/nest_program.h"

namespace mycel::lite {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 40;
constexpr int kMostNesting = 48;

bool valid(uint8_t dtype) { return dtype < kDTypeCount; }

// Arguments of an operation, and whether their types fit its own. `arg` gives dtypes.
bool fits(Op op, DType type, const DType* arg, int count) {
  if (is_complex(type) || type == DType::kFloat16 || type == DType::kBFloat16) return false;
  auto all = [&](int n, DType t) {
    if (count != n) return false;
    for (int i = 0; i < n; ++i) {
      if (arg[i] != t) return false;
    }
    return true;
  };
  switch (op) {
    case Op::kLiteral:
    case Op::kNumber:
    case Op::kVar:
      return count == 0;
    case Op::kIndex:
      return count == 0 && type == DType::kInt64;
    case Op::kLoad:
      return all(1, DType::kInt64);
    case Op::kArgument:
      return false;
    case Op::kSelect:
      return count == 3 && arg[0] == DType::kBool && arg[1] == type && arg[2] == type;
    case Op::kFma:
    case Op::kMulAdd:
      return is_float(type) && all(3, type);
    case Op::kCast:
      return count == 1;
    case Op::kBitcast:
      return count == 1 && size_of(arg[0]) == size_of(type);
    default:
      break;
  }
  if (loops::is_comparison(op)) return count == 2 && arg[0] == arg[1] && type == DType::kBool;
  const bool two = (op >= Op::kAdd && op <= Op::kPow);
  if (op > Op::kLgamma) return false;
  if ((loops::is_function(op) || (op >= Op::kFloor && op <= Op::kSqrt)) && !is_float(type) &&
      op != Op::kPow) {
    return false;
  }
  if (op == Op::kPow && !is_float(type)) return false;
  return all(two ? 2 : 1, type);
}

template <typename T>
size_t size(const flatbuffers::Vector<T>* v) {
  return v ? v->size() : 0;
}

// Numbers copied as bytes: in a damaged file they need not lie at a multiple of their size.
template <typename T>
std::vector<T> structs(const flatbuffers::Vector<const T*>* v) {
  std::vector<T> out(size(v));
  if (!out.empty()) std::memcpy(static_cast<void*>(out.data()), v->Data(), out.size() * sizeof(T));
  return out;
}
template <typename T>
std::vector<T> numbers(const flatbuffers::Vector<T>* v) {
  std::vector<T> out(size(v));
  if (!out.empty()) std::memcpy(out.data(), v->Data(), out.size() * sizeof(T));
  return out;
}

}  // namespace

std::string NestProgram::load(const file::Nest& nest) {
  for (const file::Buffer& b : structs(nest.buffers())) {
    if (!valid(b.dtype()) || b.role() > 2 || b.elements() < 0 || b.elements() > kMostElements) {
      return "a buffer of an unknown kind";
    }
    if (!buffers_.empty() && buffers_.back().role > b.role()) return "buffers out of order";
    const auto dtype = static_cast<DType>(b.dtype());
    buffers_.push_back({dtype, b.role(), static_cast<uint64_t>(b.elements())});
    if (b.role() == 2) {
      scratch_.push_back({static_cast<uint64_t>(b.elements()) * size_of(dtype)});
    } else {
      ++operands_;
    }
  }
  numbers_ = numbers(nest.numbers());
  for (uint8_t t : numbers(nest.vars())) {
    if (!valid(t)) return "a variable of an unknown type";
    vars_.push_back({static_cast<DType>(t)});
    if (!fits(Op::kVar, vars_.back().dtype, nullptr, 0)) return "a variable of a type of memory";
  }
  for (const file::Expr& x : structs(nest.exprs())) {
    E e{};
    if (x.op() > static_cast<uint8_t>(Op::kLgamma) || !valid(x.dtype()) || x.count() > 3) {
      return "an unknown operation";
    }
    e.op = static_cast<Op>(x.op());
    e.dtype = static_cast<DType>(x.dtype());
    e.count = x.count();
    e.index = x.index();
    e.bits = x.bits();
    const int32_t given[3] = {x.a(), x.b(), x.c()};
    DType types[3] = {};
    for (int k = 0; k < e.count; ++k) {
      e.arg[k] = given[k];
      if (given[k] < 0 || given[k] >= static_cast<int32_t>(exprs_.size())) {
        return "an operand that comes later";
      }
      types[k] = exprs_[given[k]].dtype;
    }
    e.from = e.count ? types[0] : e.dtype;
    if (!fits(e.op, e.dtype, types, e.count)) return "operands of the wrong types";
    const auto i = static_cast<size_t>(e.index);
    if (e.op == Op::kLoad) {
      if (i >= buffers_.size()) return "a load from no buffer";
      if (lane_type(buffers_[i].dtype) != lane_type(e.dtype)) return "a load of the wrong type";
    }
    if (e.op == Op::kVar && (i >= vars_.size() || vars_[i].dtype != e.dtype)) {
      return "a variable that does not exist";
    }
    if (e.op == Op::kNumber && i >= numbers_.size()) return "a number that does not exist";
    exprs_.push_back(e);
  }
  const auto expressions = static_cast<int32_t>(exprs_.size());
  auto expression = [&](int32_t i) { return i >= 0 && i < expressions; };
  const std::vector<file::Stmt> given = structs(nest.stmts());
  std::vector<int> depth(given.size(), 0);
  for (size_t at = 0; at < given.size(); ++at) {
    const file::Stmt& x = given[at];
    S s{};
    s.kind = static_cast<Kind>(x.kind());
    s.loop = x.loop();
    s.index = x.index(), s.a = x.a(), s.b = x.b();
    s.body = x.body(), s.other = x.other(), s.next = x.next();
    if (x.kind() > kIf || !expression(s.a)) return "an unknown statement";
    for (int32_t to : {s.body, s.other, s.next}) {
      if (to != -1 && (to <= static_cast<int32_t>(at) || to >= static_cast<int32_t>(given.size())))
        return "a statement that goes back";
    }
    depth_ = std::max(depth_, depth[at]);
    if (s.next >= 0) depth[s.next] = std::max(depth[s.next], depth[at]);
    for (int32_t to : {s.body, s.other}) {
      if (to >= 0) depth[to] = std::max(depth[to], depth[at] + 1);
    }
    if (depth[at] > kMostNesting) return "too many loops inside each other";
    const DType a = exprs_[s.a].dtype;
    const auto i = static_cast<size_t>(s.index);
    bool good = true;
    switch (s.kind) {
      case kLet:
        break;
      case kStore:
        good = expression(s.b) && a == DType::kInt64 && i < buffers_.size() &&
               buffers_[i].role != 0 &&
               lane_type(buffers_[i].dtype) == lane_type(exprs_[s.b].dtype);
        break;
      case kSet:
        good = i < vars_.size() && vars_[i].dtype == a;
        break;
      case kLoop:
        good = expression(s.b) && a == DType::kInt64 && exprs_[s.b].op == Op::kIndex && s.loop < 3;
        break;
      case kWhile:
      case kIf:
        good = a == DType::kBool;
        break;
    }
    if (!good) return "a statement on the wrong types";
    stmts_.push_back(s);
  }
  auto list = [&](int32_t i) { return i >= -1 && i < static_cast<int32_t>(stmts_.size()); };
  for (const file::Stage& x : structs(nest.stages())) {
    if (x.extent() < 0 || x.extent() > kMostElements || !expression(x.induction()) ||
        exprs_[x.induction()].op != Op::kIndex || !list(x.body())) {
      return "a stage without a loop";
    }
    stages_.push_back({x.extent(), x.cost(), x.induction(), x.body()});
  }
  preamble_ = nest.preamble();
  if (!list(preamble_)) return "no preamble";
  for (int32_t s = preamble_; s >= 0; s = stmts_[s].next) {
    if (stmts_[s].kind != kLet) return "a preamble that does something";
  }
  NestAnalysis(*this).run();
  return "";
}

}  // namespace mycel::lite
