#include "data/general/values.h"

#include <algorithm>

#include "base/error.h"

namespace mycel::data {
namespace {

Value listed(const Options& o, std::string_view name, const Option::List& list) {
  const auto all = [&](auto&& is) { return std::all_of(list.begin(), list.end(), is); };
  if (all([](const Option& v) { return v.is<std::string>(); })) {
    std::vector<std::string> s;
    for (const Option& v : list) s.push_back(v.get<std::string>());
    return Value::list(std::move(s));
  }
  if (all([](const Option& v) { return v.is<int64_t>(); })) {
    std::vector<int64_t> n;
    for (const Option& v : list) n.push_back(v.get<int64_t>());
    return Tensor::from(n, {static_cast<int64_t>(n.size())});
  }
  if (all([](const Option& v) { return v.is_number(); })) {
    std::vector<double> n;
    for (const Option& v : list) n.push_back(v.real());
    return Tensor::from(n, {static_cast<int64_t>(n.size())});
  }
  type_error("{}: '{}' must hold numbers or strings, got {}", o.owner(), name, o[name].str());
}

}  // namespace

Value value_of(const Options& o, std::string_view name) {
  const Option& v = o[name];
  if (v.is<bool>()) return Tensor::scalar(DType::kBool, static_cast<int64_t>(v.get<bool>()));
  if (v.is<int64_t>()) return Tensor::scalar(DType::kInt64, v.get<int64_t>());
  if (v.is<double>()) return Tensor::scalar(DType::kFloat64, v.get<double>());
  if (v.is<std::string>()) return v.get<std::string>();
  if (v.is<Tensor>()) return v.get<Tensor>();
  if (v.is<Option::List>()) return listed(o, name, v.get<Option::List>());
  type_error("{}: '{}' must be a number, a string, a tensor or a list of these, got {}", o.owner(),
             name, v.str());
}

}  // namespace mycel::data
