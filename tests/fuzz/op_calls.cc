// Writes random calls of ops as lines of JSON, for compare_ops.py: operands and attributes drawn
// from the cases of the records, as they are, in other dtypes, with extreme values, with other
// shapes, or with attributes out of range.
//   mycel_op_calls COUNT SEED [OP...]
// With --run before COUNT it makes the calls instead, and counts what was computed and refused: for
// builds with sanitizers.
#include <cstdio>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "op_cases.h"
#include "runtime/dispatch.h"

namespace mycel {
namespace {

using Json = nlohmann::json;
using op_cases::Case;

class Calls {
 public:
  Calls(uint64_t seed, const std::vector<std::string>& names) : draw_(seed, 17) {
    ir::ensure_ops();
    for (const ir::Op* op : ir::all_ops()) {
      if (!names.empty() && std::find(names.begin(), names.end(), op->name) == names.end())
        continue;
      op_cases::OpCases cases = op_cases::read_cases(*op);
      if (!cases.cases.empty() && !op->holds_code) ops_.push_back(std::move(cases));
    }
  }
  bool any() const { return !ops_.empty(); }

  struct Call {
    const ir::Op* op;
    const char* kind;
    Tensors in;
    ir::Attrs attrs;
    std::vector<std::string> names;  // of the operands
  };
  Call next() {
    const auto& cases = ops_[draw_.below(ops_.size())].cases;
    Case c = cases[draw_.below(cases.size())];
    c.seed = draw_.below(1u << 30);
    Tensors in = fresh(c);
    ir::Attrs attrs = c.attrs;
    const char* kind = "valid";
    switch (draw_.below(8)) {
      case 0:
        kind = "extreme values";
        for (Tensor& t : in) extreme(t);
        break;
      case 1:
        kind = "shape";
        reshape(c, in);
        break;
      case 2:
        kind = "attribute";
        attrs = odd(c, attrs);
        break;
      default:
        break;
    }
    Call call{c.op, kind, std::move(in), std::move(attrs), {}};
    for (size_t i = 0; i < call.in.size(); ++i) call.names.emplace_back(c.spec(i).name);
    return call;
  }

  static Json json(const Call& c) {
    Json line = {{"op", c.op->name}, {"kind", c.kind}, {"operands", Json::array()}};
    for (const Tensor& t : c.in) line["operands"].push_back(json(t));
    line["names"] = c.names;
    line["attrs"] = Json::object();
    for (size_t i = 0; i < c.attrs.size(); ++i)
      line["attrs"][c.op->attrs[i].name] = json(c.attrs[i]);
    return line;
  }

 private:
  // New values, in one of the dtypes that operands may have.
  Tensors fresh(const Case& c) {
    std::vector<DType> kinds = c.inputs.empty() ? std::vector<DType>{} : c.allowed(0);
    DType shared = kinds.empty() ? DType::kFloat32 : kinds[draw_.below(kinds.size())];
    Tensors in;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      if (!c.inputs[i]) {
        in.emplace_back();
        continue;
      }
      std::vector<DType> own = c.allowed(i);
      DType d = c.follows_first(i) ? shared : own[draw_.below(own.size())];
      in.push_back(c.remade(i, d, c.inputs[i].shape()));
    }
    return in;
  }

  void extreme(Tensor& t) {
    if (!t || t.size() == 0) return;
    Tensor copy = Tensor::empty(t.dtype(), t.shape());
    std::copy_n(static_cast<const char*>(t.raw()), t.bytes(),
                static_cast<char*>(copy.mutable_raw()));
    auto put = [&]<typename T>(std::initializer_list<T> values) {
      auto* to = static_cast<T*>(copy.mutable_raw());
      for (int k = 0; k < 3; ++k)
        to[draw_.below(static_cast<uint64_t>(t.size()))] =
            *(values.begin() + draw_.below(values.size()));
    };
    auto floats = [&]<typename T>() {
      using L = std::numeric_limits<T>;
      put(std::initializer_list<T>{L::quiet_NaN(), L::infinity(), -L::infinity(), T(0), -T(0),
                                   L::max(), L::lowest(), L::denorm_min(), T(1e10), T(-1e-10)});
    };
    auto ints = [&]<typename T>() {
      using L = std::numeric_limits<T>;
      put(std::initializer_list<T>{L::min(), L::max(), T(0), T(1), T(-1)});
    };
    switch (t.dtype()) {
      case DType::kFloat32:
        floats.template operator()<float>();
        break;
      case DType::kFloat64:
        floats.template operator()<double>();
        break;
      case DType::kInt8:
        ints.template operator()<int8_t>();
        break;
      case DType::kInt16:
        ints.template operator()<int16_t>();
        break;
      case DType::kInt32:
        ints.template operator()<int32_t>();
        break;
      case DType::kInt64:
        ints.template operator()<int64_t>();
        break;
      case DType::kUInt8:
        ints.template operator()<uint8_t>();
        break;
      default:
        return;
    }
    t = copy;
  }

  void reshape(const Case& c, Tensors& in) {
    size_t i = draw_.below(in.size() ? in.size() : 1);
    if (i >= in.size() || !in[i]) return;
    std::vector<int64_t> dims(in[i].shape().begin(), in[i].shape().end());
    uint64_t what = draw_.below(4);
    if (what == 0 && !dims.empty())
      dims.erase(dims.begin() + static_cast<long>(draw_.below(dims.size())));
    if (what == 1)
      dims.insert(dims.begin() + static_cast<long>(draw_.below(dims.size() + 1)),
                  1 + draw_.below(2));
    if (what >= 2 && !dims.empty()) {
      int64_t& d = dims[draw_.below(dims.size())];
      d = what == 2 ? static_cast<int64_t>(draw_.below(2)) : d + 1;
    }
    try {
      in[i] = c.remade(i, in[i].dtype(), Shape(dims));
    } catch (const InternalError&) {
      // There are no such values, a regular matrix of one axis say.
    }
  }

  ir::Attrs odd(const Case& c, ir::Attrs attrs) {
    if (attrs.empty()) return attrs;
    size_t i = draw_.below(attrs.size());
    const ir::Attr& a = attrs[i];
    static constexpr int64_t kInts[] = {-100, -4, -1, 0, 1, 2, 5, 1000};
    static constexpr double kReals[] = {-1, 0, 0.5, 1, 2, 1e30};
    int64_t n = kInts[draw_.below(std::size(kInts))];
    if (a.is<int64_t>()) attrs.set(i, n);
    if (a.is<double>()) attrs.set(i, kReals[draw_.below(std::size(kReals))]);
    if (a.is<std::string>()) attrs.set(i, "nonsense");
    if (a.is<bool>()) attrs.set(i, !a.boolean());
    if (a.is<ir::Attr::Ints>()) {
      ir::Attr::Ints list = a.ints();
      if (list.empty() || draw_.below(3) == 0) {
        list.push_back(n);
      } else {
        list[draw_.below(list.size())] = n;
      }
      attrs.set(i, list);
    }
    static_cast<void>(c);
    return attrs;
  }

  static Json json(const Tensor& t) {
    if (!t) return nullptr;
    std::string hex;
    const auto* bytes = static_cast<const unsigned char*>(t.raw());
    for (size_t k = 0; k < t.bytes(); ++k) hex += fmt::format("{:02x}", bytes[k]);
    return {{"dtype", name_of(t.dtype())},
            {"shape", std::vector<int64_t>(t.shape().begin(), t.shape().end())},
            {"data", hex}};
  }
  static Json json(const ir::Attr& a) {
    if (a.is<bool>()) return a.boolean();
    if (a.is<int64_t>()) return a.integer();
    if (a.is<double>()) return a.real();
    if (a.is<std::string>()) return a.string();
    if (a.is<ir::Attr::Ints>()) return a.ints();
    if (a.is<ir::Attr::Floats>()) return a.floats();
    if (a.is<DType>()) return {{"dtype", name_of(a.dtype())}};
    if (a.is<Tensor>()) return json(a.tensor());
    return nullptr;
  }

  Philox draw_;
  std::vector<op_cases::OpCases> ops_;
};

}  // namespace
}  // namespace mycel

namespace {

// Makes calls; gives 0 unless one ended in an error that is not the caller's.
int run(mycel::Calls& calls, unsigned long count) {
  unsigned long computed = 0, refused = 0, broken = 0;
  for (unsigned long n = 0; n < count; ++n) {
    const mycel::Calls::Call c = calls.next();
    try {
      mycel::runtime::call(*c.op, c.in, c.attrs);
      ++computed;
    } catch (const mycel::UserError&) {
      ++refused;
    } catch (const std::exception& e) {
      ++broken;
      std::printf("%s\n  %s\n", mycel::Calls::json(c).dump().c_str(), e.what());
    }
  }
  std::printf("%lu computed, %lu refused, %lu broken\n", computed, refused, broken);
  return broken > 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool runs = argc > 1 && std::string_view(argv[1]) == "--run";
  if (runs) --argc, ++argv;
  if (argc < 3) {
    std::fprintf(stderr, "usage: mycel_op_calls [--run] COUNT SEED [OP...]\n");
    return 2;
  }
  mycel::Calls calls(std::strtoull(argv[2], nullptr, 10), {argv + 3, argv + argc});
  if (!calls.any()) {
    std::fprintf(stderr, "mycel_op_calls: none of these ops has cases\n");
    return 1;
  }
  const unsigned long count = std::strtoul(argv[1], nullptr, 10);
  if (runs) return run(calls, count);
  for (unsigned long n = count; n > 0; --n)
    std::printf("%s\n", mycel::Calls::json(calls.next()).dump().c_str());
  return 0;
}
