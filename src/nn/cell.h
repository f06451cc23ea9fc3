// Cell: the base class of networks. It owns named parameters and named child cells in the order in
// which they were added, and turns tensors into tensors in `construct`. A C++ network is a few
// lines:
//
//   struct Net : nn::Cell {
//     nn::CellPtr conv = add("conv", nn::conv2d(1, 6, 3));
//     nn::CellPtr head = add("head", nn::dense(6, 10));
//     Tensors construct(nn::Inputs x) override { return {head(ops::mean(conv(x[0]), {2, 3}))}; }
//   };
//
// Parameters are known by their path ("conv.weight"), which is also the name they carry.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nn/init.h"
#include "nn/parameter.h"

namespace mycel::nn {

class Cell;
using Inputs = std::span<const Tensor>;

// A shared cell that is called like a function.
class CellPtr : public std::shared_ptr<Cell> {
 public:
  using std::shared_ptr<Cell>::shared_ptr;
  CellPtr(std::shared_ptr<Cell> p) : std::shared_ptr<Cell>(std::move(p)) {}  // NOLINT
  // For cells with one result.
  template <typename... T>
    requires(std::is_same_v<T, Tensor> && ...)
  Tensor operator()(const T&... x) const;
};

class Cell {
 public:
  Cell() = default;
  virtual ~Cell() = default;
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  // What the cell computes.
  virtual Tensors construct(Inputs inputs) = 0;
  virtual std::string class_name() const;  // the C++ class by default
  // What stands between the parentheses when the cell is printed: "kernel_size=(3, 3), stride=(1,
  // 1)".
  virtual std::string extra_repr() const { return ""; }

  // Runs the cell. Errors raised inside a layer carry its path ("In net.block1.conv: …").
  Tensors run(Inputs inputs);
  template <typename... T>
    requires(std::is_same_v<T, Tensor> && ...)
  Tensor operator()(const T&... x) {
    const Tensor inputs[] = {x...};
    return single(run(inputs));
  }

  // Adds a child; its parameters' names get `name.` in front. ValueError when the name is taken or
  // contains a dot. Gives the child back, so that members can be initialised with it.
  template <typename C>
    requires std::is_base_of_v<Cell, C>
  std::shared_ptr<C> add(const std::string& name, std::shared_ptr<C> child) {
    insert_child(name, child);
    return child;
  }
  CellPtr add(const std::string& name, CellPtr child) {
    insert_child(name, child);
    return child;
  }
  // Adds a parameter with first values from `init`.
  Parameter add(const std::string& name, const Shape& shape, const Init& init,
                bool requires_grad = true, DType dtype = DType::kFloat32);
  Parameter add(const std::string& name, Parameter parameter);
  // Puts another parameter in the place of one that exists (sharing, loading).
  void replace_parameter(const std::string& name, Parameter parameter);
  void replace_child(const std::string& name, CellPtr child);

  struct NamedParameter {
    std::string name;  // path from this cell
    Parameter parameter;
  };
  // All parameters of this cell and, when `recurse`, of its children: own ones first, then depth
  // first in order of addition; one that is shared appears once, under its first path.
  std::vector<NamedParameter> parameters_and_names(bool recurse = true) const;
  std::vector<Parameter> parameters() const;
  std::vector<Parameter> trainable_params() const;
  std::vector<Parameter> untrainable_params() const;
  const std::vector<std::pair<std::string, CellPtr>>& children() const { return children_; }
  const std::vector<std::pair<std::string, Parameter>>& own_parameters() const {
    return parameters_;
  }
  CellPtr child(const std::string& name) const;  // KeyError when there is none
  Parameter parameter(
      const std::string& path) const;  // "block.conv.weight"; KeyError when there is none

  // Training or inference behaviour, for this cell and all below.
  void set_train(bool mode = true);
  bool training() const { return training_; }
  // requires_grad of every parameter below.
  void freeze();
  void unfreeze();
  // This cell and all below compute in `dtype`: floating-point inputs and parameters are cast to
  // it. States (parameters added with requires_grad = false) keep their own.
  void to_float(DType dtype);
  // Names every parameter by its path with `prefix` in front.
  void update_parameters_name(const std::string& prefix);

  // The tree of layers, one a line.
  std::string str() const;

 protected:
  // A parameter under the name it carries, dots included: the states of optimizers.
  void add_state(Parameter parameter);
  // The value of an own parameter as it computes with it; MYCEL_CHECK when there is none.
  Tensor value(std::string_view name) const;
  Tensor value(size_t place) const;                 // in order of addition; empty behind the last
  Parameter find_own(std::string_view name) const;  // null when there is none

 private:
  void insert_child(const std::string& name, CellPtr child);
  void check_name(const std::string& name) const;
  Tensor single(Tensors results) const;
  Tensor computed(const std::pair<std::string, Parameter>& own) const;
  void collect(const std::string& prefix, bool recurse, std::vector<NamedParameter>& out) const;

  std::vector<std::pair<std::string, Parameter>> parameters_;
  std::vector<std::string> states_;  // names of parameters that were added without gradients
  std::vector<std::pair<std::string, CellPtr>> children_;
  std::string name_;  // in the parent
  bool training_ = false;
  bool casts_ = false;
  DType cast_to_ = DType::kFloat32;
};

template <typename... T>
  requires(std::is_same_v<T, Tensor> && ...)
Tensor CellPtr::operator()(const T&... x) const {
  return (**this)(x...);
}

// While one of these lives, this thread's new parameters are zeros instead of drawn: for copies
// whose values come from elsewhere.
class WithoutInit {
 public:
  WithoutInit();
  ~WithoutInit();

 private:
  bool before_;
};

// Cells one after the other: each gets the result of the one before.
class SequentialCell : public Cell {
 public:
  SequentialCell() = default;
  SequentialCell(std::initializer_list<CellPtr> cells);
  explicit SequentialCell(const std::vector<CellPtr>& cells);
  void append(CellPtr cell);
  Tensors construct(Inputs inputs) override;
  std::string class_name() const override { return "SequentialCell"; }
};
inline std::shared_ptr<SequentialCell> sequential(std::initializer_list<CellPtr> cells) {
  return std::make_shared<SequentialCell>(cells);
}

// A list of cells that another cell runs as it likes.
class CellList : public Cell {
 public:
  CellList() = default;
  CellList(std::initializer_list<CellPtr> cells);
  void append(CellPtr cell);
  size_t size() const { return children().size(); }
  Cell& operator[](size_t i) const { return *children()[i].second; }
  Tensors construct(Inputs inputs) override;  // RuntimeError: a list is not a function
  std::string class_name() const override { return "CellList"; }
};

// The new value of a state (moving statistics, optimizer step) as it may be stored: traces that
// watch the network but not this state are taken off, so that nothing of a finished transform stays
// alive.
Tensor settle(const Tensor& old_value, Tensor new_value);

}  // namespace mycel::nn
