#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "base/error.h"
#include "insight/profile/advice.h"
#include "insight/profile/export.h"
#include "insight/profile/made_up.h"

namespace mycel::insight::profile {
namespace {

using made_up::Kind;
using made_up::Maker;
using timeline::Phase;

// Two steps of 100 us: 20 of data, a program of 60 with kernels of 30 (forward), 10 (backward) and
// 5 (update).
Maker two_steps() {
  Maker m;
  const auto row = m.what(Kind::kData, "next row"), wait = m.what(Kind::kWait, "no row is ready"),
             program = m.what(Kind::kProgram, "train_step"),
             conv = m.what(Kind::kKernel, "conv2d", 1'200'000, 30'000, "float32[8]"),
             relu = m.what(Kind::kKernel, "relu_grad", -1, 80'000, "float32[8]", Phase::kBackward),
             sgd = m.what(Kind::kKernel, "sgd", -1, 1'000, "", Phase::kUpdate);
  made_up::steps(m, 2, 100, [&](int64_t at, int) {
    m.slice(wait, at + 5, 10);
    m.slice(row, at, 20);
    m.slice(conv, at + 22, 30);
    m.slice(relu, at + 55, 10);
    m.slice(sgd, at + 70, 5);
    m.slice(program, at + 20, 60);
  });
  return m;
}

int64_t part(const StepRow& s, Part p) { return s.parts[static_cast<size_t>(p)] / 1000; }

TEST(Profile, EveryMomentBelongsToOneRow) {
  const Analysis a = analyse(two_steps().p);
  ASSERT_EQ(a.steps.size(), 2u);
  EXPECT_FALSE(a.steps_guessed);
  const StepRow& s = a.steps[1];
  EXPECT_EQ(s.number, 2);
  EXPECT_EQ(part(s, Part::kData), 20);
  EXPECT_EQ(part(s, Part::kForward), 30);
  EXPECT_EQ(part(s, Part::kBackward), 10);
  EXPECT_EQ(part(s, Part::kUpdate), 5);
  EXPECT_EQ(part(s, Part::kHost), 15);
  EXPECT_EQ(part(s, Part::kOther), 20);
  int64_t sum = a.unattributed;
  for (const Row& r : a.rows) sum += r.ns;
  EXPECT_EQ(sum, a.wall);
  EXPECT_EQ(a.unattributed, 40'000);
  ASSERT_FALSE(a.rows.empty());
  EXPECT_EQ(a.rows[0].ns, 60'000);  // conv2d: 1.2 MFLOP in 30 us are 40 GFLOP/s of 100
  EXPECT_DOUBLE_EQ(a.rows[0].gflops, 40);
  EXPECT_DOUBLE_EQ(a.rows[0].share_of_limit, 0.4);
  EXPECT_FALSE(a.rows[0].by_memory);
}

TEST(Profile, StepsAreGuessedFromPrograms) {
  Maker m;
  const auto program = m.what(Kind::kProgram, "net"), small = m.what(Kind::kProgram, "other");
  for (int i = 0; i < 4; ++i) {
    m.slice(small, 100 * i, 5);
    m.slice(program, 100 * i + 10, 80);
  }
  const Analysis a = analyse(m.p);
  EXPECT_TRUE(a.steps_guessed);
  ASSERT_EQ(a.steps.size(), 4u);
  EXPECT_EQ(a.steps[1].start, 90'000);
  EXPECT_EQ(a.steps[1].length, 100'000);
  EXPECT_EQ(part(a.steps[1], Part::kHost), 85);
}

TEST(Profile, MemoryAtThePeakByOp) {
  Maker m;
  const auto a = m.what(Kind::kEager, "a"), b = m.what(Kind::kEager, "b"),
             inside = m.what(Kind::kKernel, "inside"), arena = m.what(Kind::kArena, "net");
  m.p.recording.whats[arena].lives = {{inside, 300, 0, 1}, {inside, 100, 1, 2}, {a, 350, 2, 3}};
  m.p.recording.memory_before = 50;
  m.slice(a, 0, 100);
  m.memory(a, 1, 0x10, 1000);
  m.memory(b, 2, 0x20, 500);
  m.memory(a, 3, 0x10, -1000);
  m.memory(0, 4, 0x99, -20);  // from before
  m.memory(arena, 5, 0x10, 600);
  m.memory(b, 6, 0x30, 700);
  m.memory(b, 7, 0x20, -500);
  const Memory found = analyse(m.p).memory;
  EXPECT_TRUE(found.recorded);
  EXPECT_EQ(found.peak, 50 + 500 - 20 + 600 + 700);
  EXPECT_EQ(found.peak_when, 6000);
  ASSERT_EQ(found.alive.size(), 5u);
  EXPECT_EQ(found.alive[0].name, "b");
  EXPECT_EQ(found.alive[0].bytes, 1200);
  EXPECT_EQ(found.alive[0].blocks, 2);
  int64_t sum = 0;
  for (const AliveRow& r : found.alive) sum += r.bytes;
  EXPECT_EQ(sum, found.peak);
  // The fullest step of the arena is the second alternative: a with 350 and 100 more.
  bool seen = false;
  for (const AliveRow& r : found.alive) seen |= r.name == "a" && r.bytes == 350;
  EXPECT_TRUE(seen);
}

std::vector<std::string> rules(const Maker& m) {
  std::vector<std::string> out;
  for (const Advice& a : advice_of(m.p, analyse(m.p))) {
    EXPECT_FALSE(a.text.empty());
    EXPECT_FALSE(a.chinese.empty());
    out.push_back(a.rule);
  }
  return out;
}
using Rules = std::vector<std::string>;

TEST(ProfileAdvice, InputBound) {
  for (int64_t waited : {15, 25}) {  // the threshold is 20 %
    Maker m;
    const auto wait = m.what(Kind::kWait, "no row is ready"),
               kernel = m.what(Kind::kKernel, "k", 100);
    made_up::steps(m, 3, 1000, [&](int64_t at, int) {
      m.slice(wait, at, waited * 10);
      m.slice(kernel, at + waited * 10, 1000 - waited * 10);
    });
    m.p.machine.limits = {};
    EXPECT_EQ(rules(m), waited > 20 ? Rules{"input_bound"} : Rules{"balanced"});
  }
}

TEST(ProfileAdvice, MemoryBoundKernels) {
  for (int64_t bytes : {40'000, 60'000}) {  // of 100,000 in 10 us: 50 % is the threshold
    Maker m;
    const auto kernel = m.what(Kind::kKernel, "add", 10, bytes * 100);
    made_up::steps(m, 3, 1000, [&](int64_t at, int) { m.slice(kernel, at, 1000); });
    EXPECT_EQ(rules(m), bytes > 50'000 ? Rules{"memory_bound"} : Rules{"balanced"});
  }
}

TEST(ProfileAdvice, SmallOps) {
  for (int64_t length : {3, 25}) {  // microseconds; 20 is the threshold
    for (Kind kind : {Kind::kEager, Kind::kKernel}) {
      Maker m;
      m.p.machine.limits = {};
      const auto op = m.what(kind, "add", 1, 4);
      made_up::steps(m, 3, 100 * length, [&](int64_t at, int) {
        for (int i = 0; i < 100; ++i) m.slice(op, at + i * length, length);
      });
      EXPECT_EQ(rules(m), length < 20 ? Rules{"overhead_bound"} : Rules{"balanced"});
      const std::string text = advice_of(m.p, analyse(m.p))[0].text;
      if (length < 20) EXPECT_EQ(text.find("GRAPH_MODE") != text.npos, kind == Kind::kEager);
    }
  }
}

TEST(ProfileAdvice, OneSlowKernel) {
  for (double reached : {0.1, 0.3}) {  // a quarter is the threshold
    Maker m;
    const auto slow = m.what(Kind::kKernel, "conv2d", static_cast<int64_t>(reached * 1e8), 100);
    made_up::steps(m, 3, 1000, [&](int64_t at, int) { m.slice(slow, at, 1000); });
    EXPECT_EQ(rules(m), reached < 0.25 ? Rules{"slow_kernel"} : Rules{"balanced"});
    const std::string text = advice_of(m.p, analyse(m.p))[0].text;
    if (reached < 0.25) EXPECT_NE(text.find("net.py:7"), text.npos);
  }
}

TEST(ProfileAdvice, ThreadsOutOfBalance) {
  for (int64_t other : {900, 500}) {
    Maker m;
    m.p.machine.limits = {};
    const auto kernel = m.what(Kind::kKernel, "k", 100),
               share = m.what(Kind::kShare, "share of a parallel loop");
    made_up::steps(m, 3, 1000, [&](int64_t at, int i) {
      m.slice(share, at, 1000, static_cast<uint32_t>(i));
      m.slice(kernel, at, 1000);
    });
    m.thread("other");
    for (int i = 0; i < 3; ++i) m.slice(share, 1000 * i, other, static_cast<uint32_t>(i));
    EXPECT_EQ(rules(m), other == 500 ? Rules{"imbalance"} : Rules{"balanced"});
  }
}

TEST(ProfileAdvice, LateCompilation) {
  for (int often : {1, 3}) {  // twice is the threshold, the first step does not count
    Maker m;
    m.p.machine.limits = {};
    const auto kernel = m.what(Kind::kKernel, "k", 100),
               compile = m.what(Kind::kCompile, "compile net");
    made_up::steps(m, 5, 1000, [&](int64_t at, int i) {
      const int64_t spent = i < often ? 400 : 0;
      if (spent) m.slice(compile, at, spent);
      m.slice(kernel, at + spent, 1000 - spent);
    });
    EXPECT_EQ(rules(m), often == 3 ? Rules{"recompiles"} : Rules{"balanced"});
  }
}

TEST(ProfileAdvice, MemoryNearTheLimit) {
  for (int64_t bytes : {int64_t{800} << 20, int64_t{1000} << 20}) {  // of 1024 MiB; 85 %
    Maker m;
    m.p.machine.limits = {};
    const auto kernel = m.what(Kind::kKernel, "k", 100);
    made_up::steps(m, 3, 1000, [&](int64_t at, int) { m.slice(kernel, at, 1000); });
    m.memory(kernel, 5, 0x10, bytes);
    EXPECT_EQ(rules(m),
              bytes > (int64_t{900} << 20) ? Rules{"memory_near_limit"} : Rules{"balanced"});
  }
}

TEST(ProfileAdvice, MixedPrecision) {
  for (const bool can : {true, false}) {
    for (const char* types : {"float32[8]", "bfloat16[8]"}) {
      Maker m;
      m.p.machine.bfloat16 = can;
      const auto kernel = m.what(Kind::kKernel, "matmul", 60'000'000, 100, types);
      made_up::steps(m, 3, 1000, [&](int64_t at, int) { m.slice(kernel, at, 1000); });
      const bool possible = can && std::string(types) == "float32[8]";
      EXPECT_EQ(rules(m), possible ? Rules{"mixed_precision"} : Rules{"balanced"});
    }
  }
}

TEST(ProfileAdvice, HostCallbacksThreadsAndRoom) {
  for (const Kind kind : {Kind::kStep, Kind::kCallback}) {
    for (int64_t gap : {50, 200}) {
      Maker m;
      m.p.machine.limits = {};
      const auto kernel = m.what(Kind::kKernel, "k", 100),
                 callback = m.what(Kind::kCallback, "on_train_step_end");
      made_up::steps(m, 3, 1000, [&](int64_t at, int) {
        if (kind == Kind::kCallback) m.slice(callback, at, gap);
        m.slice(kernel, at + gap, 1000 - gap);
      });
      const char* rule = kind == Kind::kCallback ? "callbacks" : "host_gap";
      EXPECT_EQ(rules(m), gap == 200 ? Rules{rule} : Rules{"balanced"});
    }
  }
  Maker m = two_steps();
  m.p.machine.threads = 1;
  m.p.recording.tracks[0].dropped = 3;
  const Rules found = rules(m);
  EXPECT_EQ(found[0], "incomplete");
  EXPECT_NE(std::find(found.begin(), found.end(), "one_thread"), found.end());
}

bool same(const Profile& a, const Profile& b) {
  return summary_json(Opened(a)) == summary_json(Opened(b)) &&
         slices_json(Opened(a), {}) == slices_json(Opened(b), {});
}

TEST(ProfileFile, ComesBackAsItWas) {
  Maker m = two_steps();
  m.memory(1, 5, 0x7fff12345678, 4096);
  m.memory(1, 9, 0x7fff12345678, -4096);
  m.p.recording.whats[2].lives = {{1, 300, 0, 1}};
  const auto folder = std::filesystem::temp_directory_path() / "mycel_profile_test";
  std::filesystem::remove_all(folder);
  const std::string path = new_path(folder.string());
  save(m.p, path);
  const Profile back = load(path);
  EXPECT_TRUE(back.problems.empty());
  EXPECT_TRUE(same(m.p, back));
  EXPECT_EQ(back.machine.limits.gflops, 100);
  EXPECT_EQ(profiles_below(folder.string()).size(), 1u);
  std::filesystem::create_symlink("/etc/hostname", folder / "out.profile");
  EXPECT_EQ(profiles_below(folder.string()).size(), 1u);
  std::filesystem::remove_all(folder);
}

TEST(ProfileFile, DamageIsReported) {
  const std::string whole = pack(two_steps().p);
  EXPECT_THROW(parse("", "x"), UserError);
  EXPECT_THROW(parse("no profile at all", "x"), UserError);
  EXPECT_THROW(parse(whole.substr(0, 40), "x"), UserError);
  std::string later = whole;
  later[8] = 9;
  EXPECT_THROW(parse(later, "x"), UserError);
  EXPECT_FALSE(parse(whole.substr(0, whole.size() - 16), "x").problems.empty());
  std::string flipped = whole;
  flipped[whole.size() - 30] ^= 0x40;  // in the only thread
  const Profile p = parse(flipped, "x");
  ASSERT_EQ(p.problems.size(), 1u);
  EXPECT_TRUE(p.recording.tracks.empty());
  EXPECT_NE(text_of(p).find("damaged"), std::string::npos);
}

// Makes the check sums of all blocks agree with what they hold.
void made_up_sums(std::string* bytes) {
  for (size_t at = 16; at + 16 <= bytes->size();) {
    uint64_t length = 0;
    std::memcpy(&length, bytes->data() + at + 8, 8);
    if (length > bytes->size() - at - 16) return;
    const uint32_t sum = crc32c(bytes->data() + at + 16, length);
    std::memcpy(bytes->data() + at + 4, &sum, 4);
    at += 16 + length;
  }
}

// Any bytes: an error or a profile whose pages can be made, with check sums that agree too.
TEST(ProfileFile, AnyBytes) {
  std::mt19937 random(7);
  Maker m = two_steps();
  m.p.recording.whats[2].lives = {{1, 300, 0, 1}};
  m.memory(2, 5, 0x10, 4096);
  const std::string whole = pack(m.p);
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int k = 0; k < changes; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 3 == 0) bytes.resize(random() % (bytes.size() + 1));
    if (i % 2 == 0) made_up_sums(&bytes);
    try {
      const Opened opened(parse(bytes, "x"));
      EXPECT_TRUE(nlohmann::json::accept(summary_json(opened)));
      EXPECT_TRUE(nlohmann::json::accept(slices_json(opened, {.from = 10, .to = 1000})));
      EXPECT_TRUE(nlohmann::json::accept(trace_of(opened.profile)));
      text_of(opened.profile);
      ++read;
    } catch (const UserError&) {
    }
  }
  EXPECT_GT(read, 100);
}

TEST(ProfileExport, TraceEvents) {
  Maker m = two_steps();
  m.thread("worker");
  m.slice(m.what(Kind::kQueue, "rows \"ready\""), 7, 0, 3);
  const auto json = nlohmann::json::parse(trace_of(m.p));
  int slices = 0, names = 0, counters = 0;
  for (const auto& e : json.at("traceEvents")) {
    const std::string ph = e.at("ph");
    if (ph == "X") {
      ++slices;
      EXPECT_TRUE(e.at("ts").is_number() && e.at("dur").get<double>() >= 0);
      EXPECT_TRUE(e.at("tid").is_number_integer() && e.at("name").is_string());
    }
    names += ph == "M" && e.at("name") == "thread_name";
    counters += ph == "C";
  }
  EXPECT_EQ(slices, 14);
  EXPECT_EQ(names, 2);
  EXPECT_EQ(counters, 1);
}

TEST(ProfileExport, NarrowSlicesAreJoined) {
  Maker m;
  const auto a = m.what(Kind::kEager, "add"), b = m.what(Kind::kEager, "Mul");
  for (int i = 0; i < 50'000; ++i) m.slice(i == 30'000 ? b : a, 10 * i, 8);
  const Opened opened(m.p);
  const auto count = [&](const TimelineQuery& q) {
    const auto json = nlohmann::json::parse(slices_json(opened, q));
    int64_t n = 0, shown = 0;
    for (const auto& row : json["tracks"][0]["rows"]) {
      shown += static_cast<int64_t>(row.size() / 5);
      for (size_t i = 3; i < row.size(); i += 5) n += row[i].get<int64_t>();
    }
    EXPECT_LE(shown, 2 * q.columns + 3);
    return std::pair(n, json["hits"].get<int64_t>());
  };
  EXPECT_EQ(count({.columns = 500}), std::pair(int64_t{50'000}, int64_t{0}));
  EXPECT_EQ(count({.columns = 500, .find = "mul"}), std::pair(int64_t{50'000}, int64_t{1}));
  const auto near = count({.from = 1'000'000, .to = 1'100'000, .columns = 500});
  EXPECT_NEAR(static_cast<double>(near.first), 11, 1);
  EXPECT_THROW(slices_json(opened, {.columns = 0}), UserError);
}

}  // namespace
}  // namespace mycel::insight::profile
