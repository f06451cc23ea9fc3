#include <algorithm>
#include <cstdint>
#include <set>

#include <fmt/format.h>

#include "backend/cpu/nest_kernel.h"
#include "base/error.h"
#include "ir/core_ops.h"
#include "ir/function.h"
#include "lite/plan/contraction_steps.h"
#include "lite/plan/planner_state.h"
#include "loops/expr.h"
#include "runtime/memory_plan.h"

namespace mycel::lite {
namespace {

using file::PlaceKind;
using file::StepKind;
using ir::Node;
using ir::Value;

constexpr int kMostDepth = 24;

uint64_t bytes_of(const ir::Type& t) {
  return static_cast<uint64_t>(t.shape.size()) * size_of(t.dtype);
}

class BodyPlanner {
 public:
  BodyPlanner(Planner::State& state, const ir::Graph& g, size_t inputs, int depth)
      : state_(state), g_(g), inputs_(inputs), depth_(depth) {}

  PlannedBody run() {
    number_values();
    for (const Node& n : g_.nodes()) add(n);
    take_results();
    place();
    return std::move(out_);
  }

 private:
  // Bytes that several values may share, one after the other.
  struct Block {
    uint64_t bytes = 0;
    int first = 0, last = -1;  // steps
    bool placed = false;       // not in the arena
    PlannedPlace place;
  };

  size_t number(const Value& v) const { return first_[v.node->id] + v.index; }
  int& block(const Value& v) { return block_of_[number(v)]; }
  Block& at(const Value& v) { return blocks_[static_cast<size_t>(block(v))]; }

  void number_values() {
    size_t next = 0;
    for (const Node& n : g_.nodes()) {
      first_.push_back(next);
      next += n.types.size();
    }
    block_of_.assign(next, -1);
    uses_.assign(next, 0);
    users_.assign(next, nullptr);
    for (const Node& n : g_.nodes()) {
      for (const Value& v : n.inputs) {
        if (!v) continue;
        ++uses_[number(v)];
        users_[number(v)] = &n;
      }
    }
    for (const Value& v : g_.results()) {
      ++uses_[number(v)];
      users_[number(v)] = nullptr;
    }
    for (size_t i = 0; i < g_.params().size(); ++i) {
      const Value& p = g_.params()[i];
      if (p.type().kind != ir::Type::Kind::kTensor) refuse(*p.node, "takes a stack");
      if (i < inputs_) {
        if (!p.shape().known()) {
          throw UserError(ErrorKind::kValue,
                          fmt::format("Lite: input '{}' has the unknown shape {}", p.node->name,
                                      p.shape().str()),
                          "Give all its dims.");
        }
        give_place(number(p), {PlaceKind::Input, i, bytes_of(p.type())});
        out_.inputs.push_back(p.type());
        out_.input_names.push_back(p.node->name);
      } else {
        weight_of_[number(p)] = static_cast<int>(i - inputs_);
      }
    }
  }

  void give_place(size_t value, PlannedPlace place) {
    block_of_[value] = static_cast<int>(blocks_.size());
    blocks_.push_back({place.bytes, 0, -1, true, place});
    left_.push_back(0);
  }

  // The block of an operand; weights and constants get one when they are first read.
  int operand(const Value& v) {
    int& b = block(v);
    if (b >= 0) return b;
    auto it = weight_of_.find(number(v));
    MYCEL_CHECK(it != weight_of_.end(), "Lite: an operand that nothing gives");
    const int c = state_.constant_of(it->second, Packing::kPlain, 1);
    give_place(number(v), {PlaceKind::Constant, static_cast<uint64_t>(c), bytes_of(v.type())});
    return block(v);
  }

  void add(const Node& n) {
    if (n.is_param() || done_.count(&n)) return;
    const ir::CoreOps& core = ir::core_ops();
    if (n.op == core.constant) {
      const Tensor& value = n.attrs[0].tensor();
      give_place(first_[n.id],
                 {PlaceKind::Constant, static_cast<uint64_t>(state_.constant_of(value)),
                  bytes_of(n.types[0])});
      return;
    }
    for (const ir::Type& t : n.types) {
      if (t.kind != ir::Type::Kind::kTensor) refuse(n, "keeps values on a stack");
      if (!t.shape.known())
        refuse(n, fmt::format("gives a result whose shape {} depends on values", t.shape.str()));
    }
    if (n.op->def.view) {
      // Whoever reads it reads the block of what it is a view of.
      const int of = operand(n.inputs[0]);
      block_of_[first_[n.id]] = of;
      left_[static_cast<size_t>(of)] += uses_[first_[n.id]] - 1;
      return;
    }
    if (n.op == core.cond || n.op == core.while_loop) return add_control(n);
    if (n.op == core.call) return add_call(n);
    if (add_contraction(n)) return;
    add_nest(n);
  }

  [[noreturn]] static void refuse(const Node& n, const std::string& why) {
    UserError e(
        ErrorKind::kUnsupported,
        fmt::format("Lite: {} {}", n.is_param() ? "input '" + n.name + "'" : n.op->name, why));
    e.set_where(ir::loc_text(n.loc));
    throw e;
  }

  PlannedStep begin(const Node& n, StepKind kind) const {
    PlannedStep s;
    s.kind = kind;
    s.op = n.op->name;
    s.source = ir::loc_text(n.loc);
    return s;
  }
  int step() const { return static_cast<int>(out_.steps.size()); }

  void read(PlannedStep& s, const Value& v) {
    const int b = operand(v);
    use(s, b, bytes_of(v.type()));
    --left_[static_cast<size_t>(b)];
  }
  void use(PlannedStep& s, int block, uint64_t bytes) {
    touch(block, step());
    s.blocks.push_back(block);
    s.bytes.push_back(bytes);
  }
  void scratch(PlannedStep& s, uint64_t bytes) { use(s, new_block(bytes), bytes); }
  // A new block, or the one that the result takes over.
  void give(PlannedStep& s, const Value& v, int block) {
    const uint64_t bytes = bytes_of(v.type());
    if (block < 0) block = new_block(bytes);
    this->block(v) = block;
    left_[static_cast<size_t>(block)] += uses_[number(v)];
    use(s, block, bytes);
  }
  void finish(PlannedStep s) { out_.steps.push_back(std::move(s)); }

  void add_nest(const Node& n) {
    const bool nested = n.op->def.loops || n.op->def.scalar.set();
    if (!nested || n.op->holds_code) refuse(n, "has no loops that Lite could run");
    if (n.op->def.random) refuse(n, "draws random numbers");
    std::vector<const ir::Type*> in;
    for (const Value& v : n.inputs) in.push_back(v ? &v.type() : nullptr);
    loops::Nest nest = cpu::build_nest({*n.op, in, n.types, n.attrs});
    PlannedStep s = begin(n, StepKind::Nest);
    for (const Value& v : n.inputs) {
      if (v) read(s, v);
    }
    for (uint32_t j = 0; j < n.types.size(); ++j) {
      const Value v{const_cast<Node*>(&n), j};
      give(s, v, j == 0 ? in_place(nest, s.blocks, bytes_of(v.type())) : -1);
    }
    for (const auto& b : nest.buffers()) {
      if (b.role == loops::Nest::BufferInfo::kScratch)
        scratch(s, static_cast<uint64_t>(b.scratch_elements) * size_of(b.dtype));
    }
    s.nest = state_.nest_of(std::move(nest));
    finish(std::move(s));
  }

  // The operand that nobody reads afterwards and whose bytes the result may take, or -1.
  int in_place(const loops::Nest& nest, const std::vector<int>& operands, uint64_t bytes) const {
    for (size_t k = 0; k < operands.size(); ++k) {
      const Block& b = blocks_[static_cast<size_t>(operands[k])];
      const bool again = std::count(operands.begin(), operands.end(), operands[k]) > 1;
      if (nest.impl().in_place[k] && !b.placed && b.bytes == bytes && !again &&
          left_[static_cast<size_t>(operands[k])] == 0) {
        return operands[k];
      }
    }
    return -1;
  }

  // -- contractions
  bool add_contraction(const Node& n) {
    Contraction c;
    if (!contraction_of(n, c)) return false;
    const bool weight = weight_of_.count(number(c.w)) > 0;
    if (c.convolution && !weight) return false;
    // What follows may become part of it: each step reads the result of the last one alone.
    const Node* last = &n;
    for (int i = 0; i < 3; ++i) {
      const Value y{const_cast<Node*>(last), 0};
      const Node* user = users_[number(y)];
      if (uses_[number(y)] != 1 || !user || done_.count(user)) break;
      if (!joins(*user, y, c, [&](const Value& v) { return steady(v); })) break;
      last = user;
      done_.insert(user);
    }
    PlannedStep s =
        begin(n, c.convolution ? (c.depthwise ? StepKind::Depthwise : StepKind::Convolution)
                               : StepKind::Product);
    read(s, c.x);
    const bool packed = weight && c.packing != Packing::kPlain;
    if (packed) {
      const int at = state_.constant_of(weight_of_[number(c.w)], c.packing, c.groups);
      const std::vector<int64_t> dims(c.w.shape().begin(), c.w.shape().end());
      const auto bytes = 4 * static_cast<uint64_t>(packed_size(c.packing, dims, c.groups));
      blocks_.push_back(
          {bytes, 0, -1, true, {PlaceKind::Constant, static_cast<uint64_t>(at), bytes}});
      left_.push_back(0);
      use(s, static_cast<int>(blocks_.size()) - 1, bytes);
    } else {
      read(s, c.w);
    }
    if (c.bias) read(s, c.bias);
    give(s, {const_cast<Node*>(last), 0}, -1);
    write_numbers(c, packed, s.numbers, s.reals);
    for (uint64_t bytes : scratch_of(c, packed)) scratch(s, bytes);
    finish(std::move(s));
    return true;
  }

  bool steady(const Value& v) const {
    return v.node->op == ir::core_ops().constant || weight_of_.count(number(v)) > 0;
  }

  // -- control flow
  PlannedBody region(const Node& n, const ir::GraphPtr& g) {
    if (depth_ >= kMostDepth) refuse(n, "has too many regions inside each other");
    return plan_body(state_, *g, g->params().size(), depth_ + 1);
  }

  void add_control(const Node& n) {
    const bool loop = n.op == ir::core_ops().while_loop;
    PlannedStep s = begin(n, loop ? StepKind::While : StepKind::Cond);
    for (const Value& v : n.inputs) read(s, v);
    for (uint32_t j = 0; j < n.types.size(); ++j) give(s, {const_cast<Node*>(&n), j}, -1);
    s.bodies.push_back(region(n, n.attrs[0].graph()));
    s.bodies.push_back(region(n, n.attrs[1].graph()));
    if (loop) {
      for (size_t i = 0; i < n.types.size(); ++i) {
        if (!(s.bodies[1].outputs[i].shape == n.inputs[i].shape())) {
          refuse(n, fmt::format("carries value {} whose shape changes from {} to {}", i,
                                n.inputs[i].shape().str(), s.bodies[1].outputs[i].shape.str()));
        }
        scratch(s, bytes_of(n.types[i]));
      }
      scratch(s, 1);
    }
    scratch(s, std::max(s.bodies[0].arena, s.bodies[1].arena));
    finish(std::move(s));
  }

  // A part for a delegate is a call of a function with its name.
  void add_call(const Node& n) {
    const ir::FunctionPtr f = n.attrs[0].function();
    constexpr std::string_view kMark = "delegate ";
    if (!f->name.starts_with(kMark) || !state_.write_part || !f->body)
      refuse(n, fmt::format("calls @{}, which may call itself", f->name));
    PlannedStep s = begin(n, StepKind::Delegate);
    s.op = f->name.substr(kMark.size());
    for (const Value& v : n.inputs) {
      s.in_types.push_back(v.type());
      read(s, v);
    }
    for (uint32_t j = 0; j < n.types.size(); ++j) {
      s.out_types.push_back(n.types[j]);
      give(s, {const_cast<Node*>(&n), j}, -1);
    }
    const std::string part = state_.write_part(*f->body);
    Tensor bytes = Tensor::empty(DType::kUInt8, Shape({static_cast<int64_t>(part.size())}));
    std::copy(part.begin(), part.end(), static_cast<char*>(bytes.mutable_raw()));
    s.numbers.push_back(state_.constant_of(bytes));
    s.bodies.push_back(region(n, f->body));
    scratch(s, s.bodies[0].arena);
    finish(std::move(s));
  }

  // -- places
  int new_block(uint64_t bytes) {
    blocks_.push_back({bytes, step(), -1, false, {}});
    left_.push_back(0);
    return static_cast<int>(blocks_.size()) - 1;
  }
  void touch(int block, int step) {
    Block& b = blocks_[static_cast<size_t>(block)];
    b.last = std::max(b.last, step);
  }

  // A result is written where the caller wants it; what lies elsewhere already is copied.
  void take_results() {
    for (size_t r = 0; r < g_.results().size(); ++r) {
      const Value& v = g_.results()[r];
      if (!v.shape().known() || v.type().kind != ir::Type::Kind::kTensor)
        refuse(*v.node, "gives a result of unknown shape");
      out_.outputs.push_back(v.type());
      const int from = operand(v);
      Block& b = blocks_[static_cast<size_t>(from)];
      if (!b.placed && b.bytes == bytes_of(v.type())) {
        b.placed = true;
        b.place = {PlaceKind::Output, r, b.bytes};
        continue;
      }
      PlannedStep copy;
      copy.kind = StepKind::Copy;
      copy.op = "copy";
      use(copy, from, bytes_of(v.type()));
      blocks_.push_back(
          {bytes_of(v.type()), 0, -1, true, {PlaceKind::Output, r, bytes_of(v.type())}});
      left_.push_back(0);
      use(copy, static_cast<int>(blocks_.size()) - 1, bytes_of(v.type()));
      finish(std::move(copy));
    }
  }

  void place() {
    std::vector<runtime::BufferLife> lives;
    std::vector<size_t> of;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const Block& b = blocks_[i];
      if (b.placed || b.last < 0) continue;
      lives.push_back({b.bytes, b.first, b.last, 0});
      of.push_back(i);
    }
    out_.arena = lives.empty() ? 0 : runtime::place_buffers(lives, 64);
    for (size_t i = 0; i < of.size(); ++i) {
      blocks_[of[i]].place = {PlaceKind::Arena, lives[i].offset, blocks_[of[i]].bytes};
    }
    for (PlannedStep& s : out_.steps) {
      for (size_t i = 0; i < s.blocks.size(); ++i) {
        PlannedPlace p = blocks_[static_cast<size_t>(s.blocks[i])].place;
        p.bytes = s.bytes[i];
        s.places.push_back(p);
      }
    }
  }

  Planner::State& state_;
  const ir::Graph& g_;
  size_t inputs_;
  int depth_;
  PlannedBody out_;
  std::vector<size_t> first_;         // by node
  std::vector<int> block_of_, uses_;  // by value
  std::vector<const Node*> users_;    // by value: one of them; null where a result
  std::vector<Block> blocks_;
  std::vector<int> left_;                      // by block: readers to come, results included
  std::unordered_map<size_t, int> weight_of_;  // values that are weights
  std::set<const Node*> done_;                 // parts of an earlier step
};

}  // namespace

PlannedBody plan_body(Planner::State& state, const ir::Graph& g, size_t inputs, int depth) {
  return BodyPlanner(state, g, inputs, depth).run();
}

}  // namespace mycel::lite
