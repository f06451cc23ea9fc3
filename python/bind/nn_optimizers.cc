#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/nn.h"
#include "bind/tensor_object.h"
#include "nn/optimizer.h"
#include "nn/train_step.h"

namespace mycel::bind {
namespace {

using nn::Optimizer;

const nn::ArgSpec& schedule_spec(const char* name) {
  static const nn::Signature rate("learning_rate", {"learning_rate: schedule"});
  static const nn::Signature decay("weight_decay", {"weight_decay: schedule"});
  return std::string_view(name) == "learning_rate" ? rate.specs()[0] : decay.specs()[0];
}

std::vector<nn::Parameter> parameters_of(nb::handle list, const std::string& owner) {
  std::vector<nn::Parameter> out;
  for (nb::handle o : list) {
    nn::Parameter p = parameter_of(o.ptr());
    if (!p) type_error("{}: parameters must be Parameter objects, got {}", owner, kind_of(o.ptr()));
    out.push_back(p);
  }
  return out;
}

// [(parameters, lr or None, weight_decay or None, centralize)] from mycel/nn/optim.py.
std::vector<nn::ParamGroup> groups_of(nb::handle list, const std::string& owner) {
  std::vector<nn::ParamGroup> out;
  for (nb::handle entry : list) {
    nb::tuple t = nb::borrow<nb::tuple>(entry);
    nn::ParamGroup g;
    g.params = parameters_of(t[0], owner);
    auto value = [&](int i, const char* name) {
      static const nn::Signature rate("parameter group", {"lr: schedule"});
      static const nn::Signature decay("parameter group", {"weight_decay: schedule"});
      const nn::Signature& s = i == 1 ? rate : decay;
      nb::object o = t[i];
      (void)name;
      return to_args(s, nb::make_tuple(o), nb::handle()).positional[0];
    };
    if (!t[1].is_none()) g.lr = value(1, "lr");
    if (!t[2].is_none()) g.weight_decay = value(2, "weight_decay");
    g.grad_centralization = nb::cast<bool>(t[3]);
    out.push_back(std::move(g));
  }
  return out;
}

nn::OptimizerPtr make_optimizer(const std::string& name, nb::handle groups, nb::handle order, nb::handle args,
                                nb::handle kwargs) {
  const nn::OptimizerDef* def = nn::find_optimizer(name);
  MYCEL_CHECK(def, "there is no optimizer '{}'", name);
  CallArgs call = to_args(*nn::signature_of(*def), args, kwargs);
  return nn::make_optimizer(name, groups_of(groups, name), std::move(call.positional), call.named,
                            order.is_none() ? std::vector<nn::Parameter>{} : parameters_of(order, name));
}

nb::list optimizer_records() {
  nb::list out;
  for (const nn::OptimizerDef* d : nn::all_optimizers()) {
    nb::dict r;
    r["name"] = d->name;
    r["doc"] = d->doc;
    r["args"] = describe(*nn::signature_of(*d));
    r["public"] = d->update != nullptr;
    out.append(r);
  }
  return out;
}

void touch_all(const Optimizer& o) {
  touch(o);
  if (!g_on_read) return;
  for (const nn::Parameter& p : o.params()) g_on_read(p);
}

nb::list wrapped(const std::vector<nn::Parameter>& params) {
  nb::list out;
  for (const nn::Parameter& p : params) out.append(nb::steal(wrap(p)));
  return out;
}

nb::list as_list(const Tensors& tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(nb::steal(wrap(t)));
  return out;
}

// A training step: the network's result(s); parameters and optimizer states are updated.
nb::object train_step(nb::handle network, Optimizer& optimizer, nb::handle inputs, nb::handle seeds,
                      nb::handle reduce) {
  touch_all(optimizer);
  nn::CellPtr cell = to_cell(network);
  Tensors in = to_tensors(inputs, "TrainOneStepCell"), seed = to_tensors(seeds, "TrainOneStepCell: 'sens'");
  nn::GradientRule rule;
  if (!reduce.is_none()) {
    auto held = std::make_shared<Held>(reduce.ptr());
    rule = [held](Tensors grads) {
      nb::gil_scoped_acquire gil;
      nb::tuple t(as_list(grads));
      return to_tensors(nb::handle(held->get())(t), "grad_reducer");
    };
  }
  Tensors out;
  {
    nb::gil_scoped_release release;
    out = nn::train_step(*cell, optimizer, in, seed, rule);
  }
  return from_tensors(out);
}

}  // namespace

void bind_nn_optimizers(nb::module_& m) {
  nb::class_<Optimizer>(m, "Optimizer", "An optimizer that is computed in C++.")
      .def("step",
           [](Optimizer& o, nb::handle gradients) {
             touch_all(o);
             Tensors g = to_tensors(gradients, o.def.name);
             nb::gil_scoped_release release;
             o.step(g);
           })
      .def("prepare",
           [](Optimizer& o, nb::handle gradients, bool scale, bool decay, bool centralize) {
             touch_all(o);
             return as_list(o.prepare_gradients(to_tensors(gradients, o.def.name), {scale, decay, centralize}));
           })
      .def("advance", &Optimizer::advance)
      .def("params", [](const Optimizer& o) { return wrapped(o.params()); })
      .def("states",
           [](const Optimizer& o) {
             nb::list out;
             for (const auto& [name, p] : o.own_parameters()) out.append(nb::make_tuple(name, nb::steal(wrap(p))));
             return out;
           })
      .def("children",
           [](const Optimizer& o) {
             nb::list out;
             for (const auto& [name, c] : o.children()) out.append(nb::make_tuple(name, from_arg(nn::Arg(c))));
             return out;
           })
      .def("slots",
           [](const Optimizer& o) {
             nb::list out;
             for (int s = 0; s < o.slot_count(); ++s) {
               out.append(nb::make_tuple(o.slot_name(s), wrapped(o.slot_parameters(s))));
             }
             return out;
           })
      .def("learning_rates",
           [](const Optimizer& o) {
             touch_all(o);
             return as_list(o.learning_rates());
           })
      .def("weight_decays",
           [](const Optimizer& o) {
             touch_all(o);
             return as_list(o.weight_decays());
           })
      .def("decay_flags",
           [](const Optimizer& o) {
             nb::list out;
             for (bool b : o.decay_flags()) out.append(b);
             return out;
           })
      .def("dynamic_lr", &Optimizer::dynamic_lr)
      .def("set_state", [](Optimizer& o, const std::string& name, nn::Parameter p) {
        o.replace_parameter(name, std::move(p));
      });
  m.def("make_optimizer", make_optimizer);
  m.def("optimizer_records", optimizer_records);
  m.def("train_step", train_step, nb::arg("network"), nb::arg("optimizer"), nb::arg("inputs"), nb::arg("seeds"),
        nb::arg("reduce").none());
}

}  // namespace mycel::bind
