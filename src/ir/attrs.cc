#include "ir/attrs.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "ir/function.h"

namespace mycel::ir {
namespace {

void mix(size_t& h, size_t v) { h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2); }

std::string real_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  std::string s = fmt::format("{}", v);
  return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

double Attr::real() const {
  if (is<int64_t>()) return static_cast<double>(integer());
  return std::get<double>(v_);
}

FunctionPtr Attr::function() const {
  if (owns()) return std::get<FunctionPtr>(v_);
  FunctionPtr f = std::get<std::weak_ptr<Function>>(v_).lock();
  MYCEL_CHECK(f, "a function is used after those that kept it alive");
  return f;
}

bool Attr::operator==(const Attr& o) const {
  if (is<FunctionPtr>() && o.is<FunctionPtr>()) return function() == o.function();
  if (v_.index() != o.v_.index()) return false;
  if (is<Tensor>()) return tensor().same(o.tensor());
  if (is<double>()) return std::memcmp(&std::get<double>(v_), &std::get<double>(o.v_), 8) == 0;
  return std::visit(
      [&](const auto& a) {
        using T = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, std::weak_ptr<Function>>) {
          return false;  // compared above
        } else {
          return a == std::get<T>(o.v_);
        }
      },
      v_);
}

size_t Attr::hash() const {
  if (is<FunctionPtr>()) return std::hash<const void*>()(function().get());
  size_t h = v_.index();
  if (is<bool>()) mix(h, boolean());
  if (is<int64_t>()) mix(h, static_cast<size_t>(integer()));
  if (is<double>()) mix(h, std::hash<double>()(std::get<double>(v_)));
  if (is<std::string>()) mix(h, std::hash<std::string>()(string()));
  if (is<Ints>()) {
    for (int64_t v : ints()) mix(h, static_cast<size_t>(v));
  }
  if (is<Floats>()) {
    for (double v : floats()) mix(h, std::hash<double>()(v));
  }
  if (is<DType>()) mix(h, static_cast<size_t>(dtype()));
  if (is<GraphPtr>()) mix(h, std::hash<const void*>()(graph().get()));
  if (is<Tensor>()) mix(h, std::hash<const void*>()(tensor().impl().get()));
  if (is<CallbackPtr>()) mix(h, std::hash<const void*>()(callback().get()));
  return h;
}

std::string Attr::str() const {
  if (none()) return "None";
  if (is<bool>()) return boolean() ? "True" : "False";
  if (is<int64_t>()) return fmt::format("{}", integer());
  if (is<double>()) return real_text(std::get<double>(v_));
  if (is<std::string>()) return quoted(string());
  if (is<Ints>()) return fmt::format("[{}]", fmt::join(ints(), ", "));
  if (is<Floats>()) {
    std::string s = "[";
    for (size_t i = 0; i < floats().size(); ++i) s += (i ? ", " : "") + real_text(floats()[i]);
    return s + "]";
  }
  if (is<DType>()) return std::string(name_of(dtype()));
  if (is<Tensor>()) return "tensor " + tensor().describe();
  if (is<FunctionPtr>()) return "@" + function()->name;
  return is<CallbackPtr>() ? "callback" : "graph";
}

size_t Attrs::hash() const {
  size_t h = size();
  for (size_t i = 0; i < size(); ++i) mix(h, (*this)[i].hash());
  return h;
}

std::vector<Attr>& Attrs::own() {
  if (!list_) {
    list_ = make_ref<List>(std::vector<Attr>());
  } else if (!list_->unique()) {
    list_ = make_ref<List>(list_->v);
  }
  return list_->v;
}

}  // namespace mycel::ir
