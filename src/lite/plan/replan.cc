#include "lite/plan/replan.h"

#include "base/error.h"
#include "ir/graph_file.h"
#include "ir/specialize.h"
#include "lite/plan/planner.h"

namespace mycel::lite {
namespace {

struct Nobody : RefCounted {};

class GraphReplanner : public Replanner {
 public:
  GraphReplanner(ir::GraphFile file, size_t weights) : file_(std::move(file)), weights_(weights) {}

  Replanned plan(const std::vector<Port>& inputs) override {
    Replanned out;
    try {
      std::vector<Shape> shapes;
      for (const Port& p : inputs) shapes.emplace_back(p.dims);
      auto graph = ir::specialize(*file_.graph, shapes);
      Planner planner(*graph, graph->params().size() - weights_);
      planner.plan();
      flatbuffers::FlatBufferBuilder to;
      ConstantOffsets constants;
      for (const ConstantUse& c : planner.constants()) {
        if (c.weight < 0) {
          const auto* p = static_cast<const char*>(c.value.raw());
          out.values.emplace_back(
              p, p + static_cast<size_t>(c.value.size()) * size_of(c.value.dtype()));
        }
        constants.push_back(file::CreateConstant(to, c.weight < 0 ? out.values.size() - 1 : 0, 0,
                                                 c.weight, static_cast<uint8_t>(c.packing),
                                                 static_cast<uint32_t>(c.groups)));
      }
      to.Finish(planner.write(to, constants));
      out.bytes.assign(reinterpret_cast<const char*>(to.GetBufferPointer()), to.GetSize());
    } catch (const std::exception& e) {
      out.problem = e.what();
    }
    return out;
  }

 private:
  ir::GraphFile file_;
  size_t weights_;
};

}  // namespace

std::unique_ptr<Replanner> make_replanner(std::span<const std::byte> graph, size_t weights,
                                          std::string& problem) {
  try {
    // Its constants stay where they are; the model keeps the file open as long as this lives.
    auto* begin = const_cast<std::byte*>(graph.data());
    ir::GraphFile file =
        ir::decode_graph_file({begin, graph.size()}, Ref<RefCounted>(make_ref<Nobody>()));
    if (file.graph->params().size() < weights) {
      problem = "the file is damaged: its graph takes fewer weights than there are";
      return nullptr;
    }
    return std::make_unique<GraphReplanner>(std::move(file), weights);
  } catch (const std::exception& e) {
    problem = e.what();
    return nullptr;
  }
}

}  // namespace mycel::lite
