// The columns of the generic op tests, one function each; run_column (op_checks.cc) names them.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "op_cases.h"

namespace mycel::op_cases {

// What a column writes to.
class Report {
 public:
  void fail(const std::string& what, const std::string& text) {
    failures.push_back(what + ": " + text);
  }
  void check(const std::string& what, const std::string& text) {
    ++checked;
    if (!text.empty()) fail(what, text);
  }
  std::vector<std::string> failures;
  int checked = 0;
  std::string why_not;  // when nothing was checked
};

// Ops that vmap has run once per example, in the vmap column so far.
std::set<std::string>& looped_ops();

// The cases that a column looks at.
std::vector<const Case*> cases_for(const std::string& column, const OpCases& all, bool brief,
                                   Report& r);

// Operands brought to their common dtype, as the dispatcher does it.
Tensors promoted(const ir::Op& op, std::span<const Tensor> inputs);

void check_type(const OpCases& all, bool brief, Report& r);
void check_points(const OpCases& all, bool brief, Report& r);
void check_kernels(const OpCases& all, bool brief, Report& r);
void check_grad(const OpCases& all, bool brief, Report& r);
void check_grad2(const OpCases& all, bool brief, Report& r);
void check_dtypes(const OpCases& all, bool brief, Report& r);
void check_broadcast(const OpCases& all, bool brief, Report& r);
void check_zero_size(const OpCases& all, bool brief, Report& r);
void check_scalar(const OpCases& all, bool brief, Report& r);
void check_bad_input(const OpCases& all, bool brief, Report& r);
void check_text(const OpCases& all, bool brief, Report& r);
void check_vmap(const OpCases& all, bool brief, Report& r);
void check_threads(const OpCases& all, bool brief, Report& r);

}  // namespace mycel::op_cases
