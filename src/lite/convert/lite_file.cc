#include "lite/convert/lite_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file_io.h"
#include "interop/onnx.h"
#include "ir/graph_file.h"
#include "ir/specialize.h"
#include "lite/convert/formats.h"
#include "lite/convert/lite_graph.h"
#include "lite/plan/planner.h"
#include "lite/plan/replan.h"
#include "runtime/trace.h"

namespace mycel::lite {
namespace {

// Parts of the data section, each at a multiple of 64 bytes.
class Data {
 public:
  uint64_t add(const void* p, size_t bytes) {
    bytes_.resize(lite_aligned(bytes_.size()), '\0');
    const uint64_t at = bytes_.size();
    bytes_.append(static_cast<const char*>(p), bytes);
    return at;
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

uint64_t bytes_of(const Tensor& t) { return static_cast<uint64_t>(t.size()) * size_of(t.dtype()); }

// Dims to choose the order of weights by, where the file leaves them open.
std::shared_ptr<const ir::Graph> any_shapes(const runtime::TracedModel& m, bool& open) {
  std::vector<Shape> shapes;
  open = false;
  for (size_t i = 0; i < m.inputs.size(); ++i) {
    std::vector<int64_t> dims(m.graph->params()[i].shape().begin(),
                              m.graph->params()[i].shape().end());
    for (int64_t& d : dims) {
      open |= d == kUnknownDim;
      if (d == kUnknownDim) d = 16;
    }
    shapes.emplace_back(dims);
  }
  return open ? ir::specialize(*m.graph, shapes) : m.graph;
}

// A part of a network as ONNX, for a delegate.
std::string onnx_bytes(const ir::Graph& part) {
  runtime::TracedModel m;
  auto g = std::make_shared<ir::Graph>(part.name());
  std::vector<ir::Value> args;
  for (size_t i = 0; i < part.params().size(); ++i) {
    m.inputs.push_back(fmt::format("input{}", i));
    args.push_back(g->add_param(part.params()[i].type(), m.inputs.back()));
  }
  g->set_results(ir::inline_graph(part, *g, args));
  m.graph = g;
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("mycel-part-{}.onnx", ::getpid());
  interop::save_onnx(path.string(), m);
  std::string bytes;
  {
    InputFile file(path.string());
    bytes.resize(file.size());
    file.read_at(0, bytes.data(), bytes.size());
  }
  std::filesystem::remove(path);
  return bytes;
}

class FileWriter {
 public:
  FileWriter(const runtime::TracedModel& m, const ConvertOptions& o,
             std::vector<std::string>& report)
      : m_(m), o_(o), report_(report) {}

  std::string bytes() {
    std::unique_ptr<Planner> planner = plan();
    for (size_t i = 0; i < m_.weights.size(); ++i) store_weight(i);
    const auto weights = to_.CreateVector(weights_);
    flatbuffers::Offset<file::Plan> plan = 0;
    if (planner && !open_) plan = planner->write(to_, constants(*planner));
    uint64_t graph_at = 0, graph_bytes = 0;
    if (o_.keep_graph || open_) {
      const std::string graph =
          ir::encode_graph_file({m_.graph, m_.graph->params().size(), {}, {}});
      graph_at = data_.add(graph.data(), graph.size());
      graph_bytes = graph.size();
    }
    std::vector<flatbuffers::Offset<file::Port>> in, out;
    for (size_t i = 0; i < m_.inputs.size(); ++i)
      in.push_back(write_port(to_, m_.inputs[i], m_.graph->params()[i].type()));
    for (size_t i = 0; i < m_.graph->results().size(); ++i)
      out.push_back(write_port(to_, fmt::format("output{}", i), m_.graph->results()[i].type()));
    std::vector<flatbuffers::Offset<file::Note>> notes;
    for (const auto& [key, text] : o_.notes)
      notes.push_back(file::CreateNote(to_, to_.CreateString(key), to_.CreateString(text)));
    std::vector<uint32_t> state_in, state_out;
    std::vector<flatbuffers::Offset<file::Weight>> states;
    for (const auto& s : o_.state) {
      const auto it = std::find(m_.inputs.begin(), m_.inputs.end(), s.name);
      if (it == m_.inputs.end() || s.output >= m_.graph->results().size()) {
        value_error("state '{}' is no input, or result {} does not exist", s.name, s.output);
      }
      const auto at = static_cast<size_t>(it - m_.inputs.begin());
      const ir::Type& type = m_.graph->params()[at].type();
      const Tensor first = runtime::concrete(s.value, "convert");
      if (!(type == ir::type_of(first)) || !(type == m_.graph->results()[s.output].type())) {
        value_error("state '{}' is {}; its first value is {}, result {} is {}", s.name, type.str(),
                    first.describe(), s.output, m_.graph->results()[s.output].type().str());
      }
      state_in.push_back(static_cast<uint32_t>(at));
      state_out.push_back(static_cast<uint32_t>(s.output));
      const uint64_t place = data_.add(first.raw(), bytes_of(first));
      states.push_back(file::CreateWeight(to_, to_.CreateString(s.name),
                                          static_cast<uint8_t>(first.dtype()), 0, 0, 0, 1, place,
                                          bytes_of(first)));
    }
    const auto state_list = to_.CreateVector(states);
    const auto producer = to_.CreateString("mycel lite");
    const auto note_list = to_.CreateVector(notes);
    const auto in_list = to_.CreateVector(in), out_list = to_.CreateVector(out);
    const auto si = to_.CreateVector(state_in), so = to_.CreateVector(state_out);
    file::FinishFileBuffer(
        to_, file::CreateFile(to_, producer, note_list, in_list, out_list, plan, weights, graph_at,
                              graph_bytes, si, so, state_list));
    report_.push_back(
        fmt::format("{} weights, {} bytes of data, {}", m_.weights.size(), data_.bytes().size(),
                    open_ ? "planned on the device: dims are open"
                          : fmt::format("{} bytes of arena", planner->arena_bytes())));
    return lite_file_bytes(std::as_bytes(std::span(to_.GetBufferPointer(), to_.GetSize())),
                           data_.bytes());
  }

 private:
  std::unique_ptr<Planner> plan() {
    const size_t inputs = m_.inputs.size();
    std::shared_ptr<const ir::Graph> graph;
    try {
      graph = any_shapes(m_, open_);
      auto planner = std::make_unique<Planner>(
          *graph, inputs, [](const ir::Graph& part) { return onnx_bytes(part); });
      planner->plan();
      for (const ConstantUse& c : planner->constants()) {
        if (c.weight >= 0 && !forms_.count(c.weight)) forms_[c.weight] = {c.packing, c.groups};
      }
      graph_ = graph;
      return planner;
    } catch (const UserError& e) {
      // Open dims may not take the sizes that were tried; ops that cannot run are refused now.
      if (!open_ || e.kind() == ErrorKind::kUnsupported) throw;
      return nullptr;
    }
  }

  void store_weight(size_t i) {
    const auto& [name, given] = m_.weights[i];
    const Tensor t = runtime::concrete(given, "convert");
    const std::vector<int64_t> dims(t.shape().begin(), t.shape().end());
    Packing packing = Packing::kPlain;
    int64_t groups = 1;
    if (auto it = forms_.find(static_cast<int>(i)); it != forms_.end()) {
      packing = it->second.first;
      groups = it->second.second;
    }
    const void* p = t.raw();
    uint64_t bytes = bytes_of(t);
    std::vector<float> packed;
    std::vector<uint16_t> half;
    DType stored = t.dtype();
    if (packing != Packing::kPlain) {
      packed.resize(static_cast<size_t>(packed_size(packing, dims, groups)));
      pack(packing, dims, groups, static_cast<const float*>(p), packed.data());
      p = packed.data();
      bytes = packed.size() * sizeof(float);
    }
    if (o_.quantize == "fp16" && stored == DType::kFloat32 && t.rank() > 1) {
      for (uint64_t k = 0; k < bytes / 4; ++k)
        half.push_back(float_to_half(static_cast<const float*>(p)[k]));
      p = half.data();
      bytes /= 2;
      stored = DType::kFloat16;
    }
    const uint64_t at = data_.add(p, bytes);
    places_.push_back({at, bytes, packing, stored == t.dtype()});
    const auto text = to_.CreateString(name);
    const auto list = to_.CreateVector(dims);
    weights_.push_back(file::CreateWeight(
        to_, text, static_cast<uint8_t>(t.dtype()), list, static_cast<uint8_t>(stored),
        static_cast<uint8_t>(packing), static_cast<uint32_t>(groups), at, bytes));
  }

  ConstantOffsets constants(const Planner& planner) {
    ConstantOffsets out;
    for (const ConstantUse& c : planner.constants()) {
      if (c.weight < 0) {
        const uint64_t at = data_.add(c.value.raw(), bytes_of(c.value));
        out.push_back(file::CreateConstant(to_, at, bytes_of(c.value)));
        continue;
      }
      const Stored& s = places_[static_cast<size_t>(c.weight)];
      const bool ready = s.as_taken && s.packing == c.packing;
      out.push_back(file::CreateConstant(to_, ready ? s.at : 0, ready ? s.bytes : 0,
                                         ready ? -1 : c.weight, static_cast<uint8_t>(c.packing),
                                         static_cast<uint32_t>(c.groups)));
    }
    return out;
  }

  struct Stored {
    uint64_t at, bytes;
    Packing packing;
    bool as_taken;
  };
  const runtime::TracedModel& m_;
  const ConvertOptions& o_;
  std::vector<std::string>& report_;
  flatbuffers::FlatBufferBuilder to_;
  Data data_;
  bool open_ = false;
  std::shared_ptr<const ir::Graph> graph_;
  std::map<int, std::pair<Packing, int64_t>> forms_;
  std::vector<Stored> places_;
  std::vector<flatbuffers::Offset<file::Weight>> weights_;
};

struct Held : RefCounted {
  explicit Held(Tensor t) : tensor(std::move(t)) {}
  Tensor tensor;
};

Shape shape_of(const std::vector<int64_t>& dims) { return Shape(dims); }

}  // namespace

std::string lite_bytes(const runtime::TracedModel& model, const ConvertOptions& options,
                       std::vector<std::string>& report) {
  return FileWriter(lite_graph(model), options, report).bytes();
}

std::vector<std::string> write_lite(const runtime::TracedModel& model, const std::string& path,
                                    const ConvertOptions& options) {
  std::vector<std::string> report;
  const std::string bytes = lite_bytes(model, options, report);
  AtomicFile out(path);
  out.write(bytes.data(), bytes.size());
  out.commit();
  return report;
}

bool is_lite(const std::string&, std::string_view head) {
  return is_lite_file(std::as_bytes(std::span(head)));
}

runtime::TracedModel read_lite(const std::string& path, const ConvertOptions& options) {
  std::string problem;
  auto file = LiteFile::open(path, true, problem);
  if (!file) value_error("'{}': {}", path, problem);
  const file::File& table = file->table();
  const auto data = file->data();
  if (table.graph_bytes() == 0) {
    throw UserError(ErrorKind::kValue, fmt::format("'{}' was written without its graph", path),
                    "Only the Lite runtime can run it.");
  }
  runtime::TracedModel out;
  std::unique_ptr<LiteModel> model = LiteModel::open(file, 1, make_replanner, problem);
  if (!model) value_error("'{}': {}", path, problem);
  // Copied: the graph lives longer than the file is mapped.
  Tensor copy = Tensor::empty(DType::kUInt8, Shape({static_cast<int64_t>(table.graph_bytes())}));
  std::memcpy(copy.mutable_raw(), data.data() + table.graph_offset(), table.graph_bytes());
  ir::GraphFile graph =
      ir::decode_graph_file({static_cast<std::byte*>(copy.mutable_raw()), table.graph_bytes()},
                            Ref<RefCounted>(make_ref<Held>(copy)));
  out.graph = graph.graph;
  const size_t weights = table.weights() ? table.weights()->size() : 0;
  if (out.graph->params().size() < weights) value_error("'{}': the file is damaged", path);
  const size_t inputs = out.graph->params().size() - weights;
  ir::Types types;
  for (size_t i = 0; i < inputs; ++i) {
    out.inputs.push_back(out.graph->params()[i].node->name);
    types.push_back(out.graph->params()[i].type());
  }
  for (size_t i = 0; i < weights; ++i) {
    const ir::Value& p = out.graph->params()[inputs + i];
    std::span<const std::byte> plain;
    problem = model->weight_form(static_cast<int>(i), 0, 1, plain);
    Tensor t = Tensor::empty(p.dtype(), p.shape());
    if (problem.empty() && plain.size() < bytes_of(t)) problem = "a weight of another size";
    if (!problem.empty()) value_error("'{}': {}", path, problem);
    std::memcpy(t.mutable_raw(), plain.data(), bytes_of(t));
    out.weights.emplace_back(p.node->name, t);
  }
  if (options.shapes.empty()) return out;
  std::vector<Shape> shapes;
  for (const ir::Type& t : with_shapes(out.inputs, types, options)) shapes.push_back(t.shape);
  out.graph = ir::specialize(*out.graph, shapes);
  return out;
}

std::unique_ptr<LiteModel> open_lite(const std::string& path, int threads) {
  std::string problem;
  auto file = LiteFile::open(path, true, problem);
  auto model = file ? LiteModel::open(file, threads, make_replanner, problem) : nullptr;
  if (!model) value_error("'{}': {}", path, problem);
  return model;
}

Tensors run_lite(LiteModel& model, std::span<const Tensor> inputs) {
  std::vector<std::vector<int64_t>> dims;
  std::vector<void*> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i < model.inputs().size() &&
        static_cast<DType>(model.inputs()[i].dtype) != inputs[i].dtype()) {
      value_error("input '{}' is {}; expected {}", model.inputs()[i].name, inputs[i].describe(),
                  name_of(static_cast<DType>(model.inputs()[i].dtype)));
    }
    dims.emplace_back(inputs[i].shape().begin(), inputs[i].shape().end());
    in.push_back(const_cast<void*>(inputs[i].raw()));
  }
  std::string problem = model.prepare(dims);
  if (!problem.empty()) value_error("Lite: {}", problem);
  Tensors results;
  for (const Port& p : model.outputs_now()) {
    results.push_back(Tensor::empty(static_cast<DType>(p.dtype), shape_of(p.dims)));
    out.push_back(results.back().mutable_raw());
  }
  problem = model.run(in, out);
  if (!problem.empty()) value_error("Lite: {}", problem);
  return results;
}

}  // namespace mycel::lite
