// Updates by gradients that have rows for some rows of the Parameters only.
#include "ops/update/update.h"

namespace mycel::ops {

using ir::check;
using ir::OpDef;

#define SPARSE                                                                                 \
  "indices[3]; indices in ints(0, 3); bad grad[3, 2]; bad indices[2]; skip zero_size: states " \
  "share a shape; skip scalar: rows are needed"

constexpr OpDef kSparseAdagrad = check({
    .name = "update_sparse_adagrad",
    .doc = "The rows of indices, whose gradients are the rows of grad: as update_adagrad with "
           "attribute lr.",
    .in = {"var: float", "accum: float", "grad: float", "indices: index[k]"},
    .attr = {"lr: float", "update_slots: bool = True", "use_locking: bool = False"},
    .out = {"var", "accum"},
    .shard = "none",
    .expand = updates_rows<adagrad>,
    .cases = "var[4, 3]; accum[4, 3]; grad[3, 3]; accum in (0.5, 2); lr = 0.1; update_slots = True "
             "False; " SPARSE,
    .primitive = "SparseApplyAdagrad(lr, update_slots, use_locking)",
    .internal = true,
});

constexpr OpDef kSparseAdagradV2 = check({
    .name = "update_sparse_adagrad_v2",
    .doc = "The rows of indices, whose gradients are the rows of grad: as update_adagrad_v2 with "
           "attribute lr.",
    .in = {"var: float", "accum: float", "grad: float", "indices: index[k]"},
    .attr = {"lr: float", "epsilon: float", "use_locking: bool = False",
             "update_slots: bool = True"},
    .out = {"var", "accum"},
    .shard = "none",
    .expand = updates_rows<adagrad>,
    .cases =
        "var[4, 3]; accum[4, 3]; grad[3, 3]; accum in (0.5, 2); lr = 0.1; epsilon = 0.1; " SPARSE,
    .primitive = "SparseApplyAdagradV2(lr, epsilon, use_locking, update_slots)",
    .internal = true,
});

constexpr OpDef kSparseFtrl = check({
    .name = "update_sparse_ftrl",
    .doc = "The rows of indices, whose gradients are the rows of grad: as update_ftrl with factors "
           "as attributes.",
    .in = {"var: float", "accum: float", "linear: float", "grad: float", "indices: index[k]"},
    .attr = {"lr: float", "l1: float", "l2: float", "lr_power: float", "use_locking: bool = False"},
    .out = {"var", "accum", "linear"},
    .shard = "none",
    .expand = updates_rows<ftrl>,
    .cases = "var[4, 3]; accum[4, 3]; linear[4, 3]; grad[3, 3]; accum in (0.5, 2); linear in (9, "
             "12); lr = 0.5; l1 = 0.1; l2 = 0.2; lr_power = -0.5; " SPARSE,
    .primitive = "SparseApplyFtrl(lr, l1, l2, lr_power, use_locking); FusedSparseFtrl(lr, l1, l2, "
                 "lr_power, use_locking)",
    .internal = true,
});

constexpr OpDef kSparseFtrlV2 = check({
    .name = "update_sparse_ftrl_v2",
    .doc = "The rows of indices, whose gradients are the rows of grad: as update_ftrl with g + 2 "
           "l2_shrinkage var for g in linear.",
    .in = {"var: float", "accum: float", "linear: float", "grad: float", "indices: index[k]"},
    .attr = {"lr: float", "l1: float", "l2: float", "l2_shrinkage: float", "lr_power: float",
             "use_locking: bool = False"},
    .out = {"var", "accum", "linear"},
    .shard = "none",
    .expand = updates_rows<ftrl>,
    .cases = "var[4, 3]; accum[4, 3]; linear[4, 3]; grad[3, 3]; accum in (0.5, 2); linear in (9, "
             "12); lr = 0.5; l1 = 0.1; l2 = 0.2; l2_shrinkage = 0.3; lr_power = -0.5; " SPARSE,
    .primitive = "SparseApplyFtrlV2(lr, l1, l2, l2_shrinkage, lr_power, use_locking)",
    .internal = true,
});

constexpr OpDef kSparseProximalAdagrad = check({
    .name = "update_sparse_proximal_adagrad",
    .doc = "The rows of indices, whose gradients are the rows of grad: as update_proximal_adagrad.",
    .in = {"var: float", "accum: float", "lr: float[]", "l1: float[]", "l2: float[]", "grad: float",
           "indices: index[k]"},
    .attr = {"use_locking: bool = False"},
    .out = {"var", "accum"},
    .shard = "none",
    .expand = updates_rows<proximal_adagrad>,
    .cases = "var[4, 3]; accum[4, 3]; grad[3, 3]; var in (6, 8); accum in (0.5, 2); lr in (0.1, "
             "0.2); l1 in (0.1, 0.5); l2 in (0.1, 0.5); " SPARSE,
    .primitive = "SparseApplyProximalAdagrad(use_locking); FusedSparseProximalAdagrad(use_locking)",
    .internal = true,
});

constexpr OpDef kSparseRmsProp = check({
    .name = "update_sparse_rms_prop",
    .doc = "The rows of indices, whose gradients are the rows of grad: as update_rms_prop with "
           "rho, momentum and epsilon as attributes.",
    .in = {"var: float", "ms: float", "mom: float", "lr: float[]", "grad: float",
           "indices: index[k]"},
    .attr = {"rho: float", "momentum: float", "epsilon: float", "use_locking: bool = False"},
    .out = {"var", "ms", "mom"},
    .shard = "none",
    .expand = updates_rows<rms_prop>,
    .cases = "var[4, 3]; ms[4, 3]; mom[4, 3]; grad[3, 3]; ms in (0.5, 2); rho = 0.3; momentum = "
             "0.9; epsilon = 0.1; " SPARSE,
    .primitive = "SparseApplyRMSProp(rho, momentum, epsilon, use_locking)",
    .internal = true,
});

constexpr OpDef kSparseAdadelta = check({
    .name = "update_sparse_adadelta",
    .doc = "The rows of indices, whose gradients are the rows of grad: as update_adadelta with "
           "attribute epsilon.",
    .in = {"var: float", "accum: float", "accum_update: float", "lr: float[]", "rho: float[]",
           "grad: float", "indices: index[k]"},
    .attr = {"epsilon: float", "use_locking: bool = False"},
    .out = {"var", "accum", "accum_update"},
    .shard = "none",
    .expand = updates_rows<adadelta>,
    .cases = "var[4, 3]; accum[4, 3]; accum_update[4, 3]; grad[3, 3]; accum in (0.5, 2); "
             "accum_update in (0.5, 2); rho in (0.1, 0.9); epsilon = 0.1; " SPARSE,
    .primitive = "SparseApplyAdadelta(epsilon, use_locking)",
    .internal = true,
});

// Adam by rows: what becomes of the others differs.
constexpr OpDef adam_by_rows(const char* name, const char* doc, const char* primitive,
                             ir::ExpandRule expand) {
  return {
      .name = name,
      .doc = doc,
      .in = {"var: float", "m: float", "v: float", "beta1_power: float[]", "beta2_power: float[]",
             "lr: float[]", "beta1: float[]", "beta2: float[]", "epsilon: float[]", "grad: float",
             "indices: index[k]"},
      .attr = {"use_locking: bool = False", "use_nesterov: bool = False"},
      .out = {"var", "m", "v"},
      .shard = "none",
      .expand = expand,
      .cases =
          "var[4, 3]; m[4, 3]; v[4, 3]; grad[3, 3]; v in (0.5, 2); beta1_power in (0.1, 0.9); "
          "beta2_power in (0.1, 0.9); beta1 in (0.1, 0.9); beta2 in (0.1, 0.9); epsilon in "
          "(0.1, 0.9); use_nesterov = False True; " SPARSE,
      .primitive = primitive,
      .internal = true,
  };
}

constexpr OpDef kLazyAdam = check(adam_by_rows(
    "update_lazy_adam",
    "The rows of indices, whose gradients are the rows of grad: as update_adam; the other rows and "
    "their moments stay.",
    "FusedSparseLazyAdam(use_locking, use_nesterov)", updates_rows<adam>));

constexpr OpDef kSparseAdam = check(adam_by_rows(
    "update_sparse_adam",
    "As update_adam with the gradient whose rows indices are those of grad, and 0 elsewhere: all "
    "moments decay.",
    "FusedSparseAdam(use_locking, use_nesterov)", updates_spread<adam>));

#undef SPARSE

void register_sparse_updates() {
  ir::register_ops({&kSparseAdagrad, &kSparseAdagradV2, &kSparseFtrl, &kSparseFtrlV2,
                    &kSparseProximalAdagrad, &kSparseRmsProp, &kSparseAdadelta, &kLazyAdam,
                    &kSparseAdam});
}

}  // namespace mycel::ops
