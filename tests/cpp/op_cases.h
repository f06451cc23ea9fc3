// The generic op tests: from the `.cases` line of every record, operands are made and the op is
// checked against the reference interpreter, finite differences and its own type rule (DESIGN §3).
// This page is the grammar of the line; op_cases.cc reads it, op_checks.cc holds the columns,
// op_cases_test.cc runs.
//
// GRAMMAR.  cases = group { "|" group }, group = clause { ";" clause }. The first group is the
// base; each further group is the base with the clauses that it names replaced. Within a group,
// every list of values multiplies (capped at 24 combinations, spread evenly). "default" alone is a
// complete line: no clause.
//
//   x in (a, b)          values of operand x: uniform reals (a complex: both parts), for integers
//   uniform
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
//   x[n, c, 4]           shape; entries are expressions (+ - * / % and names of dims and int
//   attributes).
//                        Several: "x[3] [2, 3]" gives alternatives; for a variadic operand "xs[2,
//                        3] [2, 1]" gives its members. Default: the dims written in the record;
//                        else for elementwise records [3, 4], for others [2, 3, 4].
//   n = 1 3              values of a dim name. A name without a clause gets 2, 3, 4, 5 by first
//   appearance. axis = 0 -1 [0, 1]   values of an attribute: numbers, True, False, None, words,
//   dtypes, [lists of
//                        expressions]; strings with spaces or bars in 'quotes'; a tensor attribute:
//                        float32[2, 3] (random values). Without a clause: the default; an attribute
//                        without default needs one.
//   xs count 1 3         number of members of a variadic operand (default 2), all of the one shape
//   with b / without b   only with / only without the optional operand (default: both)
//   when n % groups = 0  keeps only combinations for which the comparison (= != < <= > >=) holds
//   dtypes float32 int8  dtypes to try for the operands of the first operand's class; "x dtypes …"
//   for one
//                        operand. Default: every dtype of the class.
//   at (0.5, 2) -> 0.25  closed-form value, from outside Mycel: 0-d operands (float64 where the
//   class
//                        allows, else float32/int64/bool), the group's first attribute values;
//                        several results: "-> 1, 2". A list makes a 1-d operand: at ([1, 2, 3]) ->
//                        [1, 3, 6]; complex numbers as 1+2i. May be repeated.
//   bad x[2] y[3]        operands that must be refused: shapes as given (others as in the group's
//   first case) … bad axis = 7         … or an attribute value; the error must be a UserError
//   naming the op. May repeat. tol 1e-5             relative and absolute tolerance between float32
//   kernels (default 2e-5)
//   in float32            computed in float32 whatever its operands are: that tolerance for all
//   fd 1e-4              tolerance of gradients against finite differences
//   (default 1e-6 relative) no grad of w: text   that float operand has no gradient, on purpose
//   skip COLUMN: text    column left out for this group (and the groups after it, in the base
//   group), with
//                        the reason. Columns: see kColumns below; "all" for ops that need a test of
//                        their own, which the text names.
//   `at` and `bad` clauses belong to their group alone.
//
// Examples.  "x in (-0.9, 10); at (1) -> 0.69314718055994531"
//            "x[n, c, h, w]; stride = 1 2; groups = 1 c; c = 4; when c % groups = 0"
//            "x[2, 3, 4]; axis = [] 1 [0, -1]; keep_dims = False True; bad axis = 3 | x[]; axis =
//            []"
#pragma once

#include <map>
#include <memory>
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
    "dtypes",     // every dtype of the operand classes, against float64 or int64
    "broadcast",  // elementwise records: operands of unequal shapes against repeated ones
    "zero_size",  // operands with a dimension of 0: a result of the right shape, or a UserError
    "scalar",     // 0-d operands: the same
    "bad_input",  // errors are UserErrors that name the op
    "text",       // graph text round trip
    "vmap",       // a batch of examples against the op called once per example
    "threads",    // bitwise equal on one and two threads
};

// Where the values of an operand come from (the `in` clause).
struct Domain {
  enum Kind {
    kDefault,
    kUniform,
    kSet,
    kInts,
    kDistinct,
    kSorted,
    kPermutation,
    kProb,
    kSpd,
    kLower,
    kUpper,
    kRegular
  };
  Kind kind = kDefault;
  double low = 0, high = 0;
  std::vector<double> set;
  bool special() const;  // the set holds inf or nan
};
// Operand of this dtype and shape; the same seed gives the same stream for every float dtype.
Tensor make_values(const Domain& domain, const std::string& cls, DType dtype, const Shape& shape,
                   uint64_t seed);

// What holds for all cases of a group.
struct Group {
  std::map<std::string, std::string> skip;     // column -> reason
  std::map<std::string, std::string> no_grad;  // operand -> reason
  std::map<std::string, std::vector<DType>>
      dtypes;  // operand name ("" for the first's class) -> allowed
  double tolerance = 2e-5;
  bool in_float32 = false;
  double fd_tolerance = 1e-6;
};

// One concrete use of an op, its operands in the widest dtype of their class (float64, int64,
// complex128).
struct Case {
  const ir::Op* op = nullptr;
  std::shared_ptr<const Group> group;
  Tensors inputs;  // an empty Tensor where an optional operand is absent
  ir::Attrs attrs;
  std::string text;  // "x[2, 3] axis=1": for failure messages
  std::vector<Domain> domains;
  std::vector<bool> default_shape;  // per operand: no clause and no dims in the record
  uint64_t seed = 0;

  bool special() const;  // values hold inf or nan: no derivatives
  const ir::InputSpec& spec(size_t i) const;
  // The dtypes to try for operand i.
  std::vector<DType> allowed(size_t i) const;
  // Operands that take their dtype together with operand 0: of its class, without dtypes of their
  // own.
  bool follows_first(size_t i) const;
  // The same case with new values of another dtype or shape.
  Tensor remade(size_t i, DType dtype, const Shape& shape) const;
  // Operand 0 and those that follow it in `dtype`.
  Tensors in_dtype(DType dtype) const;
};

struct Point {
  Tensors inputs;
  ir::Attrs attrs;
  std::vector<std::vector<double>> expected;  // per result; complex ones as re, im, re, im…
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
  std::map<std::string, std::string> skip;  // of the base group
};

// Reads the record's line and makes operands with a fixed seed per op. InternalError with the
// clause in its text when the line does not follow the grammar.
OpCases read_cases(const ir::Op& op);

// True when the record works element by element on operands that broadcast.
bool elementwise(const ir::Op& op);

// Runs one column on one op; returns failure texts. `why_not` receives the reason when nothing was
// checked. `brief`: the first case only.
std::vector<std::string> run_column(const std::string& column, const OpCases& cases, bool brief,
                                    std::string* why_not);

}  // namespace mycel::op_cases
