// Runs the generic columns over every registered op. Smoke: the first case of each; ci: all of
// them. MYCEL_OP=name[,name] limits a run to some ops; MYCEL_OP_REPORT=1 prints what was not
// checked and why.
#include "op_cases.h"

#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "case_text.h"
#include "op_checks.h"

namespace mycel::op_cases {
namespace {

std::set<std::string> chosen_ops() {
  const char* text = std::getenv("MYCEL_OP");
  if (!text) return {};
  auto list = split_outside(text, ',');
  return {list.begin(), list.end()};
}

// Reads every record once.
const std::vector<OpCases>& all_cases() {
  static const std::vector<OpCases> list = [] {
    std::vector<OpCases> made;
    std::set<std::string> only = chosen_ops();
    for (const ir::Op* op : ir::all_ops()) {
      if (!only.empty() && !only.count(op->name)) continue;
      try {
        made.push_back(read_cases(*op));
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    }
    return made;
  }();
  return list;
}

void run(const std::string& column, bool brief) {
  int passed = 0, failed = 0, skipped = 0;
  std::string reasons;
  for (const OpCases& c : all_cases()) {
    std::string why_not;
    std::vector<std::string> failures = run_column(column, c, brief, &why_not);
    for (const std::string& text : failures) ADD_FAILURE() << column << ": " << text;
    ++(!failures.empty() ? failed : why_not.empty() ? passed : skipped);
    if (!why_not.empty())
      reasons += fmt::format("  {} has no {}: {}\n", c.op->name, column, why_not);
  }
  fmt::print("{:<10} {:>4} ops passed, {:>3} failed, {:>3} not applicable\n", column, passed,
             failed, skipped);
  if (column == "vmap") {
    fmt::print("{:<10} {:>4} of them run once per example\n", "", looped_ops().size());
    for (const std::string& name : looped_ops()) {
      reasons += fmt::format("  {} runs once per example\n", name);
    }
  }
  if (std::getenv("MYCEL_OP_REPORT")) fmt::print("{}", reasons);
}

class OpCases : public testing::TestWithParam<const char*> {};
class CiOpCases : public testing::TestWithParam<const char*> {};
TEST_P(OpCases, FirstCaseOfEveryOp) { run(GetParam(), true); }
TEST_P(CiOpCases, EveryCaseOfEveryOp) { run(GetParam(), false); }

std::string column_name(const testing::TestParamInfo<const char*>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Columns, OpCases, testing::ValuesIn(kColumns), column_name);
INSTANTIATE_TEST_SUITE_P(Columns, CiOpCases, testing::ValuesIn(kColumns), column_name);

}  // namespace
}  // namespace mycel::op_cases
