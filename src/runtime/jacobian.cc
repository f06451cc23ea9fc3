#include "runtime/jacobian.h"

#include "base/error.h"
#include "ir/activity.h"
#include "ir/core_ops.h"
#include "runtime/dispatch.h"
#include "runtime/trace.h"
#include "runtime/vmap.h"

namespace mycel::runtime {
namespace {

Tensor zeros(DType d, const Shape& s) {
  return call1(*ir::core_ops().full, std::span<const Tensor>(),
               {ir::Attr(0.0), ir::Attr(s), ir::Attr(d)});
}

Shape joined(const Shape& a, const Shape& b) {
  Shape s = a;
  for (int64_t d : b) s.push_back(d);
  return s;
}

Tensor reshaped(const Tensor& t, const Shape& s) {
  return call1(*ir::core_ops().reshape, {t}, {ir::Attr(s)});
}

// One element of a tensor like `t` after the other is 1: [size, dims of t…].
Tensor directions(const Tensor& t) {
  static const ir::Op& eye = ir::op_named("eye");
  int64_t n = t.size();
  Tensor unit = call1(eye, std::span<const Tensor>(), {ir::Attr(n), ir::Attr(), t.dtype()});
  return reshaped(unit, joined(Shape{n}, t.shape()));
}

bool smooth(const Tensor& t) { return ir::differentiable(ir::type_of(t)); }

void check(std::span<const Tensor> args, const JacobianOptions& o, const char* name) {
  for (int i : o.wrt) {
    if (i < 0 || i >= static_cast<int>(args.size())) {
      value_error("{}: argument {} is to be differentiated, {} are given", name, i, args.size());
    }
  }
  for (const Tensor& t : args) {
    if (!t.shape().known()) value_error("{}: the arguments' shapes must be known", name);
  }
}

size_t differentiated(const Tensors& values, const JacobianOptions& o) {
  return o.has_aux ? std::min<size_t>(1, values.size()) : values.size();
}

// f as a function of the arguments in `wrt` alone.
Fn restricted(const Fn& f, std::span<const Tensor> args, const std::vector<int>& wrt) {
  Tensors all(args.begin(), args.end());
  return [f, all, wrt](std::span<const Tensor> x) {
    Tensors in = all;
    for (size_t k = 0; k < wrt.size(); ++k) in[static_cast<size_t>(wrt[k])] = x[k];
    return f(in);
  };
}

Tensors chosen(std::span<const Tensor> args, const std::vector<int>& wrt) {
  Tensors out;
  for (int i : wrt) out.push_back(args[static_cast<size_t>(i)]);
  return out;
}

}  // namespace

Jacobian jacfwd(const Fn& f, std::span<const Tensor> args, const JacobianOptions& o) {
  check(args, o, "jacfwd");
  Tensors x = chosen(args, o.wrt);
  Linear l = linearize(restricted(f, args, o.wrt), x);
  size_t count = differentiated(l.values, o);
  Jacobian out{l.values, std::vector<Tensors>(count)};
  for (size_t k = 0; k < x.size(); ++k) {
    Tensors columns;
    if (smooth(x[k]) && x[k].size() > 0) {
      Fn push = [&](std::span<const Tensor> direction) {
        Tensors in;
        for (size_t i = 0; i < x.size(); ++i) {
          in.push_back(i == k ? direction[0] : zeros(x[i].dtype(), x[i].shape()));
        }
        Tensors flowing = l.push(in);
        flowing.resize(count);
        return flowing;
      };
      Tensor unit = directions(x[k]);
      columns = vmap(push, {&unit, 1}, {{0}, {-1}});
    }
    for (size_t j = 0; j < count; ++j) {
      Shape s = joined(l.values[j].shape(), x[k].shape());
      out.blocks[j].push_back(columns.empty() ? zeros(l.values[j].dtype(), s)
                                              : reshaped(columns[j], s));
    }
  }
  return out;
}

Jacobian jacrev(const Fn& f, std::span<const Tensor> args, const JacobianOptions& o) {
  check(args, o, "jacrev");
  Tensors x = chosen(args, o.wrt);
  Pullback p = vjp(restricted(f, args, o.wrt), x);
  size_t count = differentiated(p.values, o);
  Jacobian out{p.values, std::vector<Tensors>(count)};
  for (size_t j = 0; j < count; ++j) {
    const Tensor& y = p.values[j];
    Tensors rows;
    if (smooth(y) && y.size() > 0) {
      Fn pull = [&](std::span<const Tensor> seed) {
        Tensors seeds;
        for (size_t i = 0; i < p.values.size(); ++i) {
          seeds.push_back(i == j ? seed[0] : zeros(p.values[i].dtype(), p.values[i].shape()));
        }
        return p.pull(seeds);
      };
      Tensor unit = directions(y);
      rows = vmap(pull, {&unit, 1});
    }
    for (size_t k = 0; k < x.size(); ++k) {
      Shape s = joined(y.shape(), x[k].shape());
      out.blocks[j].push_back(rows.empty() ? zeros(x[k].dtype(), s) : reshaped(rows[k], s));
    }
  }
  return out;
}

Jacobian hessian(const Fn& f, std::span<const Tensor> args, const JacobianOptions& o) {
  Tensors values;
  Fn first = [&](std::span<const Tensor> x) {
    JacobianOptions only = o;
    only.has_aux = true;
    Jacobian j = jacrev(f, x, only);
    values = j.values;
    return j.blocks.at(0);
  };
  JacobianOptions all = o;
  all.has_aux = false;
  Jacobian second = jacfwd(first, args, all);
  for (Tensor& v : values) live_trace(v);
  second.values = values;
  return second;
}

}  // namespace mycel::runtime
