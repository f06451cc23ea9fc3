// Arguments of the records of this room (transforms, sources): values as a program or Python writes
// them, and lines that say which are allowed:
//
//   "size: ints"                          one int or several
//   "interpolation: Inter = BILINEAR"     a member of a named choice
//   "padding: ints? = None"               may be None
//   "scale: numbers = (0.08, 1.0)"
//
// Kinds: bool, int, number, string, ints, numbers, strings, dtype, tensor, transform, transforms,
// any; a word with a capital letter is a choice (data/choices.cc).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "tensor/tensor.h"

namespace mycel::data {

class Transform;
using TransformPtr = std::shared_ptr<const Transform>;

// None, a bool, an int, a number, a string, a tensor, a transform, or a list of these.
class Option {
 public:
  using List = std::vector<Option>;

  Option() = default;                                       // None
  Option(bool v) : v_(v) {}                                 // NOLINT(google-explicit-constructor)
  Option(int v) : v_(static_cast<int64_t>(v)) {}            // NOLINT
  Option(int64_t v) : v_(v) {}                              // NOLINT
  Option(double v) : v_(v) {}                               // NOLINT
  Option(const char* v) : v_(std::string(v)) {}             // NOLINT
  Option(std::string v) : v_(std::move(v)) {}               // NOLINT
  Option(Tensor v) : v_(std::move(v)) {}                    // NOLINT
  Option(DType v) : v_(std::string(name_of(v))) {}          // NOLINT
  Option(TransformPtr v) : v_(std::move(v)) {}              // NOLINT
  Option(List v) : v_(std::move(v)) {}                      // NOLINT
  Option(std::initializer_list<Option> v) : v_(List(v)) {}  // NOLINT

  bool none() const { return v_.index() == 0; }
  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(v_);
  }
  template <typename T>
  const T& get() const {
    return std::get<T>(v_);
  }
  bool is_number() const { return is<int64_t>() || is<double>(); }
  double real() const { return is<double>() ? get<double>() : static_cast<double>(get<int64_t>()); }
  // As Python would print it; transforms by name, tensors by type.
  std::string str() const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Tensor, TransformPtr, List> v_;
};

using NamedOption = std::pair<std::string, Option>;
using NamedOptions = std::vector<NamedOption>;

// A closed set of names for an argument, an enumeration in Python. Each member has the number or
// text that the published API gives it.
struct Choice {
  struct Member {
    const char* name;
    Option value;
  };
  const char* name;  // "Inter"
  const char* doc;
  std::vector<Member> members;
};
const std::vector<Choice>& all_choices();  // choices.cc
const Choice* find_choice(std::string_view name);

enum class OptionKind : uint8_t {
  kBool,
  kInt,
  kNumber,
  kString,
  kInts,
  kNumbers,
  kStrings,
  kDType,
  kTensor,
  kTransform,
  kTransforms,
  kAny,
  kChoice
};

struct OptionSpec {
  std::string name;
  OptionKind kind = OptionKind::kAny;
  const Choice* choice = nullptr;
  bool may_be_none = false, has_default = false;
  Option fallback;  // the default, when has_default
};

// The parsed lines of a record. MYCEL_CHECK: the lines follow the grammar.
class OptionSpecs {
 public:
  OptionSpecs(std::string owner, const std::vector<const char*>& lines);
  const std::string& owner() const { return owner_; }
  const std::vector<OptionSpec>& specs() const { return specs_; }
  int index(std::string_view name) const;  // -1 when there is none
  std::string str() const;                 // "Resize(size, interpolation=BILINEAR)"

 private:
  std::string owner_;
  std::vector<OptionSpec> specs_;
};

// Complete, checked arguments of one use of a record; look-ups are by name, for set-up only.
class Options {
 public:
  // TypeError for a missing, unknown or repeated one and for a value of another kind; ValueError
  // for no member of a choice. A list is a copy with its elements checked; a single number stands
  // for a list of one.
  Options(std::shared_ptr<const OptionSpecs> specs, const NamedOptions& given);

  const std::string& owner() const { return specs_->owner(); }
  const OptionSpecs& specs() const { return *specs_; }
  const Option& operator[](std::string_view name) const;
  bool none(std::string_view name) const { return (*this)[name].none(); }
  bool boolean(std::string_view name) const { return (*this)[name].get<bool>(); }
  int64_t integer(std::string_view name) const { return (*this)[name].get<int64_t>(); }
  double real(std::string_view name) const { return (*this)[name].real(); }
  const std::string& string(std::string_view name) const {
    return (*this)[name].get<std::string>();
  }
  // The name of the member ("BILINEAR").
  const std::string& choice(std::string_view name) const { return string(name); }
  DType dtype(std::string_view name) const;
  const Tensor& tensor(std::string_view name) const { return (*this)[name].get<Tensor>(); }
  const TransformPtr& transform(std::string_view name) const {
    return (*this)[name].get<TransformPtr>();
  }
  // Empty for None.
  std::vector<int64_t> ints(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  std::vector<std::string> strings(std::string_view name) const;
  std::vector<TransformPtr> transforms(std::string_view name) const;

  // Checked numbers; ValueError naming owner and argument.
  int64_t positive(std::string_view name) const;
  double within(std::string_view name, double low, double high) const;  // ends included
  // Two numbers low <= high, both in [least, most].
  std::pair<double, double> range(std::string_view name, double least, double most) const;
  // "Resize: 'size' <text>"
  template <typename... A>
  [[noreturn]] void fail(std::string_view name, fmt::format_string<A...> f, A&&... a) const {
    throw UserError(ErrorKind::kValue, fmt::format("{}: '{}' {}", owner(), name,
                                                   fmt::format(f, std::forward<A>(a)...)));
  }

 private:
  std::shared_ptr<const OptionSpecs> specs_;
  std::vector<Option> values_;
};

}  // namespace mycel::data
