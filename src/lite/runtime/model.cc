#include "lite/runtime/model.h"

#include <algorithm>
#include <cstring>

#include "lite/runtime/packing.h"
#include "tensor/dtype.h"

namespace mycel::lite {
namespace {

constexpr size_t kMostPrepared = 8;  // shapes kept; the one longest unused goes first

std::vector<int64_t> dims_of(const flatbuffers::Vector<int64_t>* v) {
  std::vector<int64_t> out(v ? v->size() : 0);
  if (!out.empty()) std::memcpy(out.data(), v->Data(), out.size() * sizeof(int64_t));
  return out;
}

bool within(uint64_t offset, uint64_t bytes, size_t room) {
  return offset <= room && bytes <= room - offset && offset % kLiteAlignment == 0;
}

std::string dims_text(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    text += (i ? ", " : "") + (dims[i] < 0 ? std::string("?") : std::to_string(dims[i]));
  }
  return text + "]";
}

}  // namespace

LiteModel::LiteModel(std::shared_ptr<const LiteFile> file, int threads)
    : file_(std::move(file)), threads_(std::clamp(threads, 1, 64)) {}

std::unique_ptr<LiteModel> LiteModel::open(std::shared_ptr<const LiteFile> file, int threads,
                                           ReplannerMaker replanner, std::string& problem) {
  std::unique_ptr<LiteModel> m(new LiteModel(std::move(file), threads));
  const file::File& table = m->file_->table();
  const auto data = m->file_->data();
  if (replanner && table.graph_bytes() > 0) {
    if (!within(table.graph_offset(), table.graph_bytes(), data.size())) {
      problem = "the file is damaged: its graph lies outside";
      return nullptr;
    }
    if (!table.plan()) {
      const size_t weights = table.weights() ? table.weights()->size() : 0;
      m->replanner_ =
          replanner(data.subspan(table.graph_offset(), table.graph_bytes()), weights, problem);
      if (!m->replanner_) return nullptr;
    }
  }
  problem = m->read();
  return problem.empty() ? std::move(m) : nullptr;
}

std::string LiteModel::read() {
  const file::File& table = file_->table();
  for (auto [list, out] :
       {std::pair{table.inputs(), &all_inputs_}, std::pair{table.outputs(), &all_outputs_}}) {
    if (!list) continue;
    for (const file::Port* p : *list) {
      out->emplace_back();
      if (std::string problem = read_port(*p, out->back()); !problem.empty())
        return "the file is damaged: " + problem;
    }
  }
  if (table.weights()) {
    for (const file::Weight* w : *table.weights()) {
      if (!within(w->offset(), w->bytes(), file_->data().size()) || w->dtype() >= kDTypeCount ||
          w->packing() >= kPackings) {
        return "the file is damaged: a weight that lies outside";
      }
    }
  }
  if (std::string problem = read_state(); !problem.empty()) return problem;
  if (!table.plan()) {
    if (!replanner_) return "its dims are open, and this runtime is built without the planner";
    return "";
  }
  prepared_.emplace_front();
  Prepared& p = prepared_.front();
  std::vector<std::span<const std::byte>> constants;
  std::string problem = resolve(*table.plan(), {}, constants);
  if (problem.empty()) problem = p.program.load(*table.plan(), std::move(constants));
  if (!problem.empty()) return problem;
  if (p.program.inputs().size() != all_inputs_.size() ||
      p.program.outputs().size() != all_outputs_.size()) {
    return "the file is damaged: its plan has other inputs than it says";
  }
  for (size_t i = 0; i < all_inputs_.size(); ++i) {
    if (p.program.inputs()[i].dims != all_inputs_[i].dims ||
        p.program.inputs()[i].dtype != all_inputs_[i].dtype)
      return "the file is damaged: its plan has other inputs than it says";
  }
  for (size_t i = 0; i < all_outputs_.size(); ++i) {
    if (p.program.outputs()[i].dims != all_outputs_[i].dims ||
        p.program.outputs()[i].dtype != all_outputs_[i].dtype)
      return "the file is damaged: its plan has other outputs than it says";
  }
  now_ = &p.program;
  return "";
}

std::string LiteModel::read_state() {
  const file::File& table = file_->table();
  const size_t n = table.state_inputs() ? table.state_inputs()->size() : 0;
  if (n != (table.state_outputs() ? table.state_outputs()->size() : 0))
    return "the file is damaged: state without an end";
  std::vector<bool> in(all_inputs_.size()), out(all_outputs_.size());
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<flatbuffers::uoffset_t>(i);
    State s;
    s.input = (*table.state_inputs())[at];
    s.output = (*table.state_outputs())[at];
    if (s.input >= in.size() || s.output >= out.size() || in[s.input] || out[s.output] ||
        !all_inputs_[s.input].known() || all_inputs_[s.input].dims != all_outputs_[s.output].dims ||
        all_inputs_[s.input].dtype != all_outputs_[s.output].dtype) {
      return "the file is damaged: state of no input";
    }
    in[s.input] = out[s.output] = true;
    s.name = all_inputs_[s.input].name;
    const file::Weight* w =
        table.states() && i < table.states()->size() ? (*table.states())[at] : nullptr;
    const uint64_t bytes = all_inputs_[s.input].bytes();
    if (!w || w->bytes() != bytes || !within(w->offset(), bytes, file_->data().size()))
      return "the file is damaged: state without a first value";
    const auto from = file_->data().subspan(w->offset(), w->bytes());
    s.now.assign(from.begin(), from.end());
    s.next.resize(s.now.size());
    state_.push_back(std::move(s));
  }
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i]) inputs_.push_back(all_inputs_[i]);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i]) outputs_.push_back(all_outputs_[i]);
  }
  return "";
}

std::string LiteModel::weight_form(int weight, uint8_t packing, int64_t groups,
                                   std::span<const std::byte>& out) {
  const auto* weights = file_->table().weights();
  if (!weights || static_cast<size_t>(weight) >= weights->size()) return "no such weight";
  const file::Weight& w = *(*weights)[static_cast<flatbuffers::uoffset_t>(weight)];
  const auto bytes = file_->data().subspan(w.offset(), w.bytes());
  const auto dtype = static_cast<DType>(w.dtype());
  if (w.stored() == w.dtype() && w.packing() == packing && (packing == 0 || w.groups() == groups)) {
    out = bytes;
    return "";
  }
  const std::vector<int64_t> dims = dims_of(w.dims());
  const auto from = static_cast<Packing>(w.packing()), to = static_cast<Packing>(packing);
  const auto stored = static_cast<DType>(w.stored());
  const int64_t held = packed_size(from, dims, w.groups()),
                plain = packed_size(Packing::kPlain, dims, 1),
                wanted = packed_size(to, dims, groups);
  if (dtype != DType::kFloat32 || (stored != DType::kFloat32 && stored != DType::kFloat16) ||
      held < 0 || plain < 0 || wanted < 0 ||
      static_cast<uint64_t>(held) * size_of(stored) != w.bytes()) {
    return "a weight that cannot be read in this order";
  }
  auto [it, added] =
      forms_.emplace(std::pair{weight, static_cast<int>(packing)}, std::vector<float>{});
  std::vector<float>& form = it->second;
  if (added) {
    std::vector<float> wide(static_cast<size_t>(held)), flat(static_cast<size_t>(plain));
    if (stored == DType::kFloat16) {
      const auto* half = reinterpret_cast<const uint16_t*>(bytes.data());
      for (size_t i = 0; i < wide.size(); ++i) wide[i] = half_to_float(half[i]);
    } else if (!wide.empty()) {
      std::memcpy(wide.data(), bytes.data(), bytes.size());
    }
    unpack(from, dims, w.groups(), wide.data(), flat.data());
    form.resize(static_cast<size_t>(wanted));
    pack(to, dims, groups, flat.data(), form.data());
  }
  out = std::as_bytes(std::span(form));
  return "";
}

std::string LiteModel::resolve(const file::Plan& plan, const std::vector<std::string>& values,
                               std::vector<std::span<const std::byte>>& out) {
  if (!plan.constants()) return "";
  for (const file::Constant* c : *plan.constants()) {
    out.emplace_back();
    if (c->packing() >= kPackings) return "the file is damaged: a packing of an unknown kind";
    if (c->weight() >= 0) {
      if (std::string p = weight_form(c->weight(), c->packing(), c->groups(), out.back());
          !p.empty())
        return p;
    } else if (!values.empty()) {
      if (c->offset() >= values.size()) return "a constant that does not exist";
      out.back() = std::as_bytes(std::span(values[c->offset()]));
    } else {
      if (!within(c->offset(), c->bytes(), file_->data().size()))
        return "the file is damaged: a constant that lies outside";
      out.back() = file_->data().subspan(c->offset(), c->bytes());
    }
  }
  return "";
}

std::string LiteModel::prepare(const std::vector<std::vector<int64_t>>& dims) {
  if (dims.size() != inputs_.size())
    return std::to_string(dims.size()) + " inputs are given, " + std::to_string(inputs_.size()) +
           " are expected";
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::vector<int64_t>& want = inputs_[i].dims;
    bool fits = dims[i].size() == want.size();
    for (size_t d = 0; fits && d < want.size(); ++d)
      fits = dims[i][d] >= 0 && (want[d] < 0 || want[d] == dims[i][d]);
    if (!fits)
      return "input '" + inputs_[i].name + "' is " + dims_text(dims[i]) + "; expected " +
             dims_text(want);
  }
  if (!replanner_) return "";
  for (auto it = prepared_.begin(); it != prepared_.end(); ++it) {
    if (it->dims != dims) continue;
    prepared_.splice(prepared_.begin(), prepared_, it);
    now_ = &prepared_.front().program;
    return "";
  }
  std::vector<Port> ports = all_inputs_;
  size_t next = 0;
  for (size_t i = 0; i < ports.size(); ++i) {
    const bool kept =
        std::any_of(state_.begin(), state_.end(), [&](const State& s) { return s.input == i; });
    if (!kept) ports[i].dims = dims[next++];
  }
  now_ = nullptr;
  prepared_.emplace_front();
  Prepared& p = prepared_.front();
  p.dims = dims;
  p.made = replanner_->plan(ports);
  std::string problem = p.made.problem;
  std::vector<std::span<const std::byte>> constants;
  const file::Plan* plan = nullptr;
  if (problem.empty()) {
    plan = flatbuffers::GetRoot<file::Plan>(p.made.bytes.data());
    // An empty list of values would mean those of the file.
    if (p.made.values.empty()) p.made.values.emplace_back();
    problem = resolve(*plan, p.made.values, constants);
  }
  if (problem.empty()) problem = p.program.load(*plan, std::move(constants));
  if (!problem.empty()) {
    prepared_.pop_front();
    return problem;
  }
  while (prepared_.size() > kMostPrepared) prepared_.pop_back();
  now_ = &p.program;
  return "";
}

std::vector<Port> LiteModel::outputs_now() const {
  std::vector<Port> out;
  for (size_t i = 0; now_ && i < all_outputs_.size(); ++i) {
    const bool kept =
        std::any_of(state_.begin(), state_.end(), [&](const State& s) { return s.output == i; });
    if (kept) continue;
    out.push_back(now_->outputs()[i]);
    out.back().name = all_outputs_[i].name;
  }
  return out;
}

std::string LiteModel::run(std::span<void* const> inputs, std::span<void* const> outputs) {
  if (!now_) return "shapes are not known yet";
  if (state_.empty()) return now_->run(inputs, outputs, threads_);
  std::vector<void*> in(all_inputs_.size()), out(all_outputs_.size());
  for (State& s : state_) {
    in[s.input] = s.now.data();
    out[s.output] = s.next.data();
  }
  size_t next = 0;
  for (void*& p : in) {
    if (!p) p = inputs[next++];
  }
  next = 0;
  for (void*& p : out) {
    if (!p) p = outputs[next++];
  }
  std::string problem = now_->run(in, out, threads_);
  if (problem.empty()) {
    for (State& s : state_) s.now.swap(s.next);
  }
  return problem;
}

}  // namespace mycel::lite
