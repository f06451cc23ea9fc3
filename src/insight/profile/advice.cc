#include "insight/profile/advice.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/memory_limit.h"

namespace mycel::insight::profile {
namespace {

using timeline::Kind;
using timeline::What;

// What the rules look at; times as shares of the steps behind the first, or of the whole recording.
struct Facts {
  const Profile& p;
  const Analysis& a;
  StepRow step;     // the typical one
  double wall = 1;  // ns
  double part(Part which) const {
    return step.length > 0 ? static_cast<double>(step.parts[static_cast<size_t>(which)]) /
                                 static_cast<double>(step.length)
                           : 0;
  }
  double share(int64_t ns) const { return static_cast<double>(ns) / wall; }
  const What& what(const Row& r) const { return p.recording.whats[r.what]; }
  bool computes(const Row& r) const {
    return what(r).kind == Kind::kKernel || what(r).kind == Kind::kEager;
  }
};

using Found = std::optional<Advice>;

double percent(double share) { return 100 * share; }
std::string cut(const std::string& s, size_t most = 60) {
  return s.size() <= most ? s : s.substr(0, most - 3) + "...";
}

// Above 20 % of a step on rows.
Found input_bound(const Facts& f) {
  const double share = f.part(Part::kData);
  if (share <= 0.2) return {};
  std::string slowest, name;
  const DataRow* most = nullptr;
  for (const DataRow& d : f.a.data) {
    if (d.name != "next row" && (!most || d.own_ns > most->own_ns)) most = &d;
  }
  if (most) name = cut(most->name);
  return Advice{
      "", share,
      fmt::format("Steps wait for data {:.0f} % of their time{}. Make rows on more threads "
                  "(num_parallel_workers), batch before you transform, or make the slowest "
                  "transform cheaper.",
                  percent(share), most ? fmt::format("; {} takes most of it", name) : ""),
      fmt::format("每步有 {:.0f} % 的时间在等待数据{}。请增加读取线程 (num_parallel_workers),"
                  "先组成批次再做变换,或简化最慢的变换。",
                  percent(share), most ? fmt::format(",其中 {} 耗时最多", name) : "")};
}

// Kernels that read and write at more than half of the memory's speed take more than 30 %.
Found memory_bound(const Facts& f) {
  int64_t ns = 0;
  const Row* most = nullptr;
  for (const Row& r : f.a.rows) {
    if (!f.computes(r) || !r.by_memory || r.share_of_limit <= 0.5) continue;
    ns += r.ns;
    if (!most) most = &r;
  }
  if (f.share(ns) <= 0.3 || !most) return {};
  const std::string name = cut(f.what(*most).name);
  return Advice{
      "", f.share(ns),
      fmt::format("Kernels that move data as fast as the memory can take {:.0f} % of the time, {} "
                  "first. Faster arithmetic will not help: halve the bytes (16-bit floats, "
                  "amp_level=\"O2\"), or let more of them be fused (compile more in one function).",
                  percent(f.share(ns)), name),
      fmt::format("受内存带宽限制的算子占 {:.0f} % 的时间,最多的是 {}。提高算力没有帮助:"
                  "请减少字节数 (16 位浮点,amp_level=\"O2\"),或让更多算子融合 (编译更大的函数)。",
                  percent(f.share(ns)), name)};
}

// Kernels below 20 microseconds, and what lies between kernels, take more than 40 %.
Found overhead_bound(const Facts& f) {
  int64_t ns = 0, runs = 0, eager = 0, compiled = 0;
  for (const Row& r : f.a.rows) {
    const What& w = f.what(r);
    if (w.kind == Kind::kProgram) ns += r.ns;
    if (!f.computes(r)) continue;
    (w.kind == Kind::kEager ? eager : compiled) += r.runs;
    if (r.ns / std::max<int64_t>(r.runs, 1) < 20'000) {
      ns += r.ns;
      runs += r.runs;
    }
  }
  if (runs < 100) return {};
  ns += f.a.unattributed;
  if (f.share(ns) <= 0.4) return {};
  const bool is_eager = eager > compiled;
  return Advice{
      "", f.share(ns),
      fmt::format("{} runs of ops shorter than 20 us, and what lies between them, take {:.0f} % of "
                  "the time. {}",
                  runs, percent(f.share(ns)),
                  is_eager ? "Compile the step: set_context(mode=GRAPH_MODE) or @jit."
                           : "Use larger batches, or several steps in one call "
                             "(dataset_sink_mode=True)."),
      fmt::format("短于 20 us 的算子 ({} 次) 及其间隙占 {:.0f} % 的时间。{}", runs,
                  percent(f.share(ns)),
                  is_eager ? "请编译训练步骤: set_context(mode=GRAPH_MODE) 或 @jit。"
                           : "请增大批次,或在一次调用中运行多步 (dataset_sink_mode=True)。")};
}

// One kernel takes more than 25 % and reaches less than a quarter of what the machine can do.
Found slow_kernel(const Facts& f) {
  for (const Row& r : f.a.rows) {
    if (!f.computes(r) || f.share(r.ns) <= 0.25) continue;
    if (r.share_of_limit <= 0 || r.share_of_limit >= 0.25) continue;
    const What& w = f.what(r);
    const std::string at = w.where.empty() ? "" : fmt::format(" ({})", w.where);
    return Advice{
        "", f.share(r.ns),
        fmt::format("{} [{}]{} takes {:.0f} % of the time at {:.0f} % of what the machine can do. "
                    "Try other sizes (multiples of 16 channels), another layout, or an op that "
                    "says the same in one piece.",
                    cut(w.name), w.implementation, at, percent(f.share(r.ns)),
                    percent(r.share_of_limit)),
        fmt::format("{} [{}]{} 占 {:.0f} % 的时间,仅达到机器上限的 {:.0f} %。请尝试其他尺寸 "
                    "(16 的倍数通道)、其他布局,或使用等价的单个算子。",
                    cut(w.name), w.implementation, at, percent(f.share(r.ns)),
                    percent(r.share_of_limit))};
  }
  return {};
}

// The slowest thread of parallel loops works more than 10 % of the time longer than the mean one.
Found imbalance(const Facts& f) {
  const double share = f.share(f.a.imbalance_ns);
  if (share <= 0.1) return {};
  return Advice{
      "", share,
      fmt::format("Threads wait for the slowest of them {:.0f} % of the time. Other programs may "
                  "hold the cores: give this one fewer threads (MYCEL_NUM_THREADS), or sizes that "
                  "divide evenly.",
                  percent(share)),
      fmt::format("线程有 {:.0f} % 的时间在等待最慢的线程。可能有其他程序占用了核心:"
                  "请减少线程数 (MYCEL_NUM_THREADS),或使用能均匀划分的尺寸。",
                  percent(share))};
}

// Programs are compiled after the first step, twice or more, for more than 5 % of the time.
Found recompiles(const Facts& f) {
  const double share = f.share(f.a.late_compile_ns);
  if (f.a.late_compiles < 2 || share <= 0.05) return {};
  return Advice{
      "", share,
      fmt::format(
          "{} programs were compiled after the first step, {:.0f} % of the time. "
          "MYCEL_LOG=compile says why; shapes that change are padded (drop_remainder=True), "
          "Python numbers that change become tensors.",
          f.a.late_compiles, percent(share)),
      fmt::format(
          "第一步之后又编译了 {} 个程序,占 {:.0f} % 的时间。MYCEL_LOG=compile "
          "会给出原因;请填充变化的形状 (drop_remainder=True),把变化的 Python 数值改为张量。",
          f.a.late_compiles, percent(share))};
}

// The peak is above 85 % of what the process may take.
Found memory_near_limit(const Facts& f) {
  const Memory& m = f.a.memory;
  if (!m.recorded || f.p.machine.memory <= 0) return {};
  const double share = static_cast<double>(m.peak) / static_cast<double>(f.p.machine.memory);
  if (share <= 0.85) return {};
  const std::string most = m.alive.empty() ? "" : cut(m.alive[0].name);
  const std::string peak = human_bytes(static_cast<double>(m.peak));
  return Advice{"", 0.5,
                fmt::format("Tensors took {} at the peak, {:.0f} % of the memory; {} most. Smaller "
                            "batches, 16-bit floats or recomputation make room.",
                            peak, percent(share), most),
                fmt::format("张量峰值占用 {},为内存的 {:.0f} %,其中 {} 最多。"
                            "请减小批次、使用 16 位浮点或重计算。",
                            peak, percent(share), most)};
}

// Products in float32 near what the machine can do (40 % and more of it) take more than 40 %, on a
// processor that is faster in bfloat16, and nothing runs in it.
Found mixed_precision(const Facts& f) {
  if (!f.p.machine.bfloat16) return {};
  int64_t ns = 0;
  for (const Row& r : f.a.rows) {
    const What& w = f.what(r);
    if (!f.computes(r)) continue;
    if (w.types.find("bfloat16") != w.types.npos && r.gflops > 0) return {};
    if (w.types.find("float32") != w.types.npos && !r.by_memory && r.share_of_limit >= 0.4)
      ns += r.ns;
  }
  const double share = f.share(ns);
  if (share <= 0.4) return {};
  return Advice{"", share / 2,
                fmt::format("Arithmetic in float32 near the machine's limit takes {:.0f} % of the "
                            "time, and this processor is about twice as fast in bfloat16: try "
                            "amp_level=\"O2\".",
                            percent(share)),
                fmt::format("接近机器上限的 float32 运算占 {:.0f} % 的时间,"
                            "而此处理器的 bfloat16 约快一倍:请尝试 amp_level=\"O2\"。",
                            percent(share))};
}

// Above 15 % of a step in nothing that is recorded: the host program.
Found host_gap(const Facts& f) {
  const double share = f.part(Part::kOther);
  if (share <= 0.15) return {};
  return Advice{
      "", share,
      fmt::format("{:.0f} % of a step runs outside of ops: in Python, most likely. Move the loop "
                  "into Model.train with dataset_sink_mode=True, or do less in each step.",
                  percent(share)),
      fmt::format("每步有 {:.0f} % 的时间不在算子中,多半在 Python 里。请使用 Model.train 的 "
                  "dataset_sink_mode=True,或减少每步的工作。",
                  percent(share))};
}

// Callbacks take more than 10 % of a step.
Found callbacks(const Facts& f) {
  const double share = f.part(Part::kCallbacks);
  if (share <= 0.1) return {};
  return Advice{"", share,
                fmt::format("Callbacks take {:.0f} % of a step. Let them run less often "
                            "(collect_freq, per_print_times).",
                            percent(share)),
                fmt::format("回调占每步 {:.0f} % 的时间。请降低其频率 (collect_freq, "
                            "per_print_times)。",
                            percent(share))};
}

// One thread on a machine with more cores.
Found one_thread(const Facts& f) {
  if (f.p.machine.threads > 1 || f.p.machine.cores < 2) return {};
  return Advice{"", 0.3,
                fmt::format("One thread runs on a machine of {} cores: see MYCEL_NUM_THREADS and "
                            "OMP_NUM_THREADS.",
                            f.p.machine.cores),
                fmt::format("机器有 {} 个核心,却只用一个线程:请检查 MYCEL_NUM_THREADS 与 "
                            "OMP_NUM_THREADS。",
                            f.p.machine.cores)};
}

// Slices had no room.
Found incomplete(const Facts& f) {
  const int64_t dropped = f.p.recording.dropped();
  if (dropped == 0) return {};
  return Advice{
      "", 1,
      fmt::format("{} slices had no room: times are too low. Record fewer steps, or raise "
                  "timeline_limit.",
                  dropped),
      fmt::format("{} 个片段没有空间,时间偏低。请记录更少的步,或提高 timeline_limit。", dropped)};
}

struct Rule {
  const char* name;
  Found (*look)(const Facts&);
};
constexpr Rule kRules[] = {
    {"incomplete", incomplete},
    {"input_bound", input_bound},
    {"memory_bound", memory_bound},
    {"overhead_bound", overhead_bound},
    {"slow_kernel", slow_kernel},
    {"imbalance", imbalance},
    {"recompiles", recompiles},
    {"memory_near_limit", memory_near_limit},
    {"mixed_precision", mixed_precision},
    {"host_gap", host_gap},
    {"callbacks", callbacks},
    {"one_thread", one_thread},
};

}  // namespace

std::vector<Advice> advice_of(const Profile& p, const Analysis& a) {
  Facts f{p, a, a.typical(), static_cast<double>(std::max<int64_t>(a.wall, 1))};
  std::vector<Advice> out;
  for (const Rule& rule : kRules) {
    if (Found found = rule.look(f)) {
      found->rule = rule.name;
      out.push_back(std::move(*found));
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Advice& x, const Advice& y) { return x.share > y.share; });
  if (!out.empty()) return out;
  const Row* most = nullptr;
  for (const Row& r : a.rows) {
    if (!most && f.computes(r)) most = &r;
  }
  const std::string name = most ? cut(f.what(*most).name) : "-";
  return {{"balanced", 0, fmt::format("Nothing stands out. The most time goes to {}.", name),
           fmt::format("没有明显的瓶颈。耗时最多的是 {}。", name)}};
}

}  // namespace mycel::insight::profile
