// Einstein summation, as batched matrix products: operands are joined from left to right, and a
// label is summed as soon as nothing to its right needs it.
#include <algorithm>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/contraction.h"
#include "ops/matmul/matmul.h"
#include "ops/matmul/rooms.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::Promote;
using ir::Value;

namespace {

// Dims of an ellipsis are labelled '0', '1', … counted from the last.
using Term = Labelled;

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
  bool arrow = false;
};

Equation parse(const Expansion& e) {
  Equation q;
  std::string text;
  for (char c : e.attrs.string("equation")) {
    if (c != ' ') text += c;
  }
  size_t arrow = text.find("->");
  q.arrow = arrow != std::string::npos;
  if (q.arrow) q.output = text.substr(arrow + 2);
  std::string inputs = text.substr(0, arrow);
  for (size_t from = 0; from <= inputs.size();) {
    size_t comma = std::min(inputs.find(',', from), inputs.size());
    q.inputs.push_back(inputs.substr(from, comma - from));
    from = comma + 1;
  }
  if (static_cast<int>(q.inputs.size()) != e.inputs()) {
    value_error("einsum: the equation '{}' names {} operands, {} are given", text, q.inputs.size(),
                e.inputs());
  }
  return q;
}

// Letters of `part`, an ellipsis replaced by `dims` digit labels.
std::string labels_of(const std::string& part, int dims) {
  size_t dots = part.find("...");
  std::string letters = part;
  if (dots != std::string::npos) letters.erase(dots, 3);
  for (char c : letters) {
    if (!std::isalpha(static_cast<unsigned char>(c)))
      value_error("einsum: '{}' is no label, in '{}'", c, part);
  }
  if (dots == std::string::npos) return letters;
  std::string digits;
  for (int d = dims; d-- > 0;) digits += static_cast<char>('0' + d);
  return letters.insert(dots, digits);
}

int dim_of(const Term& t, char label) { return static_cast<int>(t.labels.find(label)); }

// Dims of one label within one operand become their diagonal.
void take_diagonals(Term& t) {
  for (size_t i = 0; i < t.labels.size(); ++i) {
    size_t j = t.labels.find(t.labels[i], i + 1);
    if (j == std::string::npos) continue;
    char label = t.labels[i];
    int64_t a = t.value.shape()[static_cast<int>(i)], b = t.value.shape()[static_cast<int>(j)];
    if (dims_differ(a, b)) {
      value_error("einsum: label {} stands for dims of {} and {} of one operand", label, a, b);
    }
    t.value = kDiagonal({t.value}, {0, static_cast<int64_t>(i), static_cast<int64_t>(j)});
    t.labels.erase(j, 1);
    t.labels.erase(i, 1);
    t.labels += label;
    i = static_cast<size_t>(-1);
  }
}

// A dim of 1 (an ellipsis broadcasts) is dropped where the other side has the label too.
void drop_ones(Term& t, const Term& other) {
  Attr::Ints axes;
  std::string kept;
  for (size_t d = 0; d < t.labels.size(); ++d) {
    char c = t.labels[d];
    bool one = t.value.shape()[static_cast<int>(d)] == 1 && has_label(other.labels, c) &&
               other.value.shape()[dim_of(other, c)] != 1;
    if (one) {
      axes.push_back(static_cast<int64_t>(d));
    } else {
      kept += c;
    }
  }
  if (axes.empty()) return;
  t.value = kSqueeze({t.value}, {axes});
  t.labels = kept;
}

Term join(Term a, Term b, const std::string& needed) {
  drop_ones(a, b);
  drop_ones(b, a);
  for (char c : a.labels) {
    if (!has_label(b.labels, c)) continue;
    int64_t m = a.value.shape()[dim_of(a, c)], n = b.value.shape()[dim_of(b, c)];
    if (dims_differ(m, n)) value_error("einsum: label {} stands for dims of {} and {}", c, m, n);
  }
  return contract(std::move(a), std::move(b), needed);
}

// Without an arrow: the ellipsis, then the labels that occur once, in alphabetic order.
std::string implied_output(const std::vector<std::string>& inputs, int ellipsis) {
  std::string all, out;
  for (const std::string& s : inputs) all += s;
  for (int d = ellipsis; d-- > 0;) out += static_cast<char>('0' + d);
  std::string letters;
  for (char c : all) {
    if (std::isalpha(static_cast<unsigned char>(c)) && std::count(all.begin(), all.end(), c) == 1)
      letters += c;
  }
  std::sort(letters.begin(), letters.end());
  return out + letters;
}

void expand_einsum(Expansion& e) {
  Equation q = parse(e);
  int ellipsis = 0;
  std::vector<int> dims;
  for (int i = 0; i < e.inputs(); ++i) {
    bool dots = q.inputs[i].find("...") != std::string::npos;
    int letters = static_cast<int>(q.inputs[i].size()) - (dots ? 3 : 0), rank = e.x(i).rank();
    if (rank < letters || (!dots && rank != letters)) {
      value_error("einsum: '{}' does not fit operand {} of type {}", q.inputs[i], i,
                  e.x(i).type().str());
    }
    dims.push_back(rank - letters);
    ellipsis = std::max(ellipsis, dims.back());
  }
  std::vector<Term> terms;
  for (int i = 0; i < e.inputs(); ++i) {
    terms.push_back({labels_of(q.inputs[i], dims[i]), e.x(i)});
    q.inputs[i] = terms.back().labels;
    take_diagonals(terms.back());
  }
  std::string output = q.arrow ? labels_of(q.output, ellipsis) : implied_output(q.inputs, ellipsis);
  for (char c : output) {
    bool known = std::any_of(terms.begin(), terms.end(),
                             [&](const Term& t) { return has_label(t.labels, c); });
    if (!known || std::count(output.begin(), output.end(), c) > 1) {
      value_error("einsum: output label {} must occur once there and in an operand", c);
    }
  }
  Term t = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string needed = output;
    for (size_t j = i + 1; j < terms.size(); ++j) needed += terms[j].labels;
    t = join(t, terms[i], needed);
  }
  t = summed_to(std::move(t), output);
  e.result(ordered(t, output));
}

}  // namespace

constexpr OpDef kEinsum = check({
    .name = "einsum",
    .doc = "Einstein summation: every dim has a letter, products are summed over the letters that "
           "the part behind -> does "
           "not name; a letter twice in one operand is a diagonal, ... stands for dims that "
           "broadcast.",
    .in = {"*operands: number"},
    .attr = {"equation: str"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_einsum,
    .cases = "operands[2, 3] [3, 4]; equation = 'ij,jk->ik' 'ij,jk' 'ij,jk->ki' 'ab,bc->' "
             "'ij,jk->j'; bad equation = "
             "'ij,kj->ik' | operands[3, 3]; operands count 1; equation = 'ii->i' 'ii' 'ij->ji' "
             "'ij->j' | operands[2, 3, 4] "
             "[2, 4, 5]; equation = 'bij,bjk->bik' '...ij,...jk->...ik' | operands[2, 3] [3, 4] "
             "[4, 2]; equation = "
             "'ij,jk,kl->il' 'ij,jk,ki->'; skip dtypes: sums of many products; skip zero_size: "
             "sizes belong together",
    .onnx = "Einsum",
    .primitive = "Einsum(equation)",
});

void register_einsum() { ir::register_ops({&kEinsum}); }

}  // namespace mycel::ops
