// LoopPlan: a while_loop made ready to run. Body and condition are one plan (the condition of the
// next iteration follows the body), run in two frames in turn: one reads the carried values from
// where the other wrote them. An iteration allocates nothing, looks nothing up and, for carried
// values of known shape, copies nothing; what the loop does not change is read where it lies.
#pragma once

#include <memory>
#include <vector>

#include "runtime/plan.h"

namespace mycel::runtime {

class LoopPlan {
 public:
  static std::shared_ptr<const LoopPlan> build(const ir::Graph& condition, const ir::Graph& body);
  // `carried` is given away: a stack that the caller alone holds grows in place.
  Tensors run(Tensors carried) const;
  const Plan& step() const { return *step_; }

 private:
  // How a carried value gets from one iteration to the next.
  enum class Carry : uint8_t {
    kInvariant,  // read from where it came
    kBuffer,     // written into one of two buffers
    kTensor,     // handed on: stacks, and tensors whose shape varies
  };

  static bool written_again(const Tensor& t, const Plan::Frame& f);
  bool keeps_on(const Tensors& carried) const;
  void prepare(Plan::Frame& a, Plan::Frame& b, Tensors& carried) const;
  // After an iteration in `from`: results that no kernel wrote go to their buffers, tensors to the
  // other frame.
  void hand_over(Plan::Frame& from, Plan::Frame& to) const;

  std::shared_ptr<const Plan> first_;  // the condition on the values that the loop starts with
  std::shared_ptr<const Plan> step_;   // carried -> next carried, condition on them
  std::vector<Carry> carry_;
  std::vector<size_t> copied_;  // results that hand_over copies into their buffers
  std::vector<size_t> handed_;  // results that hand_over gives to the other frame
};

}  // namespace mycel::runtime
