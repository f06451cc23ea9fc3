#include "lite/runtime/nest_analysis.h"

#include <algorithm>

namespace mycel::lite {
namespace {

constexpr double kTurn = 5;  // of the machine, in nanoseconds: one operation begun
constexpr double kUnknownTrips = 32;
constexpr int kMostLanes = 256, kFewestLanes = 32, kNearBytes = 24 << 10;

bool folds(Op op) {
  return op == Op::kAdd || op == Op::kMul || op == Op::kMin || op == Op::kMax || op == Op::kAnd ||
         op == Op::kOr || op == Op::kXor;
}

}  // namespace

void NestAnalysis::find_known() {
  for (const E& e : p_.exprs_) {
    std::optional<int64_t> v;
    if (e.dtype == DType::kInt64) {
      std::optional<int64_t> a, b;
      if (e.count > 0) a = known_[e.arg[0]];
      if (e.count > 1) b = known_[e.arg[1]];
      if (e.op == Op::kLiteral) v = e.bits;
      if (e.op == Op::kNumber) v = p_.numbers_[e.index];
      int64_t r = 0;
      if (a && b) {
        if (e.op == Op::kAdd && !__builtin_add_overflow(*a, *b, &r)) v = r;
        if (e.op == Op::kSub && !__builtin_sub_overflow(*a, *b, &r)) v = r;
        if (e.op == Op::kMul && !__builtin_mul_overflow(*a, *b, &r)) v = r;
        if (e.op == Op::kDiv && *b > 0) v = *a / *b;
        if (e.op == Op::kMin) v = std::min(*a, *b);
        if (e.op == Op::kMax) v = std::max(*a, *b);
      }
    }
    known_.push_back(v);
  }
  readers_.assign(p_.exprs_.size(), 0);
  for (const E& e : p_.exprs_) {
    for (int k = 0; k < e.count; ++k) ++readers_[e.arg[k]];
  }
  for (const S& s : p_.stmts_) {
    if (s.kind != NestProgram::kLet) ++readers_[s.a];
    if (s.kind == NestProgram::kStore) ++readers_[s.b];
  }
}

double NestAnalysis::trips(int32_t extent) const {
  if (known_[extent]) return static_cast<double>(std::max<int64_t>(*known_[extent], 0));
  const E& e = p_.exprs_[extent];
  if (e.op == Op::kMin || e.op == Op::kMax) {
    for (int k = 0; k < 2; ++k) {
      if (auto v = known_[e.arg[k]]; v && *v > 0) return static_cast<double>(*v);
    }
  }
  return kUnknownTrips;
}

double NestAnalysis::cost_of(const E& e, double n) const {
  if (e.cls != NestProgram::kVarying) {
    return kTurn + (e.spread ? 0.05 * n : 0);
  }
  const double width = lane_bytes(e.dtype) / 4.0;
  if (e.op == Op::kLoad) {
    const E& at = p_.exprs_[e.arg[0]];
    return 2 * kTurn + n * (at.cls == NestProgram::kLinear && at.step == 1 ? 0.1 * width : 1.2);
  }
  if (loops::is_function(e.op)) {
    const bool fast =
        e.dtype == DType::kFloat32 && (e.op == Op::kExp || e.op == Op::kLog || e.op == Op::kTanh);
    return kTurn + n * (fast ? 1.0 : 10.0);
  }
  if (e.op == Op::kDiv || e.op == Op::kRem) return kTurn + n * (is_float(e.dtype) ? 0.3 : 2.0);
  return kTurn + n * 0.15 * width;
}

double NestAnalysis::on_lanes(int32_t list, double n) const {
  double sum = 0;
  for (; list >= 0; list = p_.stmts_[list].next) {
    const S& s = p_.stmts_[list];
    switch (s.kind) {
      case NestProgram::kLet:
        sum += cost_of(p_.exprs_[s.a], n);
        break;
      case NestProgram::kStore: {
        const E& at = p_.exprs_[s.a];
        const bool rows = at.cls == NestProgram::kLinear && at.step == 1;
        sum += 2 * kTurn + n * (rows ? 0.1 : 1.2);
        break;
      }
      case NestProgram::kSet:
        sum += kTurn + 0.1 * n;
        break;
      case NestProgram::kLoop:
        sum += trips(s.a) * (kTurn + on_lanes(s.body, n));
        break;
      case NestProgram::kWhile:
        sum += kUnknownTrips * (on_lanes(s.body, n) + on_lanes(s.other, n));
        break;
      case NestProgram::kIf:
        sum += kTurn + on_lanes(s.body, n) + on_lanes(s.other, n);
        break;
    }
  }
  return sum;
}

double NestAnalysis::plain(int32_t list) {
  double sum = 0;
  for (; list >= 0; list = p_.stmts_[list].next) {
    const S& s = p_.stmts_[list];
    switch (s.kind) {
      case NestProgram::kLet:
        sum += kTurn + (loops::is_function(p_.exprs_[s.a].op) ? 10 : 0);
        break;
      case NestProgram::kLoop:
        sum += loop(list);
        break;
      case NestProgram::kWhile:
        sum += kUnknownTrips * (plain(s.body) + plain(s.other));
        break;
      case NestProgram::kIf:
        sum += kTurn + plain(s.body) + plain(s.other);
        break;
      default:
        sum += 2 * kTurn;
    }
  }
  return sum;
}

double NestAnalysis::loop(int32_t at) {
  const int32_t induction = p_.stmts_[at].b, body = p_.stmts_[at].body;
  const double n = trips(p_.stmts_[at].a);
  const auto kind = static_cast<loops::LoopKind>(p_.stmts_[at].loop);
  const double one_by_one = kTurn + n * (kTurn + plain(body));
  if (kind == loops::LoopKind::kSequential || n < 2) return one_by_one;
  const std::vector<S> chosen_inside = p_.stmts_;
  if (kind == loops::LoopKind::kReduce && !foldable(body)) return one_by_one;
  classify(induction, body);
  const double blocks = std::max(1.0, n / kMostLanes);
  const double together = blocks * (kTurn + on_lanes(body, std::min<double>(n, kMostLanes)));
  clear(body);
  p_.exprs_[induction].cls = NestProgram::kUniform;
  p_.exprs_[induction].step = 0;
  if (together >= one_by_one) p_.stmts_ = chosen_inside;
  p_.stmts_[at].lanes = together < one_by_one;
  return std::min(together, one_by_one);
}

void NestAnalysis::classify_value(E& e) {
  using P = NestProgram;
  auto cls = [&](int k) { return p_.exprs_[e.arg[k]].cls; };
  auto step = [&](int k) { return p_.exprs_[e.arg[k]].step; };
  e.cls = P::kUniform;
  e.step = 0;
  if (e.op == Op::kVar) {
    if (p_.vars_[e.index].varying) e.cls = P::kVarying;
    return;
  }
  bool same = true, linear = true;
  for (int k = 0; k < e.count; ++k) {
    same &= cls(k) == P::kUniform;
    linear &= cls(k) != P::kVarying;
  }
  if (same) return;
  e.cls = P::kVarying;
  if (!linear || e.dtype != DType::kInt64) return;
  int64_t r = 0;
  bool found = false;
  if (e.op == Op::kAdd) found = !__builtin_add_overflow(step(0), step(1), &r);
  if (e.op == Op::kSub) found = !__builtin_sub_overflow(step(0), step(1), &r);
  if (e.op == Op::kMul) {
    for (int k = 0; k < 2 && !found; ++k) {
      const auto& factor = known_[e.arg[1 - k]];
      if (cls(k) == P::kLinear && cls(1 - k) == P::kUniform && factor)
        found = !__builtin_mul_overflow(step(k), *factor, &r);
    }
  }
  // Beyond any memory: lanes may not run out of 64 bits.
  if (!found || r > (int64_t{1} << 44) || r < -(int64_t{1} << 44)) return;
  e.cls = r == 0 ? P::kUniform : P::kLinear;
  e.step = r;
}

// True when a variable became varying: those who read it earlier are looked at again.
bool NestAnalysis::visit(int32_t list, bool varying) {
  using P = NestProgram;
  bool changed = false;
  for (; list >= 0; list = p_.stmts_[list].next) {
    S& s = p_.stmts_[list];
    const bool differs = p_.exprs_[s.a].cls != P::kUniform;
    switch (s.kind) {
      case P::kLet:
        classify_value(p_.exprs_[s.a]);
        break;
      case P::kStore:
        break;
      case P::kSet:
        if (!s.fold && (differs || varying) && !p_.vars_[s.index].varying)
          p_.vars_[s.index].varying = changed = true;
        break;
      case P::kLoop:
        s.varying = differs;
        p_.exprs_[s.b].cls = P::kUniform;
        p_.exprs_[s.b].step = 0;
        changed |= visit(s.body, varying || differs);
        break;
      case P::kWhile:
        changed |= visit(s.other, varying);
        s.varying = p_.exprs_[s.a].cls != P::kUniform;
        changed |= visit(s.body, varying || s.varying);
        if (s.varying) changed |= visit(s.other, true);
        break;
      case P::kIf:
        s.varying = differs;
        changed |= visit(s.body, varying || differs);
        changed |= visit(s.other, varying || differs);
        break;
    }
  }
  return changed;
}

void NestAnalysis::classify(int32_t induction, int32_t body) {
  p_.exprs_[induction].cls = NestProgram::kLinear;
  p_.exprs_[induction].step = 1;
  while (visit(body, false)) {
  }
}

// Back to "the same for all", as outside of lanes.
void NestAnalysis::clear(int32_t list) {
  using P = NestProgram;
  for (; list >= 0; list = p_.stmts_[list].next) {
    S& s = p_.stmts_[list];
    if (s.kind == P::kLet) p_.exprs_[s.a].cls = P::kUniform, p_.exprs_[s.a].step = 0;
    if (s.kind == P::kSet) p_.vars_[s.index].varying = s.fold = false;
    if (s.kind == P::kLoop) p_.exprs_[s.b].cls = P::kUniform, p_.exprs_[s.b].step = 0;
    s.varying = s.lanes = false;
    clear(s.body);
    clear(s.other);
  }
}

void NestAnalysis::collect(int32_t list, bool inside, std::vector<int32_t>& sets,
                           std::vector<int32_t>& order, bool& bad) {
  using P = NestProgram;
  for (; list >= 0; list = p_.stmts_[list].next) {
    const S& s = p_.stmts_[list];
    if (s.kind == P::kLet && p_.exprs_[s.a].op == Op::kVar) order.push_back(s.a);
    if (s.kind == P::kSet) {
      sets.push_back(list);
      order.push_back(-1 - list);
      bad |= inside;
    }
    const bool branch = s.kind == P::kIf || s.kind == P::kWhile;
    collect(s.kind == P::kWhile ? s.other : s.body, inside || branch, sets, order, bad);
    collect(s.kind == P::kWhile ? s.body : s.other, inside || branch, sets, order, bad);
  }
}

bool NestAnalysis::foldable(int32_t body) {
  std::vector<int32_t> sets, order;
  bool bad = false;
  collect(body, false, sets, order, bad);
  if (bad) return false;
  // By variable: whether a set comes first, which makes it one of each iteration's own.
  std::vector<int8_t> own(p_.vars_.size(), -1);
  for (int32_t o : order) {
    int8_t& v = own[o >= 0 ? p_.exprs_[o].index : p_.stmts_[-1 - o].index];
    if (v < 0) v = o < 0;
  }
  // Values that depend on a carried variable.
  std::vector<bool> carried(p_.exprs_.size());
  for (size_t i = 0; i < p_.exprs_.size(); ++i) {
    const E& e = p_.exprs_[i];
    if (e.op == Op::kVar) carried[i] = own[e.index] == 0;
    for (int k = 0; k < e.count; ++k) carried[i] = carried[i] || carried[e.arg[k]];
  }
  std::vector<int32_t> combined;
  size_t reads = 0;
  for (int32_t at : sets) {
    const S& s = p_.stmts_[at];
    if (own[s.index] == 1) {
      if (carried[s.a]) return false;
      continue;
    }
    const E& e = p_.exprs_[s.a];
    if (!folds(e.op) || readers_[s.a] != 1) return false;
    int which = -1;
    for (int k = 0; k < 2; ++k) {
      const E& v = p_.exprs_[e.arg[k]];
      if (v.op == Op::kVar && v.index == s.index && readers_[e.arg[k]] == 1) which = k;
    }
    if (which < 0 || carried[e.arg[1 - which]]) return false;
    combined.push_back(at);
  }
  for (int32_t o : order) reads += o >= 0 && own[p_.exprs_[o].index] == 0;
  if (reads != combined.size()) return false;
  for (int32_t at : combined) p_.stmts_[at].fold = true;
  return true;
}

void NestAnalysis::spread(int32_t e) {
  if (p_.exprs_[e].cls != NestProgram::kVarying) p_.exprs_[e].spread = true;
}

// What lane-by-lane operations read must be there lane by lane.
void NestAnalysis::settle(int32_t list, bool in_lanes) {
  using P = NestProgram;
  for (; list >= 0; list = p_.stmts_[list].next) {
    S& s = p_.stmts_[list];
    const E& a = p_.exprs_[s.a];
    switch (s.kind) {
      case P::kLet:
        if (a.cls == P::kVarying && a.op != Op::kLoad) {
          for (int k = 0; k < a.count; ++k) spread(a.arg[k]);
        }
        break;
      case P::kStore:
        if (in_lanes) spread(s.b);
        break;
      case P::kSet:
        if (s.fold) {
          for (int k = 0; k < 2; ++k) spread(a.arg[k]);
        } else if (p_.vars_[s.index].varying) {
          spread(s.a);
        }
        break;
      case P::kLoop:
        if (s.varying) spread(s.a);
        settle(s.body, in_lanes || s.lanes);
        break;
      default:
        if (s.varying) spread(s.a);
        settle(s.body, in_lanes);
        settle(s.other, in_lanes);
    }
  }
}

void NestAnalysis::place() {
  int per_lane = 8;
  for (const E& e : p_.exprs_) {
    if (e.cls == NestProgram::kVarying || e.spread) per_lane += lane_bytes(e.dtype);
  }
  for (const auto& v : p_.vars_) per_lane += v.varying ? lane_bytes(v.dtype) : 0;
  p_.width_ = std::clamp(kNearBytes / per_lane / 32 * 32, kFewestLanes, kMostLanes);
  uint32_t words = 0;
  auto take = [&](bool lanes, DType t) {
    const uint32_t at = words;
    words += lanes ? static_cast<uint32_t>((p_.width_ * lane_bytes(t) + 63) / 64 * 8) : 8;
    return at;
  };
  for (E& e : p_.exprs_) e.at = take(e.cls == NestProgram::kVarying || e.spread, e.dtype);
  for (auto& v : p_.vars_) v.at = take(v.varying, v.dtype);
  p_.masks_ = words;
  for (int i = 0; i <= 2 * p_.depth_ + 2; ++i) take(true, DType::kInt32);
  p_.words_ = words;
}

void NestAnalysis::run() {
  using P = NestProgram;
  find_known();
  for (auto& stage : p_.stages_) {
    const auto n = static_cast<double>(stage.extent);
    const double one_by_one = n * (kTurn + plain(stage.body));
    std::vector<S> chosen = p_.stmts_;
    clear(stage.body);
    classify(stage.induction, stage.body);
    const double blocks = std::max(1.0, n / kMostLanes);
    const double together =
        blocks * (kTurn + on_lanes(stage.body, std::min<double>(n, kMostLanes)));
    stage.lanes = together < one_by_one;
    stage.cost = std::max<int64_t>(
        1, static_cast<int64_t>(std::min(together, one_by_one) / std::max(1.0, n)));
    if (stage.lanes) continue;
    clear(stage.body);
    p_.exprs_[stage.induction].cls = P::kUniform;
    p_.exprs_[stage.induction].step = 0;
    // The loops that were chosen, for good.
    auto apply = [&](auto& self, int32_t list) -> void {
      for (; list >= 0; list = p_.stmts_[list].next) {
        S& s = p_.stmts_[list];
        if (s.kind == P::kLoop && chosen[list].lanes) {
          s.lanes = true;
          if (static_cast<loops::LoopKind>(s.loop) == loops::LoopKind::kReduce) foldable(s.body);
          classify(s.b, s.body);
          continue;
        }
        self(self, s.body);
        self(self, s.other);
      }
    };
    apply(apply, stage.body);
  }
  for (const auto& stage : p_.stages_) settle(stage.body, stage.lanes);
  place();
}

}  // namespace mycel::lite
