// Columns on values: types, closed forms, kernels, dtypes, threads. Derivatives are in
// op_gradients.cc, shapes in op_shapes.cc.
#include "op_checks.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "backend/cpu/kernel.h"
#include "backend/cpu/nest_kernel.h"
#include "base/error.h"
#include "base/threads.h"
#include "ir/expansion.h"
#include "ir/graph.h"
#include "lite/plan/nest_table.h"
#include "lite/runtime/nest_program.h"
#include "lite/runtime/threads.h"
#include "op_numbers.h"
#include "runtime/dispatch.h"
#if __has_include("ir/text.h")
#include "ir/text.h"
#endif

namespace mycel::op_cases {
namespace {

double tolerance_of(DType d, const Group& g) {
  switch (real_part_of(d)) {
    case DType::kFloat16:
      return std::max(4e-3, g.tolerance);
    case DType::kBFloat16:
      return std::max(3e-2, g.tolerance);
    case DType::kFloat64:
      return g.in_float32 ? g.tolerance : 1e-11;
    default:
      return g.tolerance;
  }
}

// Everything that a kernel is chosen by.
struct Use {
  Tensors inputs;
  std::vector<ir::Type> in;
  std::vector<const ir::Type*> pointers;
  ir::Attrs attrs;
  ir::Types out;

  Use(const ir::Op& op, std::span<const Tensor> given, const ir::Attrs& a)
      : inputs(promoted(op, given)), attrs(op.complete(a)) {
    for (const Tensor& t : inputs) in.push_back(t ? ir::Type(t.dtype(), t.shape()) : ir::Type());
    for (size_t i = 0; i < inputs.size(); ++i) pointers.push_back(inputs[i] ? &in[i] : nullptr);
    out = ir::infer_types(op, pointers, attrs);
  }
  bool static_shapes() const {
    for (const ir::Type& t : out) {
      if (!t.shape.known()) return false;
    }
    return true;
  }
};

Tensors run_kernel(const ir::Op& op, const Use& u, const std::string& kernel) {
  cpu::Problem p{op, u.pointers, u.out, u.attrs};
  cpu::Chosen chosen = cpu::choose_named(p, kernel);
  if (chosen.host) return chosen.host->host(p, u.inputs);
  std::vector<void*> buffers;
  Tensors out;
  for (const Tensor& t : u.inputs) buffers.push_back(t ? const_cast<void*>(t.raw()) : nullptr);
  for (const ir::Type& t : u.out) {
    out.push_back(Tensor::empty(t.dtype, t.shape));
    buffers.push_back(out.back().mutable_raw());
  }
  chosen.prepared->run(buffers.data());
  return out;
}

// By the nest as a .lite file holds it, on the lanes of the Lite runtime.
Tensors run_on_lanes(const ir::Op& op, const Use& u) {
  const loops::Nest nest = cpu::build_nest({op, u.pointers, u.out, u.attrs});
  flatbuffers::FlatBufferBuilder table;
  table.Finish(lite::write_nest(table, nest));
  lite::NestProgram program;
  const std::string problem =
      program.load(*flatbuffers::GetRoot<lite::file::Nest>(table.GetBufferPointer()));
  MYCEL_CHECK(problem.empty(), "{}: {}", op.name, problem);
  Tensors out, scratch;
  std::vector<void*> buffers;
  std::vector<uint64_t> bytes;
  auto add = [&](const Tensor& t) {
    buffers.push_back(const_cast<void*>(t.raw()));
    bytes.push_back(static_cast<uint64_t>(t.size()) * size_of(t.dtype()));
  };
  for (const Tensor& t : u.inputs) {
    if (t) add(t);
  }
  for (const ir::Type& t : u.out) {
    out.push_back(Tensor::empty(t.dtype, t.shape));
    add(out.back());
  }
  for (const auto& s : program.scratch()) {
    scratch.push_back(Tensor::empty(DType::kUInt8, Shape({static_cast<int64_t>(s.bytes)})));
    add(scratch.back());
  }
  static lite::Threads threads(2);
  std::vector<lite::LaneMemory> memory(2);
  MYCEL_CHECK(program.run(buffers.data(), bytes.data(), threads, memory),
              "{}: an offset outside of its buffer", op.name);
  return out;
}

std::string compare_all(const Tensors& got, const Tensors& want, double tolerance) {
  if (got.size() != want.size())
    return fmt::format("{} results instead of {}", got.size(), want.size());
  for (size_t j = 0; j < got.size(); ++j) {
    if (!(got[j].shape() == want[j].shape())) {
      return fmt::format("result {} has shape {} instead of {}", j, got[j].shape().str(),
                         want[j].shape().str());
    }
    std::string text = differ(numbers_of(got[j]), numbers_of(want[j]), tolerance);
    if (!text.empty()) return fmt::format("result {} {}: {}", j, name_of(got[j].dtype()), text);
  }
  return "";
}

bool has_no_elements(const Use& u) {
  for (const ir::Type& t : u.out) {
    if (t.shape.size() != 0) return false;
  }
  return true;
}

// Compares every accepting kernel on these operands with the interpreter, or else with the
// expansion.
void compare_kernels(const Case& c, std::span<const Tensor> inputs, Report& r) {
  const ir::Op& op = *c.op;
  Use u(op, inputs, c.attrs);
  if (op.def.random || !u.static_shapes() || has_no_elements(u)) return;
  cpu::Problem p{op, u.pointers, u.out, u.attrs};
  std::vector<std::string> names = cpu::accepting(p);
  Tensors reference;
  std::string against;
  const bool nested = !op.holds_code && (op.def.loops || op.def.scalar.set());
  if (!names.empty() && names.back() == "interpreter") {
    reference = run_kernel(op, u, "interpreter");
    against = "interpreter";
    names.pop_back();
  } else if (op.def.composite()) {
    ir::Graph g(op.name);
    std::vector<ir::Value> params;
    Tensors args;
    for (size_t i = 0; i < u.inputs.size(); ++i) {
      params.push_back(u.inputs[i] ? g.add_param(u.in[i]) : ir::Value());
      if (u.inputs[i]) args.push_back(u.inputs[i]);
    }
    g.set_results(ir::expand(g, op, params, u.attrs));
    if (!names.empty()) reference = runtime::run_graph(g, args);
    against = "expansion";
  } else if (names.size() > 1) {
    reference = run_kernel(op, u, names.back());
    against = names.back();
    names.pop_back();
  } else {
    r.why_not = "one kernel only: " + (names.empty() ? "none" : names[0]);
    return;
  }
  if (names.empty()) r.why_not = "an expansion without a kernel of its own";
  DType widest = u.out.empty() ? DType::kFloat32 : u.out[0].dtype;
  // The worst precision among operands and results decides.
  double tolerance = tolerance_of(widest, *c.group);
  for (const ir::Type& t : u.in)
    tolerance = std::max(tolerance, is_float(t.dtype) ? tolerance_of(t.dtype, *c.group) : 0.0);
  if (against == "interpreter" && nested) {
    try {
      r.check(c.text + ": Lite's lanes against " + against,
              compare_all(run_on_lanes(op, u), reference, tolerance));
    } catch (const std::exception& e) {
      r.check(c.text + ": Lite's lanes", e.what());
    }
  }
  for (const std::string& name : names) {
    try {
      r.check(fmt::format("{}: kernel {} against {}", c.text, name, against),
              compare_all(run_kernel(op, u, name), reference, tolerance));
    } catch (const std::exception& e) {
      r.check(c.text + ": kernel " + name, e.what());
    }
  }
}

}  // namespace

Tensors promoted(const ir::Op& op, std::span<const Tensor> inputs) {
  Tensors out(inputs.begin(), inputs.end());
  if (op.def.promote == ir::Promote::kNone) return out;
  DType common{};
  bool any = false;
  for (const Tensor& t : out) {
    if (!t) continue;
    common = any ? promote(common, t.dtype()) : t.dtype();
    any = true;
  }
  if (op.def.promote == ir::Promote::kFloat && (is_int(common) || is_bool(common)))
    common = DType::kFloat32;
  static const ir::Op& cast = ir::op_named("cast");
  for (Tensor& t : out) {
    if (t && t.dtype() != common) t = runtime::call1(cast, {t}, {common});
  }
  return out;
}

std::vector<const Case*> cases_for(const std::string& column, const OpCases& all, bool brief,
                                   Report& r) {
  std::vector<const Case*> list;
  for (const Case& c : all.cases) {
    auto skip = c.group->skip.find(column);
    if (skip == c.group->skip.end()) skip = c.group->skip.find("all");
    if (skip != c.group->skip.end()) {
      r.why_not = skip->second;
    } else if (!brief || list.empty()) {
      list.push_back(&c);
    }
  }
  return list;
}

void check_points(const OpCases& all, bool, Report& r) {
  if (all.points.empty()) r.why_not = "no `at` clause";
  for (const Point& p : all.points) {
    try {
      Tensors got = runtime::call(*all.op, p.inputs, p.attrs);
      if (got.size() != p.expected.size()) {
        r.check(p.text, fmt::format("{} results, {} expected", got.size(), p.expected.size()));
        continue;
      }
      for (size_t j = 0; j < got.size(); ++j) {
        bool wide = real_part_of(got[j].dtype()) != DType::kFloat32;
        std::vector<double> values = numbers_of(got[j]);
        double scale = 0;
        for (double v : p.expected[j])
          scale = std::max(scale, std::isfinite(v) ? std::fabs(v) : 0.0);
        // Relative to the largest element, also below 1.
        std::vector<double> want = p.expected[j];
        if (scale > 0 && scale < 1) {
          for (double& v : values) v /= scale;
          for (double& v : want) v /= scale;
        }
        r.check(p.text, differ(values, want, wide ? 1e-13 : 4e-6));
      }
    } catch (const std::exception& e) {
      r.check(p.text, e.what());
    }
  }
}

void check_kernels(const OpCases& all, bool brief, Report& r) {
  bool first = true;
  for (const Case* c : cases_for("kernels", all, brief, r)) {
    std::vector<DType> dtypes =
        c->inputs.empty() || !c->inputs[0] ? std::vector<DType>{} : c->allowed(0);
    if (dtypes.empty()) compare_kernels(*c, c->inputs, r);
    for (DType d : dtypes) {
      bool common = d == DType::kFloat32 || d == DType::kFloat64 || dtypes.size() <= 2;
      if (!common && !(first && !brief)) continue;
      if (brief && d == DType::kFloat64 && dtypes.size() > 1) continue;
      try {
        compare_kernels(*c, c->in_dtype(d), r);
      } catch (const std::exception& e) {
        r.check(fmt::format("{}in {}", c->text, name_of(d)), e.what());
      }
    }
    first = false;
  }
}

void check_dtypes(const OpCases& all, bool brief, Report& r) {
  for (const Case* c : cases_for("dtypes", all, true, r)) {
    if (c->inputs.empty() || !c->inputs[0]) {
      r.why_not = "no operand";
      return;
    }
    DType wide = c->inputs[0].dtype();
    for (DType d : c->allowed(0)) {
      if (brief && d != DType::kFloat32 && d != DType::kInt32 && d != DType::kFloat16) continue;
      std::string what = fmt::format("{}in {}", c->text, name_of(d));
      try {
        Tensors given = c->in_dtype(d), same = given;
        // The same values in the widest dtype of their kind.
        DType reference = is_complex(d) ? DType::kComplex128
                          : is_float(d) ? DType::kFloat64
                          : is_int(d)   ? DType::kInt64
                                        : d;
        if (is_float(d) && !is_float(wide)) reference = d;
        static const ir::Op& cast = ir::op_named("cast");
        for (size_t i = 0; i < same.size(); ++i) {
          if (same[i] && c->follows_first(i))
            same[i] = runtime::call1(cast, {same[i]}, {reference});
        }
        Tensors got = runtime::call(*all.op, given, c->attrs);
        if (all.op->def.random || is_unsigned_int(d)) {
          r.check(what, "");
          continue;
        }
        Tensors want = runtime::call(*all.op, same, c->attrs);
        // Where whole numbers wrap, so does the reference, once it is brought to the dtype.
        for (size_t j = 0; j < want.size() && j < got.size(); ++j) {
          if (is_int(got[j].dtype()) && want[j].dtype() != got[j].dtype()) {
            want[j] = runtime::call1(cast, {want[j]}, {DType::kInt64});
            want[j] = runtime::call1(cast, {want[j]}, {got[j].dtype()});
          }
        }
        r.check(what, compare_all(got, want, tolerance_of(d, *c->group)));
      } catch (const std::exception& e) {
        r.check(what, e.what());
      }
    }
  }
}

void check_text(const OpCases& all, bool brief, Report& r) {
#if __has_include("ir/text.h")
  for (const Case* c : cases_for("text", all, brief, r)) {
    try {
      ir::Graph g("case");
      std::vector<ir::Value> in;
      for (const Tensor& t : promoted(*c->op, c->inputs)) {
        in.push_back(t ? g.add_param({t.dtype(), t.shape()}) : ir::Value());
      }
      ir::Node* n = g.add(*c->op, in, c->attrs);
      std::vector<ir::Value> out;
      for (uint32_t j = 0; j < n->types.size(); ++j) out.push_back(n->out(j));
      g.set_results(out);
      std::string once = g.str(), twice = ir::parse(once)->str();
      r.check(c->text, once == twice ? "" : "the text changes:\n" + once + "\n" + twice);
    } catch (const std::exception& e) {
      r.check(c->text, e.what());
    }
  }
#else
  (void)all;
  (void)brief;
  r.why_not = "there is no text form yet";
#endif
}

void check_threads(const OpCases& all, bool brief, Report& r) {
  int before = thread_count();
  for (const Case* c : cases_for("threads", all, brief, r)) {
    if (c->op->def.side_effect) {
      r.why_not = "it has a side effect";
      break;
    }
    try {
      Tensors inputs = c->inputs;
      // Elementwise kernels only share work when there is much of it.
      bool grown = elementwise(*c->op);
      for (size_t i = 0; i < inputs.size(); ++i) {
        grown &= inputs[i] && (c->default_shape[i]);
      }
      for (size_t i = 0; grown && i < inputs.size(); ++i)
        inputs[i] = c->remade(i, inputs[i].dtype(), {37, 1001});
      set_thread_count(1);
      Tensors one = runtime::call(*c->op, inputs, c->attrs);
      set_thread_count(2);
      Tensors two = runtime::call(*c->op, inputs, c->attrs);
      for (size_t j = 0; j < one.size(); ++j) {
        r.check(c->text, identical(one[j], two[j])
                             ? ""
                             : fmt::format("result {} depends on the number of threads", j));
      }
    } catch (const std::exception& e) {
      r.check(c->text, e.what());
    }
  }
  set_thread_count(before);
}

std::vector<std::string> run_column(const std::string& column, const OpCases& cases, bool brief,
                                    std::string* why_not) {
  using Check = void (*)(const OpCases&, bool, Report&);
  static const std::map<std::string, Check> checks = {{"type", check_type},
                                                      {"points", check_points},
                                                      {"kernels", check_kernels},
                                                      {"grad", check_grad},
                                                      {"grad2", check_grad2},
                                                      {"dtypes", check_dtypes},
                                                      {"broadcast", check_broadcast},
                                                      {"zero_size", check_zero_size},
                                                      {"scalar", check_scalar},
                                                      {"bad_input", check_bad_input},
                                                      {"text", check_text},
                                                      {"threads", check_threads},
                                                      {"vmap", check_vmap}};
  Report r;
  auto all = cases.skip.find("all");
  if (all != cases.skip.end()) {
    if (why_not) *why_not = all->second;
    return {};
  }
  try {
    checks.at(column)(cases, brief, r);
  } catch (const std::exception& e) {
    r.fail(cases.op->name, e.what());
  }
  if (why_not)
    *why_not = r.checked || !r.failures.empty() ? ""
               : r.why_not.empty()              ? "nothing to check"
                                                : r.why_not;
  return r.failures;
}

}  // namespace mycel::op_cases
