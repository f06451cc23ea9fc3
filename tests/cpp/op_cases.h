// The generic op tests: from the `.cases` line of every record, operands are made and the op is checked
// against the reference interpreter, finite differences and its own type rule (DESIGN §3). This page is
// the grammar of the line; op_cases.cc reads it, op_checks.cc holds the columns, op_cases_test.cc runs.
//
// GRAMMAR.  cases = group { "|" group }, group = clause { ";" clause }. The first group is the base; each
// further group is the base with the clauses that it names replaced. Within a group, every list of values
// multiplies (capped at 24 combinations, spread evenly). "default" alone is a complete line: no clause.
//
//   x in (a, b)          values of operand x: uniform reals (a complex: both parts), for integers uniform
//                        in the closed range. Defaults: float (-2, 2), int (-5, 5) or (0, 9) when
//                        unsigned, index (0, 1), bool either.
//   x in {a, b, c}       one of these (inf, -inf, nan allowed; then no gradients are checked)
//   x in ints(a, b)      whole numbers a..b inclusive; bounds may be expressions: ints(0, n - 1)
//   x in distinct(a, b)  evenly spaced and shuffled: no ties (sort, max, median)
//   x in sorted(a, b)    ascending along the last axis
//   x in permutation     of 0..n-1 along the last axis
//   x in prob            positive, the last axis sums to 1
//   x in spd             symmetric positive definite in the last two axes
//   x in lower | upper   triangular in the last two axes, diagonal in (1, 2)
//   x in regular         square in the last two axes, well conditioned
//   x[n, c, 4]           shape; entries are expressions (+ - * / % and names of dims and int attributes).
//                        Several: "x[3] [2, 3]" gives alternatives; for a variadic operand "xs[2, 3] [2, 1]"
//                        gives its members. Default: the dims written in the record; else for
//                        elementwise records [3, 4], for others [2, 3, 4].
//   n = 1 3              values of a dim name. A name without a clause gets 2, 3, 4, 5 by first appearance.
//   axis = 0 -1 [0, 1]   values of an attribute: numbers, True, False, None, words, dtypes, [lists of
//                        expressions]; strings with spaces or bars in 'quotes'; a tensor attribute:
//                        float32[2, 3] (random values). Without a clause: the default; an attribute
//                        without default needs one.
//   xs count 1 3         number of members of a variadic operand (default 2), all of the one shape
//   with b / without b   only with / only without the optional operand (default: both)
//   when n % groups = 0  keeps only combinations for which the comparison (= != < <= > >=) holds
//   dtypes float32 int8  dtypes to try for the operands of the first operand's class; "x dtypes …" for one
//                        operand. Default: every dtype of the class.
//   at (0.5, 2) -> 0.25  closed-form value, from outside Mycel: 0-d operands (float64 where the class
//                        allows, else float32/int64/bool), the group's first attribute values; several
//                        results: "-> 1, 2". A list makes a 1-d operand: at ([1, 2, 3]) -> [1, 3, 6];
//                        complex numbers as 1+2i. May be repeated.
//   bad x[2] y[3]        operands that must be refused: shapes as given (others default) …
//   bad axis = 7         … or an attribute value; the error must be a UserError naming the op. May repeat.
//   tol 1e-5             relative and absolute tolerance between float32 kernels (default 2e-5)
//   fd 1e-4              tolerance of gradients against finite differences (default 1e-6 relative)
//   no grad of w: text   that float operand has no gradient, on purpose
//   skip COLUMN: text    column left out, with the reason. Columns: see kColumns below; "all" for ops that
//                        need a test of their own, which the text names.
//
// Examples.  "x in (-0.9, 10); at (1) -> 0.69314718055994531"
//            "x[n, c, h, w]; stride = 1 2; groups = 1 c; c = 4; when c % groups = 0"
//            "x[2, 3, 4]; axis = [] 1 [0, -1]; keep_dims = False True; bad axis = 3 | x[]; axis = []"
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/attrs.h"
#include "ir/op.h"
#include "tensor/tensor.h"

namespace mycel::op_cases {

inline constexpr const char* kColumns[] = {
    "type",       // the type rule, with known and with unknown dims, against the real results
    "points",     // the `at` clauses
    "kernels",    // every accepting kernel against the reference interpreter
    "grad",       // gradient against central differences in float64
    "grad2",      // gradient of the gradient against differences of the gradient
    "dtypes",     // every dtype of the operand classes
    "broadcast",  // elementwise records: operands of unequal shapes
    "zero_size",  // operands with a dimension of 0
    "scalar",     // 0-d operands
    "bad_input",  // errors are UserErrors that name the op
    "text",       // graph text round trip
    "threads",    // bitwise equal on one and two threads
};

// One concrete use of an op. Operands of class "float" and the like are float64 until a column asks for
// another dtype (`with_dtype`).
struct Case {
  const ir::Op* op = nullptr;
  Tensors inputs;  // an empty Tensor where an optional operand is absent
  ir::Attrs attrs;
  std::string text;      // "x[2, 3] axis=1": for failure messages
  bool special = false;  // values hold inf or nan: no derivatives
};

struct Point {
  Tensors inputs;
  ir::Attrs attrs;
  Tensors expected;
  std::string text;
};

struct Bad {
  Tensors inputs;
  ir::Attrs attrs;
  std::string text;
};

struct OpCases {
  const ir::Op* op = nullptr;
  std::vector<Case> cases;
  std::vector<Point> points;
  std::vector<Bad> bad;
  std::map<std::string, std::string> skip;     // column -> reason
  std::map<std::string, std::string> no_grad;  // operand -> reason
  std::map<int, std::vector<DType>> dtypes;    // operand -> allowed dtypes
  double tolerance = 2e-5;
  double fd_tolerance = 1e-6;
};

// Reads the record's line and makes operands with a fixed seed per op. InternalError with the clause in
// its text when the line does not follow the grammar.
OpCases read_cases(const ir::Op& op);

// The case with operand i cast to dtypes[i].
Case with_dtypes(const Case& c, const std::vector<DType>& dtypes);

// True when the record is elementwise: a scalar formula, or the shard line "... -> ...", or "..., ... -> ...".
bool elementwise(const ir::Op& op);

struct Tally {
  int passed = 0, failed = 0, skipped = 0;
};
// Runs one column on one op; returns failure texts. `why_not` receives the reason when the column does not
// apply. `brief`: the first case only.
std::vector<std::string> run_column(const std::string& column, const OpCases& cases, bool brief,
                                    std::string* why_not);

}  // namespace mycel::op_cases
