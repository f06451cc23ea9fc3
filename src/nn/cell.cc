#include "nn/cell.h"

#include <algorithm>
#include <cstdlib>
#include <typeinfo>
#include <unordered_set>

#include <cxxabi.h>
#include <fmt/format.h>

#include "base/error.h"
#include "ir/core_ops.h"
#include "nn/cell_watch.h"
#include "runtime/dispatch.h"
#include "runtime/trace.h"

namespace mycel::nn {
namespace {

// The cells that are running on this thread, outermost first.
struct CallStack {
  std::vector<const std::string*> names;
  std::vector<const Cell*> cells;
  bool reported = false;  // the error on its way out has its path already
};
CallStack& call_stack() {
  thread_local CallStack s;
  return s;
}

class Entered {
 public:
  Entered(const Cell& cell, const std::string& name) {
    CallStack& s = call_stack();
    s.names.push_back(&name);
    s.cells.push_back(&cell);
    s.reported = false;
  }
  ~Entered() {
    CallStack& s = call_stack();
    s.names.pop_back();
    s.cells.pop_back();
  }
};

// "In LeNet.block1.conv (Conv2d): ", the way to the innermost cell that runs. Nothing to say about
// a cell that is called on its own.
std::string path_of_running_cell() {
  const CallStack& s = call_stack();
  if (s.cells.size() < 2) return "";
  std::string path = s.cells.front()->class_name();
  for (size_t i = 1; i < s.names.size(); ++i) path += "." + *s.names[i];
  return fmt::format("In {} ({}): ", path, s.cells.back()->class_name());
}

thread_local bool g_without_init = false;
thread_local CellWatch* g_watch = nullptr;

Tensor cast_float(const Tensor& t, DType to) {
  bool cast = t && is_float(t.dtype()) && t.dtype() != to;
  return cast ? runtime::call1(*ir::core_ops().cast, {t}, {to}) : t;
}

Tensors cast_floats(Inputs in, DType to) {
  Tensors out;
  for (const Tensor& t : in) out.push_back(cast_float(t, to));
  return out;
}

}  // namespace

std::string Cell::class_name() const {
  int status = 0;
  char* text = abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status);
  std::string name = status == 0 && text ? text : "Cell";
  std::free(text);
  size_t colon = name.rfind("::");
  return colon == name.npos ? name : name.substr(colon + 2);
}

CellWatch* cell_watch() { return g_watch; }
void set_cell_watch(CellWatch* watch) { g_watch = watch; }

Tensors Cell::run(Inputs inputs) {
  Entered entered(*this, name_);
  if (g_watch) g_watch->enter(*this);
  try {
    Tensors out = casts_ ? construct(cast_floats(inputs, cast_to_)) : construct(inputs);
    if (g_watch) g_watch->leave(*this, out);
    return out;
  } catch (UserError& e) {
    CallStack& s = call_stack();
    if (!s.reported) e.prefix(path_of_running_cell());
    s.reported = true;
    throw;
  }
}

Tensor Cell::single(Tensors results) const {
  if (results.size() == 1) return std::move(results[0]);
  type_error("{} gives {} results; call run(inputs) for all of them", class_name(), results.size());
}

void Cell::check_name(const std::string& name) const {
  if (name.empty() || name.find('.') != std::string::npos) {
    value_error(
        "{}: '{}' cannot name a part of a cell: the name must not be empty nor contain a dot",
        class_name(), name);
  }
  for (const auto& [n, c] : children_) {
    if (n == name)
      value_error("{}: the name '{}' belongs to a child cell already", class_name(), name);
  }
  for (const auto& [n, p] : parameters_) {
    if (n == name)
      value_error("{}: the name '{}' belongs to a parameter already", class_name(), name);
  }
}

void Cell::insert_child(const std::string& name, CellPtr child) {
  if (!child) type_error("{}: the child cell '{}' is null", class_name(), name);
  check_name(name);
  child->update_parameters_name(name + ".");
  child->name_ = name;
  children_.emplace_back(name, std::move(child));
}

Parameter Cell::add(const std::string& name, const Shape& shape, const Init& init,
                    bool requires_grad, DType dtype) {
  check_name(name);
  Tensor first = g_without_init ? Tensor::zeros(dtype, shape) : init.make(shape, dtype);
  return add(name, make_parameter(std::move(first), name, requires_grad));
}

Parameter Cell::add(const std::string& name, Parameter parameter) {
  check_name(name);
  if (!parameter->requires_grad) states_.push_back(name);
  parameters_.emplace_back(name, parameter);
  return parameter;
}

void Cell::add_state(Parameter parameter) {
  parameters_.emplace_back(parameter->name, std::move(parameter));
}

void Cell::replace_parameter(const std::string& name, Parameter parameter) {
  for (auto& [n, p] : parameters_) {
    if (n != name) continue;
    p = std::move(parameter);
    return;
  }
  fail(ErrorKind::kKey, "{} has no parameter '{}'", class_name(), name);
}

void Cell::replace_child(const std::string& name, CellPtr child) {
  for (auto& [n, c] : children_) {
    if (n != name) continue;
    child->update_parameters_name(name + ".");
    child->name_ = name;
    c = std::move(child);
    return;
  }
  fail(ErrorKind::kKey, "{} has no child '{}'", class_name(), name);
}

void Cell::collect(const std::string& prefix, bool recurse,
                   std::vector<NamedParameter>& out) const {
  for (const auto& [name, p] : parameters_) out.push_back({prefix + name, p});
  if (!recurse) return;
  for (const auto& [name, child] : children_) child->collect(prefix + name + ".", true, out);
}

std::vector<Cell::NamedParameter> Cell::parameters_and_names(bool recurse) const {
  std::vector<NamedParameter> all, once;
  collect("", recurse, all);
  std::unordered_set<const ParameterData*> seen;
  for (NamedParameter& p : all) {
    if (seen.insert(p.parameter.get()).second) once.push_back(std::move(p));
  }
  return once;
}

std::vector<Parameter> Cell::parameters() const {
  std::vector<Parameter> out;
  for (const NamedParameter& p : parameters_and_names()) out.push_back(p.parameter);
  return out;
}

std::vector<Parameter> Cell::trainable_params() const {
  std::vector<Parameter> out = parameters();
  std::erase_if(out, [](const Parameter& p) { return !p->requires_grad; });
  return out;
}

std::vector<Parameter> Cell::untrainable_params() const {
  std::vector<Parameter> out = parameters();
  std::erase_if(out, [](const Parameter& p) { return p->requires_grad; });
  return out;
}

CellPtr Cell::child(const std::string& name) const {
  for (const auto& [n, c] : children_) {
    if (n == name) return c;
  }
  fail(ErrorKind::kKey, "{} has no child '{}'", class_name(), name);
}

Parameter Cell::parameter(const std::string& path) const {
  for (const NamedParameter& p : parameters_and_names()) {
    if (p.name == path) return p.parameter;
  }
  fail(ErrorKind::kKey, "{} has no parameter '{}'", class_name(), path);
}

void Cell::set_train(bool mode) {
  training_ = mode;
  for (const auto& [name, child] : children_) child->set_train(mode);
}

void Cell::freeze() {
  for (const Parameter& p : parameters()) p->requires_grad = false;
}

void Cell::unfreeze() {
  for (const Parameter& p : parameters()) p->requires_grad = true;
}

void Cell::to_float(DType dtype) {
  if (!is_float(dtype)) {
    type_error("{}: to_float takes float16, bfloat16, float32 or float64, got {}", class_name(),
               name_of(dtype));
  }
  casts_ = true;
  cast_to_ = dtype;
  for (const auto& [name, child] : children_) child->to_float(dtype);
}

void Cell::update_parameters_name(const std::string& prefix) {
  for (const NamedParameter& p : parameters_and_names()) p.parameter->name = prefix + p.name;
}

std::string Cell::str() const {
  std::string s = class_name() + "<" + extra_repr();
  for (const auto& [name, child] : children_) {
    s += "\n  (" + name + "): ";
    for (char c : child->str()) s += c == '\n' ? std::string("\n  ") : std::string(1, c);
  }
  return s + (children_.empty() ? ">" : "\n  >");
}

Parameter Cell::find_own(std::string_view name) const {
  for (const auto& [n, p] : parameters_) {
    if (n == name) return p;
  }
  return nullptr;
}

Tensor Cell::computed(const std::pair<std::string, Parameter>& own) const {
  const auto& [name, p] = own;
  if (!casts_ || std::find(states_.begin(), states_.end(), name) != states_.end()) return p->value;
  return cast_float(p->value, cast_to_);
}

Tensor Cell::value(std::string_view name) const {
  for (const auto& own : parameters_) {
    if (own.first == name) return computed(own);
  }
  MYCEL_CHECK(false, "{} has no parameter '{}'", class_name(), name);
}

Tensor Cell::value(size_t place) const {
  return place < parameters_.size() ? computed(parameters_[place]) : Tensor();
}

WithoutInit::WithoutInit() : before_(g_without_init) { g_without_init = true; }
WithoutInit::~WithoutInit() { g_without_init = before_; }

SequentialCell::SequentialCell(std::initializer_list<CellPtr> cells) {
  for (const CellPtr& c : cells) append(c);
}
SequentialCell::SequentialCell(const std::vector<CellPtr>& cells) {
  for (const CellPtr& c : cells) append(c);
}

void SequentialCell::append(CellPtr cell) {
  add(std::to_string(children().size()), std::move(cell));
}

Tensors SequentialCell::construct(Inputs inputs) {
  Tensors values(inputs.begin(), inputs.end());
  for (const auto& [name, cell] : children()) values = cell->run(values);
  return values;
}

CellList::CellList(std::initializer_list<CellPtr> cells) {
  for (const CellPtr& c : cells) append(c);
}

void CellList::append(CellPtr cell) { add(std::to_string(children().size()), std::move(cell)); }

Tensors CellList::construct(Inputs) {
  fail(ErrorKind::kRuntime, "CellList: a list of cells cannot be called; call its elements");
}

Tensor settle(const Tensor& old_value, Tensor new_value) {
  Tensor before = old_value;
  runtime::Traced* watched = runtime::live_trace(before);
  int keep = watched ? watched->level->depth : 0;
  while (runtime::Traced* trace = runtime::live_trace(new_value)) {
    // Under a region's values there are only types.
    if (trace->level->depth <= keep || trace->level->recorder->closed()) break;
    new_value = Tensor(trace->primal);
  }
  return new_value;
}

}  // namespace mycel::nn
