#include "nn/layer.h"

#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "nn/activation.h"

namespace mycel::nn {

namespace record_error {
// Never called at run time: a call inside `check` stops the build (see layer.h).
void the_layer_name_must_be_CamelCase() {}
void the_layer_doc_is_missing_or_does_not_end_with_a_full_stop() {}
void a_layer_argument_must_read__name_colon_type() {}
void the_layer_computes_nothing__write_construct() {}
}  // namespace record_error

namespace {

struct Registry {
  std::vector<const LayerDef*> list;
  std::unordered_map<std::string, const LayerDef*> by_name;
};

const Registry& registry() {
  static const Registry* r = [] {
    auto* made = new Registry;  // never destroyed: layers are used until the process ends
    for (const LayerDefs& room :
         {activation_layers(), attention_layers(), basic_layers(), combined_layers(), conv_layers(),
          embedding_layers(), image_layers(), loss_layers(), math_layers(), norm_layers(),
          padding_layers(), pool_layers(), recurrent_layers(), schedule_layers()}) {
      for (const LayerDef* d : room) {
        bool fresh = made->by_name.emplace(d->name, d).second;
        MYCEL_CHECK(fresh, "two layers are named {}", d->name);
        made->list.push_back(d);
      }
    }
    return made;
  }();
  return *r;
}

}  // namespace

std::shared_ptr<const Signature> signature_of(const LayerDef& def) {
  static auto* made = new std::map<const LayerDef*, std::shared_ptr<const Signature>>;
  auto& slot = (*made)[&def];
  if (!slot) slot = std::make_shared<const Signature>(def.name, def.args);
  return slot;
}

const std::vector<const LayerDef*>& all_layers() { return registry().list; }

const LayerDef* find_layer(const std::string& name) {
  auto it = registry().by_name.find(name);
  return it == registry().by_name.end() ? nullptr : it->second;
}

std::shared_ptr<Layer> make(const std::string& name, std::vector<Arg> positional,
                            const NamedArgs& named) {
  const LayerDef* def = find_layer(name);
  if (!def) {
    std::vector<const char*> names;
    for (const LayerDef* d : all_layers()) names.push_back(d->name);
    std::string near = did_you_mean(name, names.data(), names.size());
    throw UserError(ErrorKind::kAttribute, fmt::format("there is no layer '{}'", name),
                    near.empty() ? "" : "Did you mean '" + near + "'?");
  }
  return std::make_shared<Layer>(*def, Args(signature_of(*def), std::move(positional), named));
}

std::shared_ptr<Layer> clone(const Layer& layer) {
  WithoutInit zeros;
  auto copy = std::make_shared<Layer>(layer.def, layer.args);
  for (const auto& [name, p] : layer.own_parameters()) {
    copy->replace_parameter(name, std::make_shared<ParameterData>(*p));
  }
  for (const auto& [name, child] : layer.children()) {
    auto inner = std::dynamic_pointer_cast<Layer>(std::shared_ptr<Cell>(child));
    if (inner) copy->replace_child(name, clone(*inner));
  }
  copy->set_train(layer.training());
  return copy;
}

Layer::Layer(const LayerDef& d, Args a) : def(d), args(std::move(a)) {
  for (size_t i = 0; i < d.in.size(); ++i) {
    std::string_view in = d.in[i];
    if (in.starts_with("*")) {
      allowed_ = 1 << 20;
      break;
    }
    ++allowed_;
    if (!in.ends_with("?")) ++required_;
  }
  if (!d.setup) return;
  try {
    d.setup(*this);
  } catch (UserError& e) {
    // Initializers and activations do not know whose they are.
    if (!e.message().starts_with(d.name)) e.prefix(fmt::format("{}: ", d.name));
    throw;
  }
}

void Layer::assign(std::string_view parameter, Tensor value) {
  Parameter p = find_own(parameter);
  MYCEL_CHECK(p, "{} has no state '{}'", def.name, parameter);
  p->value = settle(p->value, std::move(value));
}

Tensors Layer::construct(Inputs inputs) {
  auto count = static_cast<int>(inputs.size());
  if (count < required_ || count > allowed_) {
    type_error("{}: takes {}{} tensors, got {}", def.name, required_,
               allowed_ == required_ ? "" : fmt::format(" to {}", allowed_), count);
  }
  return def.construct(*this, inputs);
}

std::string Layer::extra_repr() const {
  std::string s;
  const auto& specs = args.signature().specs();
  for (size_t i = 0; i < specs.size(); ++i) {
    const Arg& v = args.values()[i];
    if (v.is_cell()) continue;  // printed as a child
    s += (s.empty() ? "" : ", ") + specs[i].name + "=" + v.str();
  }
  return s;
}

}  // namespace mycel::nn
