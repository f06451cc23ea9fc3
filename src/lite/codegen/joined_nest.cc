#include "lite/codegen/joined_nest.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "ir/core_ops.h"
#include "ir/formula.h"
#include "ir/loop_rule.h"
#include "loops/expr.h"
#include "passes/pass.h"

namespace mycel::lite {
namespace {

using ir::Node;
using ir::Value;
using loops::Buf;
using loops::Nest;
using loops::Val;

// Where element `offset` of a result of shape `out` lies in an operand that broadcasts to it.
Val broadcast_offset(Nest& nest, Val offset, const Shape& operand, const Shape& out) {
  if (operand.size() == 1) return nest.index(0);
  if (operand == out) return offset;
  // Dims that the operand has whole, at the end: one remainder.
  int whole = 0;
  while (whole < operand.rank() && operand[-1 - whole] == out[-1 - whole]) ++whole;
  const int64_t tail = operand.size(operand.rank() - whole, operand.rank());
  if (tail == operand.size()) return offset % nest.number(tail);
  Val at = nest.index(0);
  int64_t below = 1, step = 1;
  for (int d = 1; d <= operand.rank(); ++d) {
    if (operand[-d] != 1) at = at + offset / nest.number(below) % nest.number(out[-d]) * step;
    below *= out[-d];
    step *= operand[-d];
  }
  return at;
}

// The elementwise part of a body: its parameters are the op's result and what else it reads.
struct After {
  ir::Graph graph{"after"};
  std::vector<int> reads;  // parameters of the body; the first of `graph` is the op's result
};

const Node* first_op(const ir::Graph& body) {
  for (const Node& n : body.nodes()) {
    if (!n.is_param()) return &n;
  }
  MYCEL_CHECK(false, "a joined node without an op");
}

std::unique_ptr<After> after_of(const ir::Graph& body, const Node& op) {
  auto a = std::make_unique<After>();
  std::unordered_map<const Node*, Value> to;
  to[&op] = a->graph.add_param(op.types[0]);
  for (const Node& n : body.nodes()) {
    if (n.is_param() || &n == &op) continue;
    ir::ValueList in;
    for (const Value& v : n.inputs) {
      if (!v) {
        in.push_back(Value());
        continue;
      }
      if (v.node->is_param() && !to.count(v.node)) {
        to[v.node] = a->graph.add_param(v.type());
        for (size_t i = 0; i < body.params().size(); ++i) {
          if (body.params()[i].node == v.node) a->reads.push_back(static_cast<int>(i));
        }
      }
      in.push_back(to.at(v.node));
    }
    to[&n] = a->graph.add_typed(*n.op, std::move(in), n.attrs, n.types, n.loc)->out();
  }
  a->graph.set_results({to.at(body.results()[0].node)});
  return a;
}

bool reads_buffer(const loops::Stmt* s, int buffer) {
  for (; s; s = s->next) {
    if (s->kind == loops::Stmt::kLet && s->a->op == loops::Op::kLoad && s->a->index == buffer)
      return true;
    if (reads_buffer(s->body, buffer) || reads_buffer(s->other, buffer)) return true;
  }
  return false;
}

JoinedNest build(const ir::Graph& body, bool* possible) {
  const Node& op = *first_op(body);
  std::vector<const ir::Type*> in;
  JoinedNest out{Nest("joined"), {}};
  for (const Value& v : op.inputs) {
    in.push_back(v ? &v.type() : nullptr);
    if (!v) continue;
    for (size_t i = 0; i < body.params().size(); ++i) {
      if (body.params()[i].node == v.node) out.buffers.push_back(static_cast<int>(i));
    }
  }
  // What else is read comes behind the op's operands, absent ones counted: its loops do not look
  // there.
  in.resize(std::max(in.size(), op.op->inputs.size()), nullptr);
  const auto operands = static_cast<int>(in.size());
  auto after = after_of(body, op);
  for (int i : after->reads) {
    in.push_back(&body.params()[static_cast<size_t>(i)].type());
    out.buffers.push_back(i);
  }
  out.buffers.push_back(JoinedNest::kNone);
  ir::LoopCtx c(*op.op, in, op.types, op.attrs);
  const ir::Type result = body.results()[0].type();
  Nest& nest = c.nest;
  std::vector<Buf> more;
  for (size_t k = 0; k < after->reads.size(); ++k) {
    more.push_back(c.in(operands + static_cast<int>(k)));
    if (body.params()[static_cast<size_t>(after->reads[k])].type().shape == result.shape)
      nest.allow_in_place(more.back());
  }
  Buf y = nest.output(result.dtype);
  out.buffers.push_back(JoinedNest::kResult);
  const int made = c.out().index;
  nest.impl().capture = [&](int buffer, Val offset, Val value) {
    if (buffer != made) return false;
    std::vector<Val> x{value}, z(1);
    for (size_t k = 0; k < more.size(); ++k) {
      const Shape& s = body.params()[static_cast<size_t>(after->reads[k])].shape();
      x.push_back(nest.load(more[k], broadcast_offset(nest, offset, s, result.shape)));
    }
    ir::compose(after->graph, x, z);
    nest.store(y, offset, z[0]);
    return true;
  };
  op.op->def.loops(c);
  c.nest.impl().capture = nullptr;
  *possible = true;
  for (const auto& stage : nest.stages()) {
    if (reads_buffer(stage.body, made)) *possible = false;  // results are added up in memory
  }
  out.nest = std::move(c.nest);
  return out;
}

bool accepts(const ir::Op&, std::span<const ir::Type* const>, std::span<const ir::Type>,
             const ir::Attrs& attrs) {
  const ir::Graph& body = *attrs[0].graph();
  const Node& op = *first_op(body);
  if (!op.op->def.loops || op.op->variadic) return false;
  bool possible = false;
  (void)build(body, &possible);
  return possible;
}

}  // namespace

std::shared_ptr<ir::Graph> join_loops(const ir::Graph& g) {
  return passes::join_epilogues(g, accepts);
}

JoinedNest joined_nest(const Node& node) {
  bool possible = false;
  return build(*node.attrs[0].graph(), &possible);
}

}  // namespace mycel::lite
