// Conditions of watchpoints: one record each, from which the debugger, its page, the terminal, the
// Python classes and the documentation derive. A condition holds when one of its tests is switched
// on and holds; a test compares something measured of a tensor with its threshold.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "insight/debug/statistics.h"

namespace mycel::insight::debug {

// What a value is to the program.
enum class Role { kTensor, kWeight, kGradient, kActivation, kLoss, kState };
const char* name_of(Role r);
std::optional<Role> role_named(const std::string& name);

// What is known of a value when a condition looks at it. Measured when it is first asked for.
class Facts {
 public:
  // `before`: the same one a step earlier, or empty. `finite_operands`: what it was computed from.
  Facts(Tensor value, Tensor before, bool first, bool finite_operands)
      : value_(std::move(value)),
        before_(std::move(before)),
        first_(first),
        finite_operands_(finite_operands) {}
  const Tensor& value() const { return value_; }
  const Statistics& now();
  const Change& change();
  int64_t changed(double rtol, double atol);
  double inside(double low, double high);
  bool has_before() const { return static_cast<bool>(before_); }
  bool first() const { return first_; }  // it is seen for the first time
  bool finite_operands() const { return finite_operands_; }

 private:
  Tensor value_, before_;
  bool first_, finite_operands_;
  std::optional<Statistics> now_;
  std::optional<Change> change_;
};

using Given = std::map<std::string, double>;

struct ParameterRecord {
  const char* name;
  const char* doc;
  const char* unit;  // "%", "ratio", "" for the tensor's own
  double otherwise;
  bool set;  // without being named; a test that is not set is off
  // Null: not a test but something that tests use.
  double (*measure)(Facts&, const Given&);
  char compare;  // '>', '<', 'g' (at least)
};

struct ConditionRecord {
  const char* name;
  const char* published;  // the class of the published offline API; "" where there is none
  Role role;              // what it looks at; kTensor: at everything
  const char* doc;
  const char* chinese;
  std::vector<ParameterRecord> parameters;
  // A test without a threshold: holds when this is above 0.
  double (*fixed)(Facts&, const Given&);
  bool compares;  // with the step before
};

const std::vector<ConditionRecord>& conditions();
// KeyError with the nearest name.
const ConditionRecord& condition_named(const std::string& name);

struct Finding {
  std::string parameter;  // "" of the fixed test
  double threshold = 0, measured = 0;
};

// Parameters that are given, and those that are set without. KeyError for an unknown one,
// ValueError for a condition on nothing.
Given complete(const ConditionRecord& c, const Given& given);
// The tests that hold; empty: no hit.
std::vector<Finding> check(const ConditionRecord& c, const Given& completed, Facts& facts);

// The records as JSON, for pages and tests, and as a table of Markdown, for the documentation.
std::string conditions_json();
std::string conditions_markdown();

}  // namespace mycel::insight::debug
