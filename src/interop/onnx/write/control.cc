// cond and while_loop: their regions become graphs that see the names around them.
#include "interop/onnx/tensors.h"
#include "interop/onnx/writing.h"

namespace mycel::interop::onnx {

void write_region_type(pb::ValueInfo& info, const std::string& name, const ir::Type& t);

namespace {

// The region with its parameters called as the operands of the op are.
void write_body(const ir::Graph& region, const std::vector<std::string>& params,
                GraphWriter& body) {
  for (size_t i = 0; i < params.size(); ++i) body.set(region.params()[i], params[i]);
  std::vector<std::string> results = body.write(region);
  for (size_t i = 0; i < results.size(); ++i)
    write_region_type(*body.graph.add_output(), results[i], region.results()[i].type());
}

void write_if(Writing& w) {
  pb::Graph graphs[2];
  std::vector<std::string> operands;
  for (int i = 1; i < w.inputs(); ++i) operands.push_back(w.in(i));
  const char* names[] = {"then", "otherwise"};
  for (int k : {0, 1}) {
    graphs[k].set_name(names[k]);
    GraphWriter body(graphs[k], &w.out);
    write_body(*w.attrs[names[k]].graph(), operands, body);
  }
  std::vector<std::string> r =
      w.emit_many("If", {w.in(0)}, static_cast<int>(w.node.types.size()),
                  {{"then_branch", &graphs[0]}, {"else_branch", &graphs[1]}});
  for (size_t i = 0; i < r.size(); ++i) w.result(r[i], static_cast<int>(i));
}

// Loop asks whether it goes on before the first iteration and after each: the condition is written
// in front of it and at the end of its body.
void write_loop(Writing& w) {
  const ir::Graph &condition = *w.attrs["condition"].graph(), &step = *w.attrs["body"].graph();
  std::vector<std::string> operands;
  for (int i = 0; i < w.inputs(); ++i) operands.push_back(w.in(i));
  for (size_t i = 0; i < operands.size(); ++i) w.out.set(condition.params()[i], operands[i]);
  std::string first = w.out.write(condition)[0];
  pb::Graph graph;
  graph.set_name("body");
  GraphWriter body(graph, &w.out);
  std::string count = body.fresh(), go = body.fresh();
  write_region_type(*graph.add_input(), count, ir::Type(DType::kInt64, Shape()));
  write_region_type(*graph.add_input(), go, ir::Type(DType::kBool, Shape()));
  std::vector<std::string> params;
  for (size_t i = 0; i < operands.size(); ++i) {
    params.push_back(body.fresh());
    write_region_type(*graph.add_input(), params.back(), step.params()[i].type());
    body.set(step.params()[i], params.back());
  }
  std::vector<std::string> next = body.write(step);
  for (size_t i = 0; i < next.size(); ++i) body.set(condition.params()[i], next[i]);
  std::string again = body.write(condition)[0];
  write_region_type(*graph.add_output(), again, ir::Type(DType::kBool, Shape()));
  for (size_t i = 0; i < next.size(); ++i)
    write_region_type(*graph.add_output(), next[i], step.results()[i].type());
  std::vector<std::string> in{"", first};
  in.insert(in.end(), operands.begin(), operands.end());
  std::vector<std::string> r =
      w.emit_many("Loop", in, static_cast<int>(w.node.types.size()), {{"body", &graph}});
  for (size_t i = 0; i < r.size(); ++i) w.result(r[i], static_cast<int>(i));
}

constexpr Writer kWriters[] = {{"If", write_if}, {"Loop", write_loop}};

}  // namespace

Writers control_writers() { return kWriters; }

}  // namespace mycel::interop::onnx
