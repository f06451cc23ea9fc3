// A .lite file as a network that runs: its own plan, or, when inputs of other shapes come and the
// planner is linked, one made for those. Weights lie in the mapped file as kernels read them. All
// failures are texts: nothing here throws.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lite/runtime/file.h"
#include "lite/runtime/program.h"

namespace mycel::lite {

// Makes a plan for inputs of these shapes (lite/plan/replan.cc); a runtime without planner has
// none.
struct Replanned {
  std::string bytes;                // a finished file::Plan
  std::string problem;              // empty: good
  std::vector<std::string> values;  // of constants that are no weights, in order of `offset`
};
class Replanner {
 public:
  virtual ~Replanner() = default;
  virtual Replanned plan(const std::vector<Port>& inputs) = 0;
};
using ReplannerMaker = std::unique_ptr<Replanner> (*)(std::span<const std::byte> graph,
                                                      size_t weights, std::string& problem);

class LiteModel {
 public:
  static std::unique_ptr<LiteModel> open(std::shared_ptr<const LiteFile> file, int threads,
                                         ReplannerMaker replanner, std::string& problem);

  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  // Those of outputs() with the dims that the prepared inputs give.
  std::vector<Port> outputs_now() const;
  const LiteFile& file() const { return *file_; }
  // A weight in some order (packing.h), from the file or made and kept.
  std::string weight_form(int weight, uint8_t packing, int64_t groups,
                          std::span<const std::byte>& out);
  // Ports with every dim known, once shapes are: from the file, or from `prepare`.
  const Program* program() const { return now_; }
  // For inputs of these dims. Plans of the last shapes are kept.
  std::string prepare(const std::vector<std::vector<int64_t>>& dims);
  std::string run(std::span<void* const> inputs, std::span<void* const> outputs);

  // State: weights that a run changes. Results of the file's `state_outputs` are kept here and
  // given as `state_inputs` to the next run; neither appears among inputs() and outputs().
  struct State {
    size_t input, output;
    std::string name;
    std::vector<std::byte> now, next;
  };
  std::vector<State>& state() { return state_; }
  const Port& state_port(const State& s) const { return all_inputs_[s.input]; }

 private:
  LiteModel(std::shared_ptr<const LiteFile> file, int threads);
  std::string read();
  std::string resolve(const file::Plan& plan, const std::vector<std::string>& values,
                      std::vector<std::span<const std::byte>>& out);
  std::string read_state();

  struct Prepared {
    std::vector<std::vector<int64_t>> dims;
    Replanned made;
    Program program;
  };
  std::shared_ptr<const LiteFile> file_;
  Threads threads_;
  std::vector<Port> inputs_, outputs_, all_inputs_, all_outputs_;
  std::list<Prepared> prepared_;  // the last used first
  Program* now_ = nullptr;
  std::unique_ptr<Replanner> replanner_;
  std::map<std::pair<int, int>, std::vector<float>> forms_;
  std::vector<State> state_;
};

}  // namespace mycel::lite
