// A plan ready to run: every step's places and sizes are checked while it is loaded, so that
// running it checks only what depends on values. One arena, taken once; nothing is allocated by a
// run.
#pragma once

#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "lite/runtime/contractions.h"
#include "lite/runtime/extension.h"
#include "lite/runtime/lite_file_generated.h"
#include "lite/runtime/nest_program.h"

namespace mycel::lite {

struct Port {
  std::string name;
  uint8_t dtype = 0;
  std::vector<int64_t> dims;
  uint64_t bytes() const;  // of known dims
  bool known() const;
};
// Empty, or what is wrong with the table.
std::string read_port(const file::Port& p, Port& out);

class Program {
 public:
  Program();
  ~Program();
  // `constants`: where each constant of the plan lies, with its bytes.
  std::string load(const file::Plan& plan, std::vector<std::span<const std::byte>> constants);
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  size_t arena_bytes() const;
  size_t steps() const;
  size_t delegated() const;  // steps that a delegate took

  // Buffers as the ports say. Empty, or what went wrong. One call at a time.
  std::string run(std::span<void* const> inputs, std::span<void* const> outputs, Threads& threads);

  struct Step;
  struct Body;

 private:
  std::string load_body(const file::Body& table, Body& body, int depth);
  std::string load_step(const file::Step& table, const Body& body, Step& step, int depth);
  std::string run_body(Body& body, void* const* inputs, void* const* outputs, std::byte* arena,
                       Threads& threads);
  std::string run_step(Step& step, void* const* buffers, Threads& threads);
  std::string run_while(Step& step, void* const* buffers, Threads& threads);

  std::unique_ptr<Body> body_;
  std::vector<NestProgram> nests_;
  std::vector<std::span<const std::byte>> constants_;
  struct Free {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> arena_;
  std::vector<LaneMemory> memory_;
  size_t delegated_ = 0;
};

}  // namespace mycel::lite
