#include "lite/runtime/program.h"

#include <algorithm>
#include <cstring>

#include "tensor/dtype.h"

namespace mycel::lite {
namespace {

constexpr int kMostDepth = 32;
constexpr uint64_t kMostBytes = uint64_t{1} << 46;

std::string text(const flatbuffers::String* s) { return s ? s->str() : ""; }

template <typename T>
std::vector<T> numbers(const flatbuffers::Vector<T>* v) {
  std::vector<T> out(v ? v->size() : 0);
  if (!out.empty()) std::memcpy(out.data(), v->Data(), out.size() * sizeof(T));
  return out;
}

std::string read_ports(const flatbuffers::Vector<flatbuffers::Offset<file::Port>>* list,
                       std::vector<Port>& out) {
  if (!list) return "";
  for (const file::Port* p : *list) {
    out.emplace_back();
    if (std::string problem = read_port(*p, out.back()); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace

bool Port::known() const {
  return std::all_of(dims.begin(), dims.end(), [](int64_t d) { return d >= 0; });
}
uint64_t Port::bytes() const {
  uint64_t n = size_of(static_cast<DType>(dtype));
  for (int64_t d : dims) n *= static_cast<uint64_t>(d);
  return n;
}

std::string read_port(const file::Port& p, Port& out) {
  out.name = text(p.name());
  out.dtype = p.dtype();
  out.dims = numbers(p.dims());
  if (out.dtype >= kDTypeCount) return "a port of an unknown dtype";
  uint64_t n = size_of(static_cast<DType>(out.dtype));
  bool none = false;
  for (int64_t d : out.dims) {
    if (d < -1) return "a port with a negative dim";
    none |= d == 0;
    if (d > 0 && (__builtin_mul_overflow(n, static_cast<uint64_t>(d), &n) || n > kMostBytes))
      return "a port too large for any memory";
  }
  return "";
}

struct Program::Step {
  file::StepKind kind;
  std::string op, source, attrs;
  struct Place {
    file::PlaceKind kind;
    uint64_t at, bytes;
  };
  std::vector<Place> places;
  int nest = -1;
  Product product;
  Convolution convolution;
  std::vector<Body> bodies;
  std::vector<View> in, out;  // of custom ops and delegates; of control flow: their bytes
  CustomKernel custom;
  std::unique_ptr<Delegated> delegated;
  std::vector<uint64_t> bytes;  // of places
  std::vector<void*> buffers;   // where they are in this run
};

struct Program::Body {
  std::vector<Port> inputs, outputs;
  std::vector<Step> steps;
  uint64_t arena = 0;
};

Program::Program() = default;
Program::~Program() = default;
const std::vector<Port>& Program::inputs() const { return body_->inputs; }
const std::vector<Port>& Program::outputs() const { return body_->outputs; }
size_t Program::arena_bytes() const { return body_->arena; }
size_t Program::steps() const { return body_->steps.size(); }
size_t Program::delegated() const { return delegated_; }

std::string Program::load(const file::Plan& plan,
                          std::vector<std::span<const std::byte>> constants) {
  constants_ = std::move(constants);
  if (plan.nests()) {
    nests_.resize(plan.nests()->size());
    for (size_t i = 0; i < nests_.size(); ++i) {
      const auto at = static_cast<flatbuffers::uoffset_t>(i);
      const std::string problem = nests_[i].load(*(*plan.nests())[at]);
      if (!problem.empty()) return "nest " + std::to_string(i) + ": " + problem;
    }
  }
  if (!plan.body()) return "a plan without a body";
  body_ = std::make_unique<Body>();
  if (std::string problem = load_body(*plan.body(), *body_, 0); !problem.empty()) return problem;
  // The caller's threads come with the first run; their memory for values with their first nest.
  return "";
}

std::string Program::load_body(const file::Body& table, Body& body, int depth) {
  if (depth > kMostDepth) return "too many bodies inside each other";
  body.arena = table.arena();
  if (body.arena > kMostBytes) return "an arena too large for any memory";
  if (std::string p = read_ports(table.inputs(), body.inputs); !p.empty()) return p;
  if (std::string p = read_ports(table.outputs(), body.outputs); !p.empty()) return p;
  for (const auto* ports : {&body.inputs, &body.outputs}) {
    for (const Port& p : *ports) {
      if (!p.known()) return "a plan with open dims";
    }
  }
  if (!table.steps()) return "";
  body.steps.resize(table.steps()->size());
  for (size_t i = 0; i < body.steps.size(); ++i) {
    const file::Step& step = *(*table.steps())[static_cast<flatbuffers::uoffset_t>(i)];
    if (std::string p = load_step(step, body, body.steps[i], depth); !p.empty())
      return "step " + std::to_string(i) + " (" + text(step.op()) + "): " + p;
  }
  return "";
}

std::string Program::load_step(const file::Step& table, const Body& body, Step& step, int depth) {
  using file::PlaceKind;
  using file::StepKind;
  step.kind = table.kind();
  step.op = text(table.op());
  step.source = text(table.source());
  step.attrs = text(table.attrs());
  const size_t count = table.places() ? table.places()->size() : 0;
  std::vector<file::Place> places(count);
  if (count) {
    std::memcpy(static_cast<void*>(places.data()), table.places()->Data(),
                count * sizeof(file::Place));
  }
  size_t constants = 0;
  for (const file::Place& p : places) {
    uint64_t room = 0;
    switch (p.kind()) {
      case PlaceKind::Input:
        if (p.at() >= body.inputs.size()) return "an input that does not exist";
        room = body.inputs[p.at()].bytes();
        break;
      case PlaceKind::Output:
        if (p.at() >= body.outputs.size()) return "an output that does not exist";
        room = body.outputs[p.at()].bytes();
        break;
      case PlaceKind::Constant:
        if (p.at() >= constants_.size()) return "a constant that does not exist";
        room = constants_[p.at()].size();
        ++constants;
        break;
      case PlaceKind::Arena:
        if (p.at() > body.arena || p.at() % 8 != 0) return "a place outside of the arena";
        room = body.arena - p.at();
        break;
      case PlaceKind::None:
        break;
      default:
        return "a place of an unknown kind";
    }
    if (p.bytes() > room) return "a place larger than what it lies in";
    step.places.push_back({p.kind(), p.at(), p.bytes()});
    step.bytes.push_back(p.bytes());
  }
  step.buffers.resize(count);
  // What is written may not be a constant: those are mapped read-only, inputs are the caller's.
  auto writes = [&](size_t first) {
    for (size_t i = first; i < count; ++i) {
      if (step.places[i].kind != PlaceKind::Arena && step.places[i].kind != PlaceKind::Output)
        return false;
    }
    return true;
  };
  const std::vector<int64_t> sizes = numbers(table.numbers());
  const std::vector<float> reals = numbers(table.reals());
  if (table.bodies()) {
    step.bodies.resize(table.bodies()->size());
    for (size_t i = 0; i < step.bodies.size(); ++i) {
      const auto at = static_cast<flatbuffers::uoffset_t>(i);
      if (std::string p = load_body(*(*table.bodies())[at], step.bodies[i], depth + 1); !p.empty())
        return p;
    }
  }
  // Whether places [first, …) hold what the ports say, in order.
  auto hold = [&](const std::vector<Port>& ports, size_t first) {
    if (first + ports.size() > count) return false;
    for (size_t i = 0; i < ports.size(); ++i) {
      if (step.bytes[first + i] < ports[i].bytes()) return false;
    }
    return true;
  };
  switch (step.kind) {
    case StepKind::Nest: {
      step.nest = table.nest();
      if (step.nest < 0 || step.nest >= static_cast<int>(nests_.size())) return "no such nest";
      const NestProgram& nest = nests_[static_cast<size_t>(step.nest)];
      if (count != nest.operands() + nest.scratch().size()) return "operands";
      for (size_t i = 0; i < count; ++i) {
        if (nest.writes(i) && step.places[i].kind != PlaceKind::Arena &&
            step.places[i].kind != PlaceKind::Output) {
          return "a result in a place that cannot be written";
        }
      }
      for (size_t i = 0; i < nest.scratch().size(); ++i) {
        if (step.bytes[nest.operands() + i] < nest.scratch()[i].bytes) return "scratch";
      }
      return "";
    }
    case StepKind::Copy:
      if (count != 2 || step.bytes[0] < step.bytes[1] || !writes(1)) return "operands";
      return "";
    case StepKind::Product:
      if (std::string p = step.product.read(sizes, reals); !p.empty()) return p;
      if (!writes(step.product.bias ? 3 : 2)) return "a result in a place that cannot be written";
      return step.product.check(step.bytes);
    case StepKind::Convolution:
    case StepKind::Depthwise:
      if (std::string p = step.convolution.read(sizes, reals); !p.empty()) return p;
      if (!writes(step.convolution.bias ? 3 : 2))
        return "a result in a place that cannot be written";
      return step.convolution.check(step.bytes);
    case StepKind::Cond: {
      // Places: condition, operands, results, arena of the branches.
      if (step.bodies.size() != 2 || count < 2 || step.bytes[0] < 1) return "branches";
      const Body &a = step.bodies[0], &b = step.bodies[1];
      if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size() ||
          count != 2 + a.inputs.size() + a.outputs.size()) {
        return "branches";
      }
      const size_t results = 1 + a.inputs.size();
      for (const Body* body : {&a, &b}) {
        if (!hold(body->inputs, 1) || !hold(body->outputs, results)) return "operands";
        if (step.bytes.back() < body->arena) return "scratch";
      }
      return writes(results) ? "" : "a result in a place that cannot be written";
    }
    case StepKind::While: {
      // Places: operands, results, next state, a truth, arena of condition and body.
      if (step.bodies.size() != 2) return "bodies";
      const Body &condition = step.bodies[0], &body = step.bodies[1];
      const size_t n = body.inputs.size();
      if (condition.inputs.size() != n || body.outputs.size() != n ||
          condition.outputs.size() != 1 || count != 3 * n + 2) {
        return "operands";
      }
      for (size_t i = 0; i < n; ++i) {
        const uint64_t bytes = body.inputs[i].bytes();
        if (condition.inputs[i].bytes() != bytes || body.outputs[i].bytes() != bytes)
          return "state that changes its size";
      }
      for (size_t k = 0; k < 3; ++k) {
        if (!hold(body.inputs, k * n)) return "operands";
      }
      if (!hold(condition.outputs, 3 * n) || condition.outputs[0].bytes() < 1) return "condition";
      if (step.bytes.back() < std::max(condition.arena, body.arena)) return "scratch";
      return writes(n) ? "" : "a result in a place that cannot be written";
    }
    case StepKind::Custom:
    case StepKind::Delegate: {
      std::vector<Port> in, out;
      if (std::string p = read_ports(table.in_types(), in); !p.empty()) return p;
      if (std::string p = read_ports(table.out_types(), out); !p.empty()) return p;
      for (auto* list : {&in, &out}) {
        for (const Port& p : *list) {
          if (!p.known()) return "open dims";
          (list == &in ? step.in : step.out).push_back({nullptr, p.bytes(), p.dtype, p.dims});
        }
      }
      if (!hold(in, 0) || !hold(out, in.size()) || !writes(in.size())) return "operands";
      if (step.kind == StepKind::Custom) {
        if (count != in.size() + out.size()) return "operands";
        step.custom = kernel_named(step.op);
        return step.custom ? "" : "no kernel of this name is registered";
      }
      // Behind operands and results: the part as ONNX, and an arena for our own kernels.
      if (count != in.size() + out.size() + 1 || step.bodies.size() != 1 || sizes.size() != 1 ||
          sizes[0] < 0 || static_cast<size_t>(sizes[0]) >= constants_.size()) {
        return "operands";
      }
      const Body& own = step.bodies[0];
      if (own.inputs.size() != in.size() || own.outputs.size() != out.size() ||
          !hold(own.inputs, 0) || !hold(own.outputs, in.size()) || step.bytes.back() < own.arena) {
        return "operands";
      }
      if (Delegate d = delegate_named(step.op)) {
        step.delegated = d(constants_[static_cast<size_t>(sizes[0])], step.in, step.out);
      }
      delegated_ += step.delegated != nullptr;
      return "";
    }
  }
  (void)constants;
  return "a step of an unknown kind";
}

std::string Program::run(std::span<void* const> inputs, std::span<void* const> outputs,
                         Threads& threads) {
  if (!arena_ && body_->arena > 0) {
    arena_.reset(new (std::align_val_t{64}, std::nothrow) std::byte[body_->arena]);
    if (!arena_) return "no memory for an arena of " + std::to_string(body_->arena) + " bytes";
  }
  if (memory_.size() < static_cast<size_t>(threads.count()))
    memory_.resize(static_cast<size_t>(threads.count()));
  return run_body(*body_, inputs.data(), outputs.data(), arena_.get(), threads);
}

std::string Program::run_body(Body& body, void* const* inputs, void* const* outputs,
                              std::byte* arena, Threads& threads) {
  for (Step& step : body.steps) {
    for (size_t i = 0; i < step.places.size(); ++i) {
      const Step::Place& p = step.places[i];
      switch (p.kind) {
        case file::PlaceKind::Input:
          step.buffers[i] = inputs[p.at];
          break;
        case file::PlaceKind::Output:
          step.buffers[i] = outputs[p.at];
          break;
        case file::PlaceKind::Constant:
          step.buffers[i] = const_cast<std::byte*>(constants_[p.at].data());
          break;
        case file::PlaceKind::Arena:
          step.buffers[i] = arena + p.at;
          break;
        default:
          step.buffers[i] = nullptr;
      }
    }
    std::string problem = run_step(step, step.buffers.data(), threads);
    if (!problem.empty())
      return step.op + ": " + problem + (step.source.empty() ? "" : ". At " + step.source);
  }
  return "";
}

std::string Program::run_step(Step& step, void* const* buffers, Threads& threads) {
  using file::StepKind;
  switch (step.kind) {
    case StepKind::Nest:
      if (!nests_[static_cast<size_t>(step.nest)].run(buffers, step.bytes.data(), threads,
                                                      memory_)) {
        return "an index lies outside of its operand";
      }
      return "";
    case StepKind::Copy:
      std::memmove(buffers[1], buffers[0], step.bytes[1]);
      return "";
    case StepKind::Product:
      step.product.run(buffers, threads);
      return "";
    case StepKind::Convolution:
    case StepKind::Depthwise:
      step.convolution.run(buffers, threads);
      return "";
    case StepKind::Cond: {
      Body& taken = step.bodies[*static_cast<const uint8_t*>(buffers[0]) ? 0 : 1];
      return run_body(taken, buffers + 1, buffers + 1 + taken.inputs.size(),
                      static_cast<std::byte*>(buffers[step.places.size() - 1]), threads);
    }
    case StepKind::While:
      return run_while(step, buffers, threads);
    case StepKind::Custom:
    case StepKind::Delegate: {
      for (size_t i = 0; i < step.in.size(); ++i) step.in[i].data = buffers[i];
      for (size_t i = 0; i < step.out.size(); ++i) step.out[i].data = buffers[step.in.size() + i];
      if (step.kind == StepKind::Custom) return step.custom(step.attrs, step.in, step.out);
      if (step.delegated) return step.delegated->run(step.in, step.out);
      return run_body(step.bodies[0], buffers, buffers + step.in.size(),
                      static_cast<std::byte*>(buffers[step.places.size() - 1]), threads);
    }
  }
  return "";
}

std::string Program::run_while(Step& step, void* const* buffers, Threads& threads) {
  Body &condition = step.bodies[0], &body = step.bodies[1];
  const size_t n = body.inputs.size();
  void* const* now = buffers + n;
  void* const* next = buffers + 2 * n;
  auto* arena = static_cast<std::byte*>(buffers[3 * n + 1]);
  for (size_t i = 0; i < n; ++i) std::memmove(now[i], buffers[i], body.inputs[i].bytes());
  for (;;) {
    if (std::string p = run_body(condition, now, buffers + 3 * n, arena, threads); !p.empty())
      return p;
    if (!*static_cast<const uint8_t*>(buffers[3 * n])) return "";
    if (std::string p = run_body(body, now, next, arena, threads); !p.empty()) return p;
    for (size_t i = 0; i < n; ++i) std::memcpy(now[i], next[i], body.inputs[i].bytes());
  }
}

}  // namespace mycel::lite
