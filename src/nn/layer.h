// LayerDef: the one record of a layer (DESIGN §3). From it come the C++ factory (mycel/nn.h),
// nn::make by name, the Python class with its signature and docstring, the reference page, and the
// tests' list.
//
//   constexpr LayerDef kDense = check({
//       .name = "Dense",
//       .doc = "y = activation(x W^T + b). x: [..., in], y: [..., out].",
//       .args = {"in_channels: int", "out_channels: int", "weight_init: init = normal", …},
//       .setup = [](Layer& l) { l.add("weight", {out, in}, l.args.init("weight_init")); },
//       .construct = [](Layer& l, Inputs x) { return ops::matmul(x[0], …); },
//   });
//
// Rooms of records are listed in layer.cc (all_layers); nothing registers itself before main.
#pragma once

#include <any>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "nn/args.h"
#include "nn/cell.h"

namespace mycel::nn {

class Layer;

// What a layer computes: a lambda or a function that gives one tensor or several.
struct LayerRule {
  Tensor (*one)(Layer&, Inputs) = nullptr;
  Tensors (*many)(Layer&, Inputs) = nullptr;
  constexpr LayerRule() = default;
  template <typename F>
    requires std::is_convertible_v<F, Tensor (*)(Layer&, Inputs)>
  constexpr LayerRule(F f) : one(f) {}  // NOLINT(google-explicit-constructor)
  template <typename F>
    requires std::is_convertible_v<F, Tensors (*)(Layer&, Inputs)>
  constexpr LayerRule(F f) : many(f) {}  // NOLINT(google-explicit-constructor)

  constexpr bool set() const { return one || many; }
  Tensors operator()(Layer& l, Inputs x) const { return one ? Tensors{one(l, x)} : many(l, x); }
};

struct LayerDef {
  const char* name = "";
  const char* doc = "";  // the formula, then shapes, errors, source; ends with a full stop
  ir::Names args = {};
  ir::Names in = {"x"};  // names of the operands; "name?" may be left out, "*name" is any number
  void (*setup)(Layer&) = nullptr;  // checks arguments, adds parameters and children
  LayerRule construct = {};
};

namespace record_error {
void the_layer_name_must_be_CamelCase();
void the_layer_doc_is_missing_or_does_not_end_with_a_full_stop();
void a_layer_argument_must_read__name_colon_type();
void the_layer_computes_nothing__write_construct();
}  // namespace record_error

consteval LayerDef check(LayerDef d) {
  if (!(d.name[0] >= 'A' && d.name[0] <= 'Z')) record_error::the_layer_name_must_be_CamelCase();
  std::string_view doc = d.doc;
  if (doc.empty() || doc.back() != '.') {
    record_error::the_layer_doc_is_missing_or_does_not_end_with_a_full_stop();
  }
  for (size_t i = 0; i < d.args.size(); ++i) {
    std::string_view line = d.args[i];
    if (line.find(": ") == line.npos || !ir::is_snake_case(line.substr(0, line.find(": ")))) {
      record_error::a_layer_argument_must_read__name_colon_type();
    }
  }
  if (!d.construct.set()) record_error::the_layer_computes_nothing__write_construct();
  return d;
}

class Layer final : public Cell {
 public:
  Layer(const LayerDef& def, Args args);

  const LayerDef& def;
  Args args;
  // What setup worked out for construct (attributes of ops, sizes), so that no call looks names up.
  template <typename T>
  void keep(T facts) {
    kept_ = std::move(facts);
  }
  template <typename T>
  const T& kept() const {
    return *std::any_cast<T>(&kept_);
  }
  using Cell::find_own;
  using Cell::value;
  bool has(std::string_view parameter) const { return find_own(parameter) != nullptr; }
  // Replaces a state ("moving_mean"); the assignment is seen by whoever threads states through
  // graphs.
  void assign(std::string_view parameter, Tensor value);
  // ValueError that opens with the layer's name.
  template <typename... A>
  [[noreturn]] void fail(fmt::format_string<A...> f, A&&... a) const {
    throw UserError(ErrorKind::kValue,
                    fmt::format("{}: {}", def.name, fmt::format(f, std::forward<A>(a)...)));
  }

  Tensors construct(Inputs inputs) override;
  std::string class_name() const override { return def.name; }
  std::string extra_repr() const override;

 private:
  std::any kept_;
  int required_ = 0, allowed_ = 0;
};

// A layer by its name. AttributeError with the name that was meant when there is none.
std::shared_ptr<Layer> make(const std::string& name, std::vector<Arg> positional = {},
                            const NamedArgs& named = {});

// A copy with parameters of its own that hold the same values; children that are layers are copied
// too.
std::shared_ptr<Layer> clone(const Layer& layer);

const LayerDef* find_layer(const std::string& name);
const std::vector<const LayerDef*>& all_layers();
std::shared_ptr<const Signature> signature_of(const LayerDef& def);

// The rooms of records (layers/*.cc).
using LayerDefs = std::vector<const LayerDef*>;
LayerDefs activation_layers();
LayerDefs attention_layers();
LayerDefs basic_layers();
LayerDefs combined_layers();
LayerDefs conv_layers();
LayerDefs embedding_layers();
LayerDefs image_layers();
LayerDefs loss_layers();
LayerDefs math_layers();
LayerDefs norm_layers();
LayerDefs padding_layers();
LayerDefs pool_layers();
LayerDefs recurrent_layers();
LayerDefs schedule_layers();

}  // namespace mycel::nn
