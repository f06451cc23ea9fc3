#include "lite/plan/planner.h"

#include "lite/plan/nest_table.h"
#include "lite/plan/planner_state.h"

namespace mycel::lite {
namespace {

using flatbuffers::FlatBufferBuilder;
template <typename T>
using Offset = flatbuffers::Offset<T>;

Offset<file::Body> write_body(FlatBufferBuilder& to, const PlannedBody& b);

Offset<file::Step> write_step(FlatBufferBuilder& to, const PlannedStep& s) {
  std::vector<file::Place> places;
  for (const PlannedPlace& p : s.places) places.emplace_back(p.at, p.bytes, p.kind);
  std::vector<Offset<file::Body>> bodies;
  for (const PlannedBody& b : s.bodies) bodies.push_back(write_body(to, b));
  auto ports = [&](const ir::Types& types) {
    std::vector<Offset<file::Port>> list;
    for (const ir::Type& t : types) list.push_back(write_port(to, "", t));
    return list.empty() ? 0 : to.CreateVector(list);
  };
  const auto op = to.CreateSharedString(s.op);
  const auto source = s.source.empty() ? 0 : to.CreateSharedString(s.source);
  const auto attrs = s.attrs.empty() ? 0 : to.CreateSharedString(s.attrs);
  const auto in = ports(s.in_types), out = ports(s.out_types);
  const auto numbers = s.numbers.empty() ? 0 : to.CreateVector(s.numbers);
  const auto reals = s.reals.empty() ? 0 : to.CreateVector(s.reals);
  const auto list = bodies.empty() ? 0 : to.CreateVector(bodies);
  return file::CreateStep(to, s.kind, op, source, to.CreateVectorOfStructs(places), s.nest, numbers,
                          reals, list, attrs, in, out);
}

Offset<file::Body> write_body(FlatBufferBuilder& to, const PlannedBody& b) {
  std::vector<Offset<file::Port>> in, out;
  for (size_t i = 0; i < b.inputs.size(); ++i) {
    in.push_back(write_port(to, i < b.input_names.size() ? b.input_names[i] : "", b.inputs[i]));
  }
  for (size_t i = 0; i < b.outputs.size(); ++i) out.push_back(write_port(to, "", b.outputs[i]));
  std::vector<Offset<file::Step>> steps;
  for (const PlannedStep& s : b.steps) steps.push_back(write_step(to, s));
  return file::CreateBody(to, to.CreateVector(in), to.CreateVector(out), to.CreateVector(steps),
                          b.arena);
}

}  // namespace

flatbuffers::Offset<file::Port> write_port(flatbuffers::FlatBufferBuilder& to,
                                           const std::string& name, const ir::Type& type) {
  const std::vector<int64_t> dims(type.shape.begin(), type.shape.end());
  return file::CreatePort(to, name.empty() ? 0 : to.CreateString(name),
                          static_cast<uint8_t>(type.dtype), to.CreateVector(dims));
}

int Planner::State::constant_of(int weight, Packing packing, int64_t groups) {
  const auto key = std::make_pair(weight, static_cast<int>(packing));
  auto [it, added] = weight_forms.emplace(key, static_cast<int>(constants.size()));
  if (added) constants.push_back({weight, packing, groups, {}});
  return it->second;
}

int Planner::State::constant_of(const Tensor& value) {
  auto [it, added] = values.emplace(value.impl().get(), static_cast<int>(constants.size()));
  if (added) constants.push_back({-1, Packing::kPlain, 1, value});
  return it->second;
}

// Nests that do the same work on the same sizes are one program.
int Planner::State::nest_of(loops::Nest nest) {
  std::string key = nest.structure();
  auto note = [&](int64_t n) { key.append(reinterpret_cast<const char*>(&n), sizeof n); };
  for (int64_t n : nest.numbers()) note(n);
  for (const auto& s : nest.stages()) note(s.extent);
  for (const auto& b : nest.buffers()) note(b.scratch_elements);
  auto [it, added] = nest_keys.emplace(std::move(key), static_cast<int>(nests.size()));
  if (added) nests.push_back(std::move(nest));
  return it->second;
}

Planner::Planner(const ir::Graph& graph, size_t inputs, PartWriter write_part)
    : state_(new State{graph, inputs, write_part, {}, {}, {}, {}, {}, {}}) {}
Planner::~Planner() = default;

void Planner::plan() { state_->body = plan_body(*state_, state_->graph, state_->inputs, 0); }
const std::vector<ConstantUse>& Planner::constants() const { return state_->constants; }
size_t Planner::arena_bytes() const { return state_->body.arena; }

flatbuffers::Offset<file::Plan> Planner::write(flatbuffers::FlatBufferBuilder& to,
                                               const ConstantOffsets& constants) {
  std::vector<flatbuffers::Offset<file::Nest>> nests;
  for (const loops::Nest& n : state_->nests) nests.push_back(write_nest(to, n));
  const auto body = write_body(to, state_->body);
  return file::CreatePlan(to, body, to.CreateVector(nests), to.CreateVector(constants));
}

}  // namespace mycel::lite
