#include "backend/cpu/onednn/program.h"

#include "base/error.h"
#include "tensor/storage.h"

namespace mycel::cpu::onednn {

const dnnl::engine& engine() {
  // Never destroyed: kernels may run in other threads until the process ends.
  static const auto* e = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *e;
}

namespace {
dnnl_stream_t stream() {
  thread_local dnnl::stream s(engine());
  return s.get();
}
}  // namespace

dnnl::memory::data_type data_type_of(DType t) {
  using dt = dnnl::memory::data_type;
  switch (t) {
    case DType::kFloat32:
      return dt::f32;
    case DType::kBFloat16:
      return dt::bf16;
    case DType::kFloat16:
      return dt::f16;
    default:
      return dt::undef;
  }
}

dnnl::memory::data_type stored_type_of(DType t) {
  using dt = dnnl::memory::data_type;
  switch (t) {
    case DType::kInt8:
      return dt::s8;
    case DType::kUInt8:
      return dt::u8;
    case DType::kInt32:
      return dt::s32;
    default:
      return data_type_of(t);
  }
}

struct Program::Frame {
  std::vector<dnnl::memory> memories;
  std::vector<std::vector<dnnl_exec_arg_t>> args;  // one list per step
};

Program::Program() = default;
Program::~Program() = default;

size_t Program::reserve(size_t bytes) {
  size_t offset = block_bytes_;
  block_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return offset;
}

int Program::operand(const Md& md, int buffer) {
  slots_.push_back({md, buffer, 0});
  return static_cast<int>(slots_.size() - 1);
}

int Program::temporary(const Md& md) {
  slots_.push_back({md, -1, reserve(md.get_size())});
  return static_cast<int>(slots_.size() - 1);
}

int Program::constant(int32_t value) {
  const Md md({1}, dnnl::memory::data_type::s32, dnnl::memory::format_tag::a);
  slots_.push_back({md, -2, constants_.size()});
  constants_.push_back(value);
  return static_cast<int>(slots_.size() - 1);
}

int Program::reordered(int slot, const Md& want) {
  if (slots_[slot].md == want) return slot;
  int to = temporary(want);
  finish(slot, to);
  return to;
}

int Program::target(int slot, const Md& have) {
  return slots_[slot].md == have ? slot : temporary(have);
}

void Program::finish(int from, int to) {
  if (from == to) return;
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::reorder::primitive_desc pd(engine(), slots_[from].md, engine(), slots_[to].md, attr);
  add(dnnl::reorder(pd), pd, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

void Program::add(const dnnl::primitive& primitive, const dnnl::primitive_desc_base& pd,
                  std::vector<std::pair<int, int>> args) {
  Md scratch = pd.query_md(dnnl::query::exec_arg_md, DNNL_ARG_SCRATCHPAD);
  if (scratch.get_size() > 0) args.emplace_back(DNNL_ARG_SCRATCHPAD, temporary(scratch));
  steps_.push_back({primitive, std::move(args)});
}

std::unique_ptr<Program::Frame> Program::make_frame() const {
  auto f = std::make_unique<Frame>();
  for (const Slot& s : slots_)
    f->memories.push_back(dnnl::memory(s.md, engine(), DNNL_MEMORY_NONE));
  for (const Step& step : steps_) {
    std::vector<dnnl_exec_arg_t>& list = f->args.emplace_back();
    for (auto [arg, slot] : step.args) list.push_back({arg, f->memories[slot].get()});
  }
  return f;
}

void Program::run(void* const* buffers) const {
  std::unique_ptr<Frame> frame;
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      frame = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!frame) frame = make_frame();
  Ref<Storage> block;
  if (block_bytes_ > 0) block = Storage::allocate(block_bytes_);
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& s = slots_[i];
    void* at = s.buffer >= 0    ? buffers[s.buffer]
               : s.buffer == -1 ? static_cast<void*>(static_cast<char*>(block->data()) + s.offset)
                                : const_cast<int32_t*>(&constants_[s.offset]);
    dnnl_memory_set_data_handle(frame->memories[i].get(), at);
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    dnnl_status_t status =
        dnnl_primitive_execute(steps_[i].primitive.get(), stream(),
                               static_cast<int>(frame->args[i].size()), frame->args[i].data());
    MYCEL_CHECK(status == dnnl_success, "oneDNN {} failed with status {}", implementation_,
                static_cast<int>(status));
  }
  dnnl_stream_wait(stream());
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(frame));
}

}  // namespace mycel::cpu::onednn
