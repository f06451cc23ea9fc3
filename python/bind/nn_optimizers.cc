#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/nn.h"
#include "bind/tensor_object.h"
#include "nn/optimizer.h"
#include "nn/train_step.h"
#include "runtime/trace.h"

namespace mycel::bind {
namespace {

using nn::Optimizer;

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
    static const nn::Signature rate("parameter group", {"lr: schedule"});
    static const nn::Signature decay("parameter group", {"weight_decay: schedule"});
    auto value = [](const nn::Signature& s, nb::object o) {
      return to_args(s, nb::make_tuple(o), nb::handle()).positional[0];
    };
    if (!t[1].is_none()) g.lr = value(rate, t[1]);
    if (!t[2].is_none()) g.weight_decay = value(decay, t[2]);
    g.grad_centralization = nb::cast<bool>(t[3]);
    out.push_back(std::move(g));
  }
  return out;
}

nn::OptimizerPtr make_optimizer(const std::string& name, nb::handle groups, nb::handle order,
                                nb::handle args, nb::handle kwargs) {
  const nn::OptimizerDef* def = nn::find_optimizer(name);
  MYCEL_CHECK(def, "there is no optimizer '{}'", name);
  CallArgs call = to_args(*nn::signature_of(*def), args, kwargs);
  return nn::make_optimizer(
      name, groups_of(groups, name), std::move(call.positional), call.named,
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

// ([results], [gradients of the parameters]) of a Python function on a list of tensors. sens: a
// number, a tensor or None, see nn/train_step.h.
nb::tuple value_and_grads(nb::handle forward, nb::handle inputs, nb::handle parameters,
                          nb::handle sens) {
  std::vector<nn::Parameter> params = parameters_of(parameters, "TrainOneStepCell");
  for (const nn::Parameter& p : params) {
    if (g_on_read) g_on_read(p);
  }
  Tensor scale;
  if (!sens.is_none()) {
    scale = is_tensor(sens.ptr()) ? value_of(sens.ptr())
                                  : to_tensor(sens.ptr(), DType::kFloat32, "sens");
    if (!is_tensor(sens.ptr()) && scale.rank() == 0 && scale.item() == 1) scale = Tensor();
  }
  auto held = std::make_shared<Held>(forward.ptr());
  runtime::Fn fn = [held](std::span<const Tensor> in) {
    nb::gil_scoped_acquire gil;
    nb::object out = nb::handle(held->get())(as_list(Tensors(in.begin(), in.end())));
    return to_tensors(out, "the network's result");
  };
  Tensors in = to_tensors(inputs, "TrainOneStepCell");
  nn::ValueAndGrads r;
  {
    nb::gil_scoped_release release;
    r = nn::value_and_grads(fn, params, in, scale);
  }
  return nb::make_tuple(as_list(r.values), as_list(r.grads));
}

template <typename F>
void update(Optimizer& o, nb::handle gradients, F f) {
  touch_all(o);
  Tensors g = to_tensors(gradients, o.def.name);
  nb::gil_scoped_release release;
  f(g);
}

}  // namespace

void bind_nn_optimizers(nb::module_& m) {
  nb::class_<Optimizer>(m, "Optimizer", "An optimizer that is computed in C++.")
      .def("step",
           [](Optimizer& o, nb::handle g) { update(o, g, [&](const Tensors& t) { o.step(t); }); })
      .def("step_unless",
           [](Optimizer& o, const Tensor& skip, nb::handle g) {
             update(o, g, [&](const Tensors& t) { o.step_unless(skip, t); });
           })
      .def("lars_step",
           [](Optimizer& o, nb::handle g, const std::vector<bool>& flags, double epsilon,
              double coefficient, bool clip) {
             update(o, g,
                    [&](const Tensors& t) { o.lars_step(t, flags, {epsilon, coefficient, clip}); });
           })
      .def("group_of", &Optimizer::group_of)
      .def("prepare",
           [](Optimizer& o, nb::handle gradients, bool scale, bool decay, bool centralize) {
             touch_all(o);
             return as_list(o.prepare_gradients(to_tensors(gradients, o.def.name),
                                                {scale, decay, centralize}));
           })
      .def("advance", &Optimizer::advance)
      .def("params", [](const Optimizer& o) { return wrapped(o.params()); })
      .def("states",
           [](const Optimizer& o) {
             nb::list out;
             for (const auto& [name, p] : o.own_parameters())
               out.append(nb::make_tuple(name, nb::steal(wrap(p))));
             return out;
           })
      .def("children",
           [](const Optimizer& o) {
             nb::list out;
             for (const auto& [name, c] : o.children())
               out.append(nb::make_tuple(name, from_arg(nn::Arg(c))));
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
  m.def("make_optimizer", make_optimizer, nb::arg("name"), nb::arg("groups"),
        nb::arg("order").none(), nb::arg("args"), nb::arg("kwargs"));
  m.def("optimizer_records", optimizer_records);
  m.def("value_and_grads", value_and_grads, nb::arg("forward"), nb::arg("inputs"),
        nb::arg("parameters"), nb::arg("sens").none());
  m.def("any_nonfinite",
        [](nb::handle tensors) { return nn::any_nonfinite(to_tensors(tensors, "gradient")); });
  m.def("unscaled", &nn::unscaled);
  m.def("untraced", [](Tensor t) {
    runtime::live_trace(t);
    return t;
  });
}

}  // namespace mycel::bind
