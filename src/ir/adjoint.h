// Adjoint: what a gradient rule sees. Given the operands x(i), results y(j) and the gradients dy(j)
// of one node, the rule adds to dx(i). Additions are summed back to the operand's shape when it was
// broadcast and cast to its dtype, so a rule is written as on paper. Everything a rule emits is
// ordinary graph, so a gradient has a gradient.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace mycel::ir {

struct SplitGradient {
  std::shared_ptr<const Graph> region;  // the region with composite ops expanded
  std::vector<Value> residuals;         // values of `region` that the second half reads
  // (residuals…, one seed per differentiable result…) -> gradients of the parameters in `wrt`.
  std::shared_ptr<const Graph> backward;
};

class Adjoint {
 public:
  virtual ~Adjoint() = default;

  const Node& node() const { return *node_; }
  AttrsView attrs() const { return node_->view(); }
  int inputs() const { return static_cast<int>(node_->inputs.size()); }
  // Operand and result values, as seen from the backward graph (fetched as residuals when first
  // used, so do not ask for what is not needed).
  virtual Value x(int i) = 0;
  virtual Value y(int j = 0) = 0;
  // Gradient that arrives at result j; zeros when none does.
  virtual Value dy(int j = 0) = 0;
  virtual bool has_dy(int j) const = 0;
  // False when nobody needs the gradient of operand i: costly parts can be left out.
  virtual bool wants(int i) const = 0;
  // Types, without turning the value into a residual.
  const Type& x_type(int i) const { return node_->inputs[i].type(); }
  const Type& y_type(int j = 0) const { return node_->types[j]; }
  virtual Graph& graph() = 0;  // the backward graph under construction
  // For ops with regions: (parameters of the region…, one seed per differentiable result…) ->
  // gradients of the parameters listed in `wrt`.
  virtual GraphPtr region_gradient(const ir::Graph& region, const std::vector<int>& wrt) = 0;
  // The same in two halves, for ops that run them at different times.
  virtual SplitGradient split_gradient(const ir::Graph& region, const std::vector<int>& wrt) = 0;
  // (arguments of f…, one seed per differentiable result…) -> gradients of the arguments in `wrt`,
  // as a function of its own, whose body may not be known yet.
  virtual FunctionPtr function_gradient(const FunctionPtr& f, const std::vector<int>& wrt) = 0;
  Value scalar(DType d, double v) { return graph().scalar(d, v); }

  class Sum {
   public:
    Sum(Adjoint& a, int i) : a_(a), i_(i) {}
    void operator+=(Value v) { a_.add(i_, v); }
    void operator-=(Value v);

   private:
    Adjoint& a_;
    int i_;
  };
  Sum dx(int i) { return {*this, i}; }

 protected:
  virtual void add(int i, Value v) = 0;
  Node* node_ = nullptr;
};

}  // namespace mycel::ir
