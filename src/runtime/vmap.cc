#include "runtime/vmap.h"

#include <algorithm>

#include "base/error.h"
#include "ir/core_ops.h"
#include "runtime/dispatch.h"
#include "runtime/random_state.h"
#include "runtime/trace.h"

namespace mycel::runtime {
namespace {

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  throw UserError(ErrorKind::kRuntime, fmt::format(text, std::forward<Args>(args)...));
}

Axis axis_of(const std::vector<Axis>& axes, size_t i, size_t count, const char* what) {
  if (axes.size() == 1) return axes[0];
  if (axes.size() != count) refuse("vmap: {} axes given for {} {}", axes.size(), count, what);
  return axes[i];
}

// The tensor with `axis` moved to the front, or the front moved to `axis`.
Tensor moved(const Tensor& t, int from, int to) {
  if (from == to) return t;
  ir::Attr::Ints order;
  for (int d = 0; d < t.rank(); ++d) {
    if (d != from) order.push_back(d);
  }
  order.insert(order.begin() + to, from);
  return call1(*ir::core_ops().transpose, {t}, {ir::Attr(order)});
}

int normal(int axis, int rank, const char* what, size_t i) {
  if (axis < -rank || axis >= rank) {
    refuse("vmap: axis {} of {} {} is out of range; it has {} dims", axis, what, i, rank);
  }
  return axis < 0 ? axis + rank : axis;
}

struct Traced1 {
  std::shared_ptr<ir::Graph> graph;
  Tensors captured;             // parameters behind the arguments; empty: a key
  std::vector<uint64_t> seeds;  // of the keys, in order
};

// The function over one example.
Traced1 trace_example(const Fn& f, std::span<const Tensor> args, const std::vector<Axis>& axes) {
  Traced1 out;
  Recorder r("mapped", true);
  Tensors params;
  for (size_t i = 0; i < args.size(); ++i) {
    Shape s;
    for (int d = 0; d < args[i].rank(); ++d) {
      if (!axes[i] || d != *axes[i]) s.push_back(args[i].dim(d));
    }
    params.push_back(r.watch(Tensor::abstract(args[i].dtype(), s)));
  }
  std::vector<size_t> keys;
  std::vector<ir::Value> results;
  {
    KeySource source([&](uint64_t op_seed) {
      keys.push_back(r.param_primals().size());
      out.seeds.push_back(op_seed);
      return r.watch(Tensor::abstract(DType::kUInt32, Shape{2}), "key");
    });
    for (const Tensor& y : f(params)) results.push_back(r.value_of(y));
  }
  r.graph().set_results(std::move(results));
  r.close();
  const Tensors& all = r.param_primals();
  out.captured.assign(all.begin() + static_cast<int64_t>(args.size()), all.end());
  for (size_t k : keys) out.captured[k - args.size()] = Tensor();
  out.graph = r.graph_ptr();
  return out;
}

// A key for every example.
Tensor keys_for(int64_t size, uint64_t seed) {
  static const ir::Op& bits = ir::op_named("keyed_bits");
  return call1(bits, {next_key(seed)}, {ir::Attr(Shape{size, 2}), ir::Attr(DType::kUInt32)});
}

}  // namespace

Mapped map_examples(const Fn& f, std::span<const Tensor> args, const std::vector<Axis>& in_axes,
                    bool separate_draws) {
  std::vector<Axis> axes;
  std::vector<bool> batched;
  int64_t size = -1;
  for (size_t i = 0; i < args.size(); ++i) {
    Axis axis = axis_of(in_axes, i, args.size(), "arguments");
    batched.push_back(axis.has_value());
    if (axis) {
      axis = normal(*axis, args[i].rank(), "argument", i);
      int64_t n = args[i].dim(*axis);
      if (size >= 0 && n != size) {
        refuse("vmap: argument {} has {} examples along its axis {}, others have {}", i, n, *axis,
               size);
      }
      size = n;
    }
    axes.push_back(axis);
  }
  if (std::find(batched.begin(), batched.end(), true) == batched.end())
    refuse("vmap: no argument is mapped; at least one of in_axes must be an axis");
  if (size == kUnknownDim) refuse("vmap: the number of examples is not known");
  if (size == 0) refuse("vmap: there are no examples: the mapped axes have size 0");
  Traced1 t = trace_example(f, args, axes);
  Tensors in;
  for (size_t i = 0; i < args.size(); ++i) {
    in.push_back(axes[i] ? moved(args[i], *axes[i], 0) : args[i]);
  }
  size_t key = 0;
  for (const Tensor& c : t.captured) {
    batched.push_back(!c && separate_draws);
    if (c) {
      in.push_back(c);
      continue;
    }
    uint64_t seed = t.seeds[key++];
    in.push_back(separate_draws ? keys_for(size, seed) : next_key(seed));
  }
  autodiff::Batch b = autodiff::batch_graph(*t.graph, batched, size);
  return {run_graph(*b.graph, in), b.results, size};
}

Tensor placed(const Mapped& m, size_t i, Axis axis) {
  const Tensor& t = m.results[i];
  if (!axis) {
    if (m.batched[i]) {
      throw UserError(
          ErrorKind::kRuntime,
          fmt::format("vmap: out_axes of result {} is None, but it differs between examples", i),
          "Give the axis where the examples should go, for instance 0.");
    }
    return t;
  }
  Tensor all = t;
  if (!m.batched[i]) {
    Shape s{m.size};
    for (int64_t d : t.shape()) s.push_back(d);
    all = call1(*ir::core_ops().broadcast_to, {t}, {ir::Attr(s)});
  }
  return moved(all, 0, normal(*axis, all.rank(), "result", i));
}

Tensors vmap(const Fn& f, std::span<const Tensor> args, const VmapOptions& o) {
  Mapped m = map_examples(f, args, o.in_axes, o.separate_draws);
  Tensors out;
  for (size_t i = 0; i < m.results.size(); ++i) {
    out.push_back(placed(m, i, axis_of(o.out_axes, i, m.results.size(), "results")));
  }
  return out;
}

}  // namespace mycel::runtime
