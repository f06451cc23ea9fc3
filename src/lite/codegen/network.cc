#include "lite/codegen/network.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include <fmt/format.h>

#include "backend/cpu/nest_kernel.h"
#include "base/error.h"
#include "ir/core_ops.h"
#include "lite/codegen/joined_nest.h"
#include "loops/expr.h"
#include "passes/pass.h"
#include "runtime/dispatch.h"
#include "runtime/memory_plan.h"

namespace mycel::lite {
namespace {

using ir::Node;
using ir::Value;

Tensors evaluate(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  return runtime::call(op, in, attrs);
}

// The same graph with its weights inside.
std::shared_ptr<ir::Graph> closed(const ir::Graph& g, const Tensors& weights) {
  auto whole = std::make_shared<ir::Graph>(g.name());
  const size_t inputs = g.params().size() - weights.size();
  std::vector<Value> args;
  for (size_t i = 0; i < inputs; ++i) {
    args.push_back(whole->add_param(g.params()[i].type(), g.params()[i].node->name));
  }
  for (const Tensor& w : weights) args.push_back(whole->constant(w));
  whole->set_results(ir::inline_graph(g, *whole, args));
  return whole;
}

class Lowering {
 public:
  Lowering(const ir::Graph& g, Network& net) : g_(g), net_(net) {}

  void run() {
    number_values();
    for (const Node& n : g_.nodes()) add(n);
    take_results();
    place();
    drop_unused();
  }

 private:
  // Bytes that several values may share, one after the other.
  struct Block {
    size_t bytes = 0;
    int first = 0, last = -1;  // steps
    bool placed = false;       // not in the arena
    Place place;
  };

  int number(const Value& v) const { return first_[v.node->id] + static_cast<int>(v.index); }

  void number_values() {
    int next = 0;
    for (const Node& n : g_.nodes()) {
      first_.push_back(next);
      next += static_cast<int>(n.types.size());
    }
    block_of_.assign(static_cast<size_t>(next), -1);
    uses_.assign(static_cast<size_t>(next), 0);
    for (const Node& n : g_.nodes()) {
      for (const Value& v : n.inputs) {
        if (v) ++uses_[static_cast<size_t>(number(v))];
      }
    }
    for (const Value& v : g_.results()) ++uses_[static_cast<size_t>(number(v))];
    for (size_t i = 0; i < g_.params().size(); ++i) {
      give_place(number(g_.params()[i]), {Place::kInput, i});
    }
  }

  void give_place(int value, Place place) {
    block_of_[static_cast<size_t>(value)] = static_cast<int>(blocks_.size());
    blocks_.push_back({0, 0, -1, true, place});
    left_.push_back(0);
  }

  static size_t bytes_of(const ir::Type& t) {
    return static_cast<size_t>(t.shape.size()) * size_of(t.dtype);
  }

  void add(const Node& n) {
    if (n.is_param()) return;
    const ir::CoreOps& core = ir::core_ops();
    if (n.op == core.constant) {
      give_place(first_[n.id], {Place::kConstant, net_.constants.size()});
      net_.constants.push_back(n.attrs[0].tensor());
      return;
    }
    if (add_constants(n)) return;
    if (n.op->def.view) {
      // Whoever reads it reads the block of what it is a view of.
      const size_t of = static_cast<size_t>(number(n.inputs[0])),
                   v = static_cast<size_t>(first_[n.id]);
      block_of_[v] = block_of_[of];
      left_[static_cast<size_t>(block_of_[of])] += uses_[v] - 1;
      return;
    }
    add_step(n);
  }

  // What follows from constants alone is computed now.
  bool add_constants(const Node& n) {
    if (n.op->def.random || n.op->def.side_effect || n.op->holds_code) return false;
    // A large fill costs more as a constant.
    constexpr int64_t kFilled = 1024;
    if (n.inputs.empty() && n.types[0].shape.size() > kFilled) return false;
    Tensors in;
    for (const Value& v : n.inputs) {
      if (!v) {
        in.emplace_back();
        continue;
      }
      const Place* p = constant_place(v);
      if (!p) return false;
      in.push_back(net_.constants[p->index]);
    }
    const Tensors out = evaluate(*n.op, in, n.attrs);
    for (size_t j = 0; j < out.size(); ++j) {
      give_place(first_[n.id] + static_cast<int>(j), {Place::kConstant, net_.constants.size()});
      net_.constants.push_back(out[j]);
    }
    return true;
  }
  const Place* constant_place(const Value& v) const {
    const Block& b = blocks_[static_cast<size_t>(block_of_[static_cast<size_t>(number(v))])];
    return b.placed && b.place.kind == Place::kConstant ? &b.place : nullptr;
  }

  [[noreturn]] static void refuse(const Node& n, const std::string& why) {
    UserError e(ErrorKind::kUnsupported, fmt::format("C code: {} {}", n.op->name, why));
    e.set_where(ir::loc_text(n.loc));
    throw e;
  }

  loops::Nest nest_of(const Node& n) const {
    std::vector<const ir::Type*> in;
    for (const Value& v : n.inputs) in.push_back(v ? &v.type() : nullptr);
    return cpu::build_nest({*n.op, in, n.types, n.attrs});
  }

  void add_step(const Node& n) {
    const bool joined = n.op == ir::core_ops().joined;
    const bool nested = joined || n.op->def.loops || n.op->def.scalar.set();
    if (!nested || n.op->holds_code) refuse(n, "has no loops that could be written as C");
    if (n.op->def.random) refuse(n, "draws random numbers");
    for (const ir::Type& t : n.types) {
      if (!t.shape.known())
        refuse(n, fmt::format("gives a result of unknown shape {}", t.shape.str()));
    }
    JoinedNest made{loops::Nest(""), {}};
    if (joined) {
      made = joined_nest(n);
    } else {
      made.nest = nest_of(n);
    }
    loops::Nest& nest = made.nest;
    Step s;
    s.op = joined ? joined_name(n) : n.op->name;
    s.source = ir::loc_text(n.loc);
    const int at = static_cast<int>(net_.steps.size());
    std::vector<int> operands;  // blocks
    for (const Value& v : n.inputs) {
      if (!v) continue;
      operands.push_back(block_of_[static_cast<size_t>(number(v))]);
      touch(operands.back(), at);
      --left_[static_cast<size_t>(operands.back())];
    }
    for (size_t j = 0; j < n.types.size(); ++j) {
      const size_t v = static_cast<size_t>(first_[n.id]) + j;
      int block = j == 0
                      ? in_place(nest, joined ? by_buffer(made.buffers, operands, false) : operands,
                                 bytes_of(n.types[j]))
                      : -1;
      if (block < 0) block = new_block(bytes_of(n.types[j]));
      block_of_[v] = block;
      left_[static_cast<size_t>(block)] += uses_[v];
      touch(block, at);
      operands.push_back(block);
    }
    if (joined) operands = by_buffer(made.buffers, operands, true);
    for (const auto& b : nest.buffers()) {
      if (b.role != loops::Nest::BufferInfo::kScratch) continue;
      operands.push_back(new_block(static_cast<size_t>(b.scratch_elements) * size_of(b.dtype)));
      touch(operands.back(), at);
    }
    s.nest = known(std::move(nest));
    net_.steps.push_back(std::move(s));
    step_blocks_.push_back(std::move(operands));
  }

  // Blocks in the order of a joined nest's buffers; `operands`: those of the node, its result last
  // where it is `made`. What the nest does not touch is called as its first operand.
  static std::vector<int> by_buffer(const std::vector<int>& buffers,
                                    const std::vector<int>& operands, bool made) {
    std::vector<int> out;
    for (int b : buffers) {
      if (b >= 0)
        out.push_back(operands[static_cast<size_t>(b)]);
      else
        out.push_back(b == JoinedNest::kResult && made ? operands.back() : operands.front());
    }
    return out;
  }
  // "conv2d and more" for readers.
  static std::string joined_name(const Node& n) {
    std::string name;
    for (const Node& inside : n.attrs[0].graph()->nodes()) {
      if (!inside.is_param()) name += (name.empty() ? "" : " ") + std::string(inside.op->name);
    }
    return name;
  }

  // The operand that nobody reads afterwards and whose bytes the result may take, or -1.
  int in_place(const loops::Nest& nest, const std::vector<int>& operands, size_t bytes) const {
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

  int new_block(size_t bytes) {
    blocks_.push_back({bytes, static_cast<int>(net_.steps.size()), -1, false, {}});
    left_.push_back(0);
    return static_cast<int>(blocks_.size()) - 1;
  }
  void touch(int block, int step) {
    blocks_[static_cast<size_t>(block)].last =
        std::max(blocks_[static_cast<size_t>(block)].last, step);
  }

  // Nests that do the same work on the same sizes are one function.
  int known(loops::Nest nest) {
    std::string key = nest.structure();
    for (int64_t n : nest.numbers()) key += fmt::format(" {}", n);
    for (const auto& s : nest.stages()) key += fmt::format(" x{}", s.extent);
    auto [it, added] = nests_.emplace(key, static_cast<int>(net_.nests.size()));
    if (added) net_.nests.push_back(std::move(nest));
    return it->second;
  }

  // A result is written where the caller wants it; what lies elsewhere already is copied.
  void take_results() {
    for (size_t r = 0; r < g_.results().size(); ++r) {
      const Value& v = g_.results()[r];
      net_.outputs.push_back(v.type());
      const int block = block_of_[static_cast<size_t>(number(v))];
      Block& b = blocks_[static_cast<size_t>(block)];
      if (!b.placed && b.bytes == bytes_of(v.type())) {
        b.placed = true;
        b.place = {Place::kOutput, r};
        continue;
      }
      Step copy;
      copy.op = "copy";
      copy.bytes = bytes_of(v.type());
      touch(block, static_cast<int>(net_.steps.size()));
      net_.steps.push_back(std::move(copy));
      blocks_.push_back({0, 0, -1, true, {Place::kOutput, r}});
      step_blocks_.push_back({block, static_cast<int>(blocks_.size()) - 1});
    }
  }

  void place() {
    std::vector<runtime::BufferLife> lives;
    std::vector<size_t> of;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].placed) continue;
      lives.push_back({blocks_[i].bytes, blocks_[i].first, blocks_[i].last, 0});
      of.push_back(i);
    }
    net_.arena_bytes = lives.empty() ? 0 : runtime::place_buffers(lives, net_.alignment);
    for (size_t i = 0; i < of.size(); ++i) {
      blocks_[of[i]].place = {Place::kArena, lives[i].offset};
    }
    for (size_t i = 0; i < net_.steps.size(); ++i) {
      for (int b : step_blocks_[i])
        net_.steps[i].places.push_back(blocks_[static_cast<size_t>(b)].place);
    }
  }

  // Constants that only other constants were computed from.
  void drop_unused() {
    std::vector<size_t> to(net_.constants.size(), SIZE_MAX);
    Tensors kept;
    for (Step& s : net_.steps) {
      for (Place& p : s.places) {
        if (p.kind != Place::kConstant) continue;
        if (to[p.index] == SIZE_MAX) {
          to[p.index] = kept.size();
          kept.push_back(net_.constants[p.index]);
        }
        p.index = to[p.index];
      }
    }
    net_.constants = std::move(kept);
  }

  const ir::Graph& g_;
  Network& net_;
  std::vector<int> first_, block_of_, uses_;  // by node; by value
  std::vector<Block> blocks_;
  std::vector<int> left_;  // by block: readers to come, results included
  std::vector<std::vector<int>> step_blocks_;
  std::unordered_map<std::string, int> nests_;
};

}  // namespace

Network lower(const ir::Graph& graph, const std::vector<std::string>& input_names,
              const Tensors& weights) {
  const size_t inputs = graph.params().size() - weights.size();
  for (const Value& p : graph.params().first(inputs)) {
    if (!p.shape().known()) {
      throw UserError(
          ErrorKind::kValue,
          fmt::format("C code: input '{}' has the unknown shape {}", p.node->name, p.shape().str()),
          "Give all its dimensions.");
    }
  }
  // Weights stay parameters for the passes, which take what is computed from them alone apart.
  std::vector<bool> steady(graph.params().size(), false);
  std::fill(steady.begin() + static_cast<std::ptrdiff_t>(inputs), steady.end(), true);
  auto compiled = passes::optimize(graph, evaluate, nullptr, steady);
  auto plain = passes::fuse_elementwise(*passes::expand_to_loops(*compiled));
  plain = join_loops(*passes::eliminate_dead_code(*plain));
  plain = closed(*passes::eliminate_dead_code(*plain), weights);
  Network net;
  net.input_names = input_names;
  for (const Value& p : plain->params()) net.inputs.push_back(p.type());
  Lowering(*plain, net).run();
  return net;
}

}  // namespace mycel::lite
