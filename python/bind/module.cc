// The extension module mycel._mycel: each file of the glue adds its part.
#include "bind/dtype_object.h"
#include "bind/op_object.h"
#include "bind/python.h"
#include "bind/tensor_object.h"
#include "mycel/version.h"

namespace mycel::bind {
void bind_state(nb::module_& m);
void bind_transforms(nb::module_& m);
void bind_graph_function(nb::module_& m);
void bind_entry(nb::module_& m);
void bind_compiled(nb::module_& m);
void bind_control(nb::module_& m);
void bind_nn(nb::module_& m);
void bind_model_file(nb::module_& m);
void bind_lite(nb::module_& m);
void bind_onnx(nb::module_& m);
void bind_script(nb::module_& m);
void bind_data(nb::module_& m);
void bind_summary(nb::module_& m);
void bind_terminal(nb::module_& m);
void bind_train(nb::module_& m);
void bind_debug(nb::module_& m);
void bind_insight(nb::module_& m);
void bind_profiler(nb::module_& m);
}  // namespace mycel::bind

NB_MODULE(_mycel, m) {
  using namespace mycel::bind;  // NOLINT
  nb::set_leak_warnings(false);
  m.attr("__version__") = mycel::version();
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (...) {
      set_python_error();
    }
  });
  bind_dtype(m);
  bind_tensor(m);
  bind_parameter(m);
  bind_buffers(m);
  bind_ops(m);
  bind_primitive(m);
  bind_state(m);
  bind_transforms(m);
  bind_graph_function(m);
  bind_entry(m);
  bind_compiled(m);
  bind_control(m);
  bind_nn(m);
  bind_model_file(m);
  bind_lite(m);
  bind_onnx(m);
  bind_script(m);
  bind_data(m);
  bind_summary(m);
  bind_terminal(m);
  bind_train(m);
  bind_insight(m);
  bind_profiler(m);
  bind_debug(m);
}
