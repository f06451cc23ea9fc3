// The state of vmap over one graph (batch.h): what stands for each value, and which examples take
// part. batch.cc has the ordinary nodes, batch_control.cc branches, loops and calls.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace mycel::autodiff {

class Batcher {
 public:
  using Flags = std::vector<bool>;
  struct Item {
    ir::Value value;
    bool batched = false;
  };

  // `looped`, if given, receives the names of the ops that run once per example.
  Batcher(int64_t size, ir::Graph& out, std::vector<std::string>* looped)
      : size_(size), out_(out), looped_(looped) {}

  // A batch of bools: the examples that take part. The others compute with the values of one that
  // does (see `stand_ins`); their pushes, pops and effects do not happen.
  void set_mask(ir::Value mask) { mask_ = mask; }
  void set(const ir::Value& v, Item item) { items_[{v.node->id, v.index}] = item; }
  const Item& at(const ir::Value& v) const { return items_.at({v.node->id, v.index}); }
  void run(const ir::Graph& g);
  // The item with the batch axis in any case.
  ir::Value spread(const Item& item, const ir::Type& t);

 private:
  struct Region {
    std::shared_ptr<ir::Graph> graph;
    std::vector<ir::Value> carried;  // parameters for the region's own
    ir::Value mask;                  // parameter, when there is one
  };
  struct Carried {
    Flags batched;
    bool masked = false;  // the condition differs between examples
  };

  ir::Value emit(const ir::Op& op, std::vector<ir::Value> in, ir::Attrs attrs = {});
  ir::Value spread_stack(const ir::Value& v, const ir::Type& t);
  void visit(ir::Node* n);
  void copy(ir::Node* n);
  void give(ir::Node* n, const std::vector<ir::Value>& batched);
  void ordinary(ir::Node* n);
  void once_per_example(ir::Node* n);

  ir::Value own_mask(ir::Node* n, size_t operand);
  void push(ir::Node* n);
  void pop(ir::Node* n);
  void add_stacks(ir::Node* n);
  ir::Value swapped(ir::Value v);
  void from_rows(ir::Node* n);
  void to_rows(ir::Node* n);

  // Per example the number of one that takes part: its own where it does. One must.
  ir::Value stand_ins(ir::Value mask);
  // Batched values of examples that do not take part replaced by those of their stand-ins, so that
  // nothing is computed that no example asked for: no error, no infinity, no endless loop.
  std::vector<ir::Value> replaced(const std::vector<ir::Value>& args, const Flags& batched,
                                  ir::Value stand_ins);
  ir::Value select(ir::Value mask, ir::Value yes, ir::Value no);
  Region open(const ir::Graph& g, const Flags& batched, bool masked) const;
  std::vector<Item> apply(const ir::Graph& g, const std::vector<ir::Value>& args,
                          const Flags& batched, ir::Value mask);
  // The same in the graph of a region.
  Batcher inside(const Region& r) const { return {size_, *r.graph, looped_}; }
  Flags flags_of(const ir::Graph& g, const Flags& batched, bool masked) const;

  void branch(ir::Node* n);
  ir::GraphPtr branch_region(const ir::Graph& g, const Flags& in, const Flags& out) const;
  void both(ir::Node* n, const ir::Graph& then, const ir::Graph& otherwise,
            const std::vector<ir::Value>& args, const Flags& in);
  std::vector<ir::Value> one_side(ir::Node* n, const ir::Graph& g,
                                  const std::vector<ir::Value>& args, const Flags& in,
                                  const std::vector<int>& effects, ir::Value mask);
  Carried settle(ir::Node* n, const ir::Graph& condition, const ir::Graph& body) const;
  ir::Value going_on(const ir::Graph& condition, const std::vector<ir::Value>& carried,
                     const Flags& batched);
  ir::GraphPtr loop_condition(const ir::Graph& condition, const Carried& c) const;
  ir::GraphPtr loop_body(const ir::Graph& condition, const ir::Graph& body, const Carried& c) const;
  void loop(ir::Node* n);
  ir::FunctionPtr derived(const ir::FunctionPtr& f, const Flags& in) const;
  void called(ir::Node* n);
  // The results of `then` where some example takes part, else zeros.
  ir::Node* guarded(const ir::GraphPtr& then, const std::vector<ir::Value>& args, ir::Value mask);

  const int64_t size_;
  ir::Graph& out_;
  std::vector<std::string>* looped_;
  ir::Value mask_;
  ir::Loc loc_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, Item> items_;
};

inline bool is_stack(const ir::Type& t) { return t.kind == ir::Type::Kind::kStack; }

inline ir::Type batched_type(const ir::Type& t, int64_t size) {
  Shape s{size};
  for (int64_t d : t.shape) s.push_back(d);
  return {t.dtype, s, t.kind};
}

}  // namespace mycel::autodiff
