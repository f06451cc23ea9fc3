// The loop kernels of the losses over classes, behind a check of the labels: a label that names no
// class is the user's mistake, and must not become a silent 0.
#include <fmt/format.h>

#include "backend/cpu/function_kernel.h"
#include "base/error.h"
#include "ops/all_kernels.cpu.h"

namespace mycel::ops {
namespace {

// UserError naming the first label outside [0, classes) that is not `ignored`.
void check_labels(const std::string& op, const ir::Type& type, const void* labels, int64_t classes,
                  int64_t ignored) {
  int64_t n = type.shape.size();
  for (int64_t i = 0; i < n; ++i) {
    int64_t label = type.dtype == DType::kInt32 ? static_cast<const int32_t*>(labels)[i]
                                                : static_cast<const int64_t*>(labels)[i];
    if (label == ignored || (label >= 0 && label < classes)) continue;
    throw UserError(
        ErrorKind::kValue,
        fmt::format("{}: label {} at position {} is outside [0, {})", op, label, i, classes),
        fmt::format(
            "Labels count from 0, and the network gives {} scores: it needs one for each class.",
            classes));
  }
}

// Operand 0 has the classes along `axis`, operand 1 the labels.
template <int64_t (*classes_of)(const cpu::Problem&)>
std::unique_ptr<cpu::Prepared> checked(const cpu::Problem& p) {
  std::shared_ptr<const cpu::Prepared> loops = cpu::choose_named(p, "loops").prepared;
  int64_t classes = classes_of(p), ignored = p.view().integer("ignore_index");
  return cpu::prepared_by("checked loops", [loops, classes, ignored, op = p.op.name,
                                            type = *p.in[1]](void* const* buffers) {
    check_labels(op, type, buffers[1], classes, ignored);
    loops->run(buffers);
  });
}

int64_t last_dim(const cpu::Problem& p) { return p.in[0]->shape[-1]; }

int64_t class_dim(const cpu::Problem& p) {
  const Shape& x = p.in[0]->shape;
  return x[normalize_axis(p.view().integer("axis"), x.rank(), p.op.name.c_str())];
}

constexpr cpu::KernelDef kKernels[] = {
    {"pick_class", "checked", nullptr, checked<class_dim>},
    {"sparse_softmax_cross_entropy", "checked", nullptr, checked<last_dim>},
};

}  // namespace

void register_loss_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
