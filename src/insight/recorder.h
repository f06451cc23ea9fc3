// Recorder: writes what a run measures to an event file that TensorBoard opens. Calls only put
// values into a queue; a thread of its own makes distributions and pictures, encodes, and gives
// everything to the system at least every half second, so that a killed process loses no more. Many
// recorders may write into one folder, each its own file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "insight/events/values.h"
#include "ir/graph.h"
#include "tensor/tensor.h"

namespace mycel::insight {

struct RecorderOptions {
  std::string prefix = "events", suffix;  // of the file's name
  uint64_t max_file_bytes = 0;            // at which recording ends, with a warning; 0: never
  double flush_seconds = 0.5;
  size_t queue_bytes = size_t{64} << 20;  // callers wait while more than this is queued
};

class Recorder {
 public:
  // Makes the folder and the file "<prefix>.out.tfevents.<time>.<host>.<process>.<number><suffix>".
  // UserError kOs when that fails.
  explicit Recorder(const std::string& folder, RecorderOptions options = {});
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();  // closes

  const std::string& path() const { return path_; }

  // Values by tag and step, from any thread. ValueError or TypeError for what a tensor cannot be;
  // RuntimeError after close. Traced tensors give their values.
  void scalar(const std::string& tag, double value, int64_t step);
  // Not-finite elements are left out and counted as the scalars "<tag>/nan" and "<tag>/inf".
  void histogram(const std::string& tag, const Tensor& values, int64_t step);
  void image(const std::string& tag, const Tensor& images, int64_t step);  // [n, c, h, w]
  void tensor(const std::string& tag, const Tensor& value, int64_t step);
  void text(const std::string& tag, const std::string& value, int64_t step);
  // A computation graph: for TensorBoard, and with everything that is known for our own page.
  void graph(const std::string& tag, const ir::Graph& graph);
  // The same, and what each pass of the compiler makes of it ("graph_passes/<tag>"): that is found
  // out by the recorder's own thread.
  void graph_and_passes(const std::string& tag, std::shared_ptr<const ir::Graph> graph);
  // What the run was made with, and whether it ended well.
  void hparams(const HParams& params);
  void ended(bool success);
  // JSON for our own pages: "environment", "dataset_graph/…", "lineage/…".
  void record(const std::string& tag, const std::string& json, int64_t step = 0);
  // The same now, every few seconds (2, later 10) while the run goes on, and at its end, unless
  // `json` gives an empty text; called on the recorder's thread, freed by that of the program.
  void watch(const std::string& tag, std::function<std::string()> json);

  // Waits until all of it is with the system, and says whether there was room for it: UserError kOs
  // with the first error of writing.
  void flush();
  // The same, and ends the file. Further calls do nothing.
  void close();
  // Whether recording has ended because of max_file_bytes.
  bool full() const;

 private:
  struct Writer;
  std::string path_;
  std::unique_ptr<Writer> writer_;
};

// Facts about this machine and process as JSON: host, processor, memory, versions, command.
std::string environment_json();
// A graph as JSON: nodes with op, name, operands, types, source line and regions.
std::string graph_json(const ir::Graph& graph);
// [{"name", "nodes", "ops": {op: count}, "graph"}…] of the passes that change something: the graph
// only of the last one, and of all where it is small.
std::string passes_json(const ir::Graph& graph);

}  // namespace mycel::insight
