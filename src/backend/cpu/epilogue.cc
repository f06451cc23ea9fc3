#include "backend/cpu/epilogue.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "backend/cpu/nest_kernel.h"
#include "base/error.h"
#include "ir/core_ops.h"
#include "ir/formula.h"
#include "loops/expr.h"
#include "loops/nest.h"

namespace mycel::cpu {
namespace {

using loops::Expr;
using loops::Op;
using loops::Val;
using Kind = EpilogueStep::Kind;
using Steps = std::vector<EpilogueStep>;

// The formula of the rest over the loads of its operands.
Val formula(const ir::Graph& rest, loops::Nest& nest) {
  std::vector<loops::Buf> buffers;
  for (const ir::Value& p : rest.params()) buffers.push_back(nest.input(p.dtype()));
  Val result;
  nest.parallel(1, 1, [&](Val i) {
    std::vector<Val> loaded;
    for (const loops::Buf& b : buffers) loaded.push_back(nest.load(b, i));
    ir::compose(rest, loaded, {&result, 1});
  });
  return result;
}

class Reader {
 public:
  explicit Reader(const Joined& joined) : joined_(joined) {}

  std::optional<Steps> read(const Expr* e) const {
    if (e->op == Op::kLoad) return e->index == 0 ? std::optional(Steps{}) : std::nullopt;
    if (e->op == Op::kCast && whole_to_float(e)) return read(e->arg[0]);
    if (e->op == Op::kRint) return then(e->arg[0], EpilogueStep{Kind::kRound, -1, 0});
    if (e->op == Op::kNeg) return then(e->arg[0], EpilogueStep{Kind::kMul, -1, -1.0});
    if (e->count != 2) return {};
    const Expr *a = e->arg[0], *b = e->arg[1];
    switch (e->op) {
      case Op::kAdd:
        return either(a, b, Kind::kAdd);
      case Op::kMul:
        return either(a, b, Kind::kMul);
      case Op::kMax:
        return either(a, b, Kind::kMax);
      case Op::kMin:
        return either(a, b, Kind::kMin);
      case Op::kSub:
        return then(a, other(b, Kind::kSub));
      case Op::kDiv:
        return then(a, other(b, Kind::kDiv));
      default:
        return {};
    }
  }

 private:
  static bool whole_to_float(const Expr* e) {
    return is_int(e->arg[0]->dtype) && e->dtype == DType::kFloat32;
  }
  // An operand that is simply there: loaded, or a number.
  std::optional<EpilogueStep> other(const Expr* e, Kind kind) const {
    if (e->is_literal() && is_float(e->dtype)) return EpilogueStep{kind, -1, e->real()};
    if (e->op == Op::kCast && whole_to_float(e)) e = e->arg[0];
    if (e->op != Op::kLoad || e->index == 0) return {};
    return EpilogueStep{kind, joined_.reads[static_cast<size_t>(e->index - 1)], 0};
  }
  std::optional<Steps> then(const Expr* before, std::optional<EpilogueStep> step) const {
    auto steps = step ? read(before) : std::nullopt;
    if (steps) steps->push_back(*step);
    return steps;
  }
  std::optional<Steps> either(const Expr* a, const Expr* b, Kind kind) const {
    if (auto step = other(b, kind)) return then(a, step);
    return then(b, other(a, kind));
  }

  const Joined& joined_;
};

// cast(bits(x + c) - bits(c) + zero): x rounded to even.
struct RoundedEnd {
  const Expr* before;
  double zero;
};
std::optional<RoundedEnd> rounded_end(const Expr* e) {
  constexpr float kRound = 0x1.8p23f;
  if (e->op != Op::kCast || e->arg[0]->op != Op::kAdd) return {};
  const Expr *bits = e->arg[0]->arg[0], *offset = e->arg[0]->arg[1];
  if (bits->op != Op::kBitcast || bits->dtype != DType::kInt32 || !offset->is_literal()) return {};
  const Expr* sum = bits->arg[0];
  if (sum->op != Op::kAdd || !sum->arg[1]->is_literal() || sum->arg[1]->real() != kRound) return {};
  return RoundedEnd{sum->arg[0],
                    static_cast<double>(offset->bits + std::bit_cast<int32_t>(kRound))};
}

class ThenRest final : public Prepared {
 public:
  ThenRest(std::shared_ptr<const Prepared> kernel, std::shared_ptr<const Prepared> rest,
           const Joined& j, int operands)
      : kernel_(std::move(kernel)),
        rest_(std::move(rest)),
        name_(fmt::format("{} then {}", kernel_->implementation(), rest_->implementation())),
        own_(j.operands()),
        result_(operands),
        reads_(j.reads) {}

  void run(void* const* buffers) const override {
    std::vector<void*> args(buffers, buffers + own_);
    args.push_back(buffers[result_]);
    kernel_->run(args.data());
    args.assign(1, buffers[result_]);
    for (int k : reads_) args.push_back(buffers[k]);
    args.push_back(buffers[result_]);
    rest_->run(args.data());
  }
  const char* implementation() const override { return name_.c_str(); }
  std::optional<Packed> packed(int operand) const override {
    auto own = operand < own_ ? kernel_->packed(operand) : std::nullopt;
    if (own) {
      auto whole = std::make_shared<ThenRest>(*this);
      whole->kernel_ = own->kernel;
      own->kernel = std::move(whole);
    }
    return own;
  }

 private:
  std::shared_ptr<const Prepared> kernel_;
  std::shared_ptr<const Prepared> rest_;
  std::string name_;
  int own_, result_;
  std::vector<int> reads_;
};

}  // namespace

int Joined::operands() const {
  return static_cast<int>(std::count_if(op->inputs.begin(), op->inputs.end(),
                                        [](const ir::Value& v) { return static_cast<bool>(v); }));
}

Joined::Joined(const ir::Graph& body) {
  auto graph = std::make_shared<ir::Graph>("rest");
  std::vector<std::vector<ir::Value>> to(body.size());
  std::vector<int> operand(body.size(), -1);
  for (size_t k = 0; k < body.params().size(); ++k) {
    operand[body.params()[k].node->id] = static_cast<int>(k);
  }
  auto value = [&](const ir::Value& v) {
    std::vector<ir::Value>& there = to[v.node->id];
    if (there.empty()) {  // an operand
      there.push_back(graph->add_param(v.type()));
      reads.push_back(operand[v.node->id]);
    }
    return there[v.index];
  };
  for (const ir::Node& n : body.nodes()) {
    if (n.is_param()) continue;
    if (!op) {
      op = &n;
      to[n.id] = {graph->add_param(n.types[0])};
      continue;
    }
    ir::ValueList in;
    for (const ir::Value& v : n.inputs) in.push_back(value(v));
    ir::Node* copy = graph->add_typed(*n.op, std::move(in), n.attrs, n.types, n.loc);
    for (uint32_t j = 0; j < n.types.size(); ++j) to[n.id].push_back(copy->out(j));
  }
  graph->set_results({value(body.results()[0])});
  rest = std::move(graph);
}

std::optional<Steps> steps_of(const Joined& joined) {
  loops::Nest nest("epilogue");
  const Expr* e = formula(*joined.rest, nest).n;
  Reader reader(joined);
  if (!is_int(e->dtype)) return reader.read(e);
  std::optional<RoundedEnd> end = rounded_end(e);
  std::optional<Steps> steps = end ? reader.read(end->before) : std::nullopt;
  if (!steps) return {};
  steps->push_back({Kind::kRound, -1, 0});
  steps->push_back({Kind::kAdd, -1, end->zero});
  return steps;
}

std::unique_ptr<Prepared> then_rest(std::shared_ptr<const Prepared> kernel, const Joined& joined,
                                    const Problem& problem) {
  const ir::Op& fused = *ir::core_ops().fused;
  ir::Types types;
  for (const ir::Value& v : joined.rest->params()) types.push_back(v.type());
  std::vector<const ir::Type*> in;
  for (const ir::Type& t : types) in.push_back(&t);
  ir::Attrs attrs = {ir::Attr(ir::GraphPtr(joined.rest))};
  std::shared_ptr<const Prepared> rest = prepare_nest({fused, in, problem.out, attrs});
  MYCEL_CHECK(rest->can_alias(0), "the rest of a joined kernel cannot run in place");
  return std::make_unique<ThenRest>(std::move(kernel), std::move(rest), joined,
                                    static_cast<int>(problem.in.size()));
}

}  // namespace mycel::cpu
