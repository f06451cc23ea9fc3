// Layers that add elements around a tensor.
#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/layers/calls.h"

namespace mycel::nn {
namespace {

constexpr LayerDef kPad = check({
    .name = "Pad",
    .doc = "Adds paddings[d] = (before, after) elements to every dim d: zeros (CONSTANT), or the "
           "mirrored operand without "
           "(REFLECT) or with (SYMMETRIC) its edge.",
    .args = {"paddings: int[]", "mode: str(CONSTANT|REFLECT|SYMMETRIC) = CONSTANT"},
    .setup =
        [](Layer& l) {
          if (l.args.ints("paddings").size() % 2)
            l.fail("'paddings' holds pairs, got {}", l.args.attr("paddings").str());
        },
    .construct =
        [](Layer& l, Inputs x) {
          const std::string& mode = l.args.string("mode");
          if (mode == "CONSTANT") return run_op("zero_pad", {x[0]}, {l.args.attr("paddings")});
          return ops::mirror_pad(x[0], l.args.ints("paddings"), mode);
        },
});

// `padding`: one number for all sides, or (left, right, top, bottom, …) from the last dim
// backwards.
std::vector<int64_t> sides(Layer& l, int spatial) {
  std::vector<int64_t> p = l.args.ints("padding");
  if (p.size() == 1) p.resize(2 * spatial, p[0]);
  if (static_cast<int>(p.size()) != 2 * spatial) {
    l.fail("'padding' must be one number or {}, got {}", 2 * spatial, l.args.attr("padding").str());
  }
  return p;
}

template <int spatial>
consteval LayerDef constant_pad(const char* name, const char* doc) {
  return check({.name = name,
                .doc = doc,
                .args = {"padding: int[]", "value: number"},
                .setup = [](Layer& l) { l.keep(sides(l, spatial)); },
                .construct =
                    [](Layer& l, Inputs x) {
                      return ops::pad(x[0], l.kept<std::vector<int64_t>>(), "constant",
                                      ir::Attr(l.args.real("value")));
                    }});
}

template <int spatial>
consteval LayerDef edge_pad(const char* name, const char* doc) {
  return check({.name = name,
                .doc = doc,
                .args = {"padding: int[]"},
                .setup = [](Layer& l) { l.keep(sides(l, spatial)); },
                .construct =
                    [](Layer& l, Inputs x) {
                      bool reflect = l.def.name[2] == 'f';  // Reflection… or Replication…
                      return ops::pad(x[0], l.kept<std::vector<int64_t>>(),
                                      reflect ? "reflect" : "replicate");
                    }});
}

constexpr LayerDef kConstantPad1d =
    constant_pad<1>("ConstantPad1d", "Adds elements `value` around the last dim.");
constexpr LayerDef kConstantPad2d =
    constant_pad<2>("ConstantPad2d", "Adds elements `value` around the last two dims.");
constexpr LayerDef kConstantPad3d =
    constant_pad<3>("ConstantPad3d", "Adds elements `value` around the last three dims.");

constexpr LayerDef kZeroPad2d = check({
    .name = "ZeroPad2d",
    .doc =
        "Adds zeros around the last two dims; padding: one number or (left, right, top, bottom).",
    .args = {"padding: int[]"},
    .setup = [](Layer& l) { l.keep(sides(l, 2)); },
    .construct =
        [](Layer& l, Inputs x) {
          return ops::pad(x[0], l.kept<std::vector<int64_t>>(), "constant");
        },
});

constexpr LayerDef kReflectionPad1d =
    edge_pad<1>("ReflectionPad1d", "Mirrors x around the ends of the last dim.");
constexpr LayerDef kReflectionPad2d =
    edge_pad<2>("ReflectionPad2d", "Mirrors x around the ends of the last two dims.");
constexpr LayerDef kReflectionPad3d =
    edge_pad<3>("ReflectionPad3d", "Mirrors x around the ends of the last three dims.");
constexpr LayerDef kReplicationPad1d =
    edge_pad<1>("ReplicationPad1d", "Repeats the ends of the last dim.");
constexpr LayerDef kReplicationPad2d =
    edge_pad<2>("ReplicationPad2d", "Repeats the ends of the last two dims.");
constexpr LayerDef kReplicationPad3d =
    edge_pad<3>("ReplicationPad3d", "Repeats the ends of the last three dims.");

}  // namespace

LayerDefs padding_layers() {
  return {&kPad,
          &kConstantPad1d,
          &kConstantPad2d,
          &kConstantPad3d,
          &kZeroPad2d,
          &kReflectionPad1d,
          &kReflectionPad2d,
          &kReflectionPad3d,
          &kReplicationPad1d,
          &kReplicationPad2d,
          &kReplicationPad3d};
}

}  // namespace mycel::nn
