// The CPU kernel of every op that is a list of moves, and the views. A copy looks only at the size
// of an element, so one body of code serves all dtypes, without a compilation step.
#include "ops/shape/moves.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/function_kernel.h"
#include "backend/cpu/kernel.h"
#include "base/threads.h"
#include "ops/all_kernels.cpu.h"
#include "tensor/element.h"

namespace mycel::ops {
namespace {

using cpu::KernelDef;
using cpu::Prepared;
using cpu::Problem;

constexpr int64_t kBytesPerThread = 64 << 10;  // less is copied faster by one thread
constexpr int64_t kTile = 32;

// A move as one buffer-to-buffer job: `outer` dims, then a row, or a plane in which the source runs
// along `across` and the destination along the last dim.
struct Job {
  Move m;
  int across = -1;  // index of the dim with source stride 1 when the last one has another
  int64_t tasks = 0;
};

Job job_of(const Move& m) {
  Job j{m};
  int last = m.rank - 1;
  if (m.rank >= 2 && m.dst[last] == 1 && m.src[last] != 0 && m.src[last] != 1 &&
      m.src[last] != -1) {
    for (int d = 0; d < last; ++d) {
      if (m.src[d] == 1 && m.extent[d] >= 4) j.across = d;
    }
  }
  j.tasks = m.rows();
  if (j.across >= 0) {
    int64_t n = m.extent[j.across];
    j.tasks = j.tasks / n * ((n + kTile - 1) / kTile);
  }
  return j;
}

template <typename T>
void copy_row(const T* src, int64_t src_step, T* dst, int64_t dst_step, int64_t n) {
  if (dst_step == 1 && src_step == 1) {
    std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(T));
  } else if (dst_step == 1 && src_step == 0) {
    std::fill(dst, dst + n, *src);
  } else if (dst_step == 1 && src_step == -1) {
    std::reverse_copy(src - (n - 1), src + 1, dst);
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i * dst_step] = src[i * src_step];
  }
}

// Transposes a tile: `rows` rows of the destination, n long, each read with a stride. Square blocks
// of one cache line go through a buffer, so that every line of the source is read once even when
// the stride is a power of two and lines fall into the same cache set.
template <typename T>
void copy_tile(const T* src, int64_t row_src, T* dst, int64_t row_dst, int64_t rows, int64_t n) {
  constexpr int64_t kBlock = sizeof(T) >= 16 ? 4 : 64 / sizeof(T) > 16 ? 16 : 64 / sizeof(T);
  for (int64_t i0 = 0; i0 < n; i0 += kBlock) {
    for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
      const T* from = src + i0 * row_src + r0;
      T* to = dst + r0 * row_dst + i0;
      if (i0 + kBlock <= n && r0 + kBlock <= rows) {
        T block[kBlock][kBlock];
        for (int64_t i = 0; i < kBlock; ++i)
          std::memcpy(block[i], from + i * row_src, sizeof(block[i]));
        for (int64_t r = 0; r < kBlock; ++r) {
          for (int64_t i = 0; i < kBlock; ++i) to[r * row_dst + i] = block[i][r];
        }
        continue;
      }
      for (int64_t r = 0; r < std::min(kBlock, rows - r0); ++r) {
        for (int64_t i = 0; i < std::min(kBlock, n - i0); ++i)
          to[r * row_dst + i] = from[i * row_src + r];
      }
    }
  }
}

template <typename T>
void run_tasks(const Job& job, const T* src, T* dst, int64_t begin, int64_t end) {
  const Move& m = job.m;
  int last = m.rank - 1;
  src += m.src_offset;
  dst += m.dst_offset;
  for (int64_t task = begin; task < end; ++task) {
    int64_t rest = task, s = 0, t = 0, tile = 0;
    if (job.across >= 0) {
      int64_t tiles = (m.extent[job.across] + kTile - 1) / kTile;
      tile = rest % tiles * kTile;
      rest /= tiles;
    }
    for (int d = last - 1; d >= 0; --d) {
      if (d == job.across) continue;
      int64_t i = rest % m.extent[d];
      rest /= m.extent[d];
      s += i * m.src[d];
      t += i * m.dst[d];
    }
    if (job.across < 0) {
      copy_row(src + s, last < 0 ? 1 : m.src[last], dst + t, last < 0 ? 1 : m.dst[last], m.inner());
    } else {
      int64_t rows = std::min(kTile, m.extent[job.across] - tile);
      copy_tile(src + s + tile, m.src[last], dst + t + tile * m.dst[job.across], m.dst[job.across],
                rows, m.inner());
    }
  }
}

void run_job(const Job& job, size_t bytes, const void* src, void* dst) {
  int64_t volume = job.m.rows() * job.m.inner() * static_cast<int64_t>(bytes);
  int64_t grain = std::max<int64_t>(1, job.tasks * kBytesPerThread / std::max<int64_t>(1, volume));
  with_element_size(bytes, [&](auto like) {
    using T = decltype(like);
    parallel_for(job.tasks, grain, [&](int64_t begin, int64_t end) {
      run_tasks(job, static_cast<const T*>(src), static_cast<T*>(dst), begin, end);
    });
  });
}

// One element of any dtype, aligned.
using OneElement = std::array<uint64_t, 2>;
OneElement element_of(DType dtype, double value) {
  OneElement e{};
  set_element(e.data(), dtype, 0, value);
  return e;
}

// The operand that the first move copies whole to result 0, which may then lie in the same memory.
int alias_of(const MoveCtx& c) {
  if (c.moves.empty()) return -1;
  const Move& m = c.moves[0];
  bool whole = m.result == 0 && m.rank == 1 && m.extent[0] == c.out().size() && m.src[0] == 1 &&
               m.dst[0] == 1 && m.src_offset == 0 && m.dst_offset == 0;
  return whole ? m.operand : -1;
}

std::unique_ptr<Prepared> prepare(const Problem& p, MoveRule rule) {
  MoveCtx c(p.op, p.in, p.out, p.attrs);
  rule(c);
  int alias = alias_of(c);
  std::vector<Job> jobs;
  for (const Move& m : simplified(c.moves)) jobs.push_back(job_of(m));
  DType dtype = p.out[0].dtype;
  size_t bytes = size_of(dtype);
  OneElement constant = element_of(dtype, c.constant);
  int inputs = c.inputs();
  return cpu::prepared_by(
      "copy",
      [jobs = std::move(jobs), constant, bytes, inputs](void* const* b) {
        for (const Job& j : jobs) {
          const void* src = j.m.operand == kFromConstant ? constant.data() : b[j.m.operand];
          void* dst = b[inputs + j.m.result];
          if (src != dst) run_job(j, bytes, src, dst);
        }
      },
      alias);
}

template <MoveRule rule>
constexpr KernelDef copies(const char* op) {
  return {op, "copy", nullptr, [](const Problem& p) { return prepare(p, rule); }};
}

Tensors view_of(const Problem& p, std::span<const Tensor> in) {
  return {in[0].view(p.out[0].shape)};
}
constexpr KernelDef view(const char* op) { return {op, "view", nullptr, nullptr, view_of}; }

double fill_value(const Problem& p) {
  std::string_view op = p.op.name;
  if (op == "zeros_like") return 0;
  if (op == "ones_like") return 1;
  return p.view().real(op == "full_like" ? "fill_value" : "value");
}

std::unique_ptr<Prepared> prepare_fill(const Problem& p) {
  DType dtype = p.out[0].dtype;
  OneElement element = element_of(dtype, fill_value(p));
  Move whole;
  whole.dim(p.out[0].shape.size(), 0, 1);
  std::vector<Job> jobs;
  for (const Move& m : simplified({whole})) jobs.push_back(job_of(m));
  return cpu::prepared_by("fill", [jobs = std::move(jobs), element, bytes = size_of(dtype),
                                   at = p.in.size()](void* const* b) {
    for (const Job& j : jobs) run_job(j, bytes, element.data(), b[at]);
  });
}
constexpr KernelDef fill(const char* op) { return {op, "fill", nullptr, prepare_fill}; }

Tensors give_constant(const Problem& p, std::span<const Tensor>) {
  return {p.view()["value"].tensor()};
}

constexpr KernelDef kKernels[] = {
    {"constant", "constant", nullptr, nullptr, give_constant},
    fill("fill_constant"),
    fill("zeros_like"),
    fill("ones_like"),
    fill("full_like"),
    view("reshape"),
    view("reshape_like"),
    view("expand_dims"),
    view("squeeze"),
    view("collapse_dims"),
    copies<transpose_moves>("transpose"),
    copies<broadcast_moves>("broadcast_to"),
    copies<broadcast_moves>("broadcast_like"),
    copies<tile_moves>("tile"),
    copies<repeat_moves>("repeat_elements"),
    copies<flip_moves>("flip"),
    copies<roll_moves>("roll_axes"),
    copies<depth_to_space_moves>("depth_to_space"),
    copies<space_to_depth_moves>("space_to_depth"),
    copies<concat_moves>("concat"),
    copies<split_moves>("concat_grad"),
    copies<split_moves>("split_equal"),
    copies<split_v_moves>("split_v"),
    copies<slice_moves>("basic_slice"),
    copies<slice_update_moves>("slice_update"),
    copies<pad_moves>("pad_nd"),
    copies<diagonal_moves>("diagonal"),
    copies<diagonal_update_moves>("diagonal_update"),
};

}  // namespace

void register_shape_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
