#include "base/timeline.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/error.h"
#include "base/threads.h"

namespace mycel::timeline {
namespace {

constexpr size_t kChunk = 1024;
constexpr size_t kMostWhats = size_t{1} << 20;

// The processor's own counter where it runs evenly: a third of the cost of asking the system.
bool even_counter() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
#else
  return false;
#endif
}
const bool g_even = even_counter();

int64_t ticks() {
#if defined(__x86_64__)
  if (g_even) return static_cast<int64_t>(__builtin_ia32_rdtsc());
#endif
  return clock_ns();
}

// What one thread appends to and another may read up to `count`.
template <typename T>
class Chunks {
 public:
  ~Chunks() {
    for (Chunk* c = first_.load(); c;) delete std::exchange(c, c->next.load());
  }
  bool full() const { return !last_ || last_->count.load(std::memory_order_relaxed) == kChunk; }
  void grow() {
    auto* c = new Chunk;
    (last_ ? last_->next : first_).store(c, std::memory_order_release);
    last_ = c;
  }
  void add(const T& t) {
    const size_t n = last_->count.load(std::memory_order_relaxed);
    last_->items[n] = t;
    last_->count.store(n + 1, std::memory_order_release);
  }
  std::vector<T> read() const {
    std::vector<T> out;
    for (Chunk* c = first_.load(std::memory_order_acquire); c;
         c = c->next.load(std::memory_order_acquire)) {
      out.insert(out.end(), c->items, c->items + c->count.load(std::memory_order_acquire));
    }
    return out;
  }

 private:
  struct Chunk {
    T items[kChunk];
    std::atomic<size_t> count{0};
    std::atomic<Chunk*> next{nullptr};
  };
  std::atomic<Chunk*> first_{nullptr};
  Chunk* last_ = nullptr;
};

struct Buffer {
  std::string thread;
  bool main = false;
  Chunks<Event> events;
  Chunks<MemoryEvent> memory;
  std::atomic<int64_t> dropped{0};
};

struct Session {
  Options options;
  std::mutex mutex;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::atomic<int64_t> chunks_left{0};
  int64_t ticks_began = 0, ns_began = 0, wall_began = 0, memory_before = 0;
  std::atomic<int64_t> active_since{-1}, active{0};  // ticks
};

struct State {
  std::mutex mutex;  // guards what follows
  std::deque<What> whats{What{}};
  std::map<std::pair<Kind, std::string>, Id> named;
  std::shared_ptr<Session> session;
  std::atomic<uint64_t> generation{0};
};
State& state() {
  static auto* s = new State;
  return *s;
}

// A thread's own; its buffer belongs to one session.
struct Mine {
  uint64_t generation = 0;
  std::shared_ptr<Session> session;
  std::shared_ptr<Buffer> buffer;
  Id current = 0;
  Phase phase = Phase::kForward;
  Id step = 0;  // running
  int64_t step_began = 0, step_number = 0;
};
// Only a pointer lies in thread-local storage: a library loaded later finds little room there.
thread_local constinit Mine* t_mine __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local constinit bool t_gone __attribute__((tls_model("initial-exec"))) = false;

struct MineEnd {
  ~MineEnd() {
    t_gone = true;
    delete std::exchange(t_mine, nullptr);
  }
};

Mine* make_mine() {
  if (t_gone) return nullptr;
  static thread_local MineEnd end;
  (void)end;
  return t_mine = new Mine;
}
Mine* mine() { return t_mine ? t_mine : make_mine(); }

// Null when nothing is recorded, or the thread ends.
Buffer* buffer_of(Mine* m) {
  State& s = state();
  if (m->generation == s.generation.load(std::memory_order_acquire)) return m->buffer.get();
  std::lock_guard lock(s.mutex);
  m->generation = s.generation.load();
  m->session = s.session;
  m->buffer = nullptr;
  m->step = 0;
  if (!m->session) return nullptr;
  m->buffer = std::make_shared<Buffer>();
  m->buffer->main = gettid() == getpid();
  m->buffer->thread = m->buffer->main ? "main" : fmt::format("thread {}", gettid());
  std::lock_guard inner(m->session->mutex);
  m->session->buffers.push_back(m->buffer);
  return m->buffer.get();
}

template <typename T>
void append(Mine* m, Buffer* b, Chunks<T>* to, const T& t) {
  if (to->full()) {
    if (m->session->chunks_left.fetch_sub(1, std::memory_order_relaxed) <= 0) {
      m->session->chunks_left.fetch_add(1, std::memory_order_relaxed);
      b->dropped.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    to->grow();
  }
  to->add(t);
}

void put(const Event& e) {
  Mine* m = mine();
  Buffer* b = m ? buffer_of(m) : nullptr;
  if (b) append(m, b, &b->events, e);
}

Id step_id(bool training) {
  static Mark train, eval;
  return (training ? train : eval).get([&] {
    return What{.kind = Kind::kStep, .name = training ? "training step" : "evaluation step"};
  });
}

void pause(Session& s, int64_t now) {
  recorded.store(0);
  const int64_t since = s.active_since.exchange(-1);
  if (since >= 0) s.active += now - since;
}
void go_on(Session& s, int64_t now) {
  if (s.active_since.exchange(now) < 0) recorded.store(s.options.what);
}

// Steps that are to be recorded switch it on, and the first behind them off.
std::atomic<bool> g_by_steps{false};

void look_at_step(int64_t number) {
  std::shared_ptr<Session> s;
  {
    std::lock_guard lock(state().mutex);
    s = state().session;
  }
  if (!s || s->options.first_step < 0) return;
  if (number >= s->options.first_step && number <= s->options.last_step) {
    if (!on()) go_on(*s, ticks());
  } else if (on()) {
    pause(*s, ticks());
  }
}

}  // namespace

std::atomic<uint32_t> recorded{0};

const char* name_of(Kind k) {
  static constexpr const char* kNames[kKindCount] = {"step",    "program", "kernel", "eager",
                                                     "compile", "data",    "wait",   "callback",
                                                     "share",   "queue",   "arena"};
  return kNames[static_cast<int>(k)];
}
const char* name_of(Phase p) {
  static constexpr const char* kNames[kPhaseCount] = {"forward", "backward", "update"};
  return kNames[static_cast<int>(p)];
}

Id intern(What what) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (s.whats.size() >= kMostWhats) return 0;
  s.whats.push_back(std::move(what));
  return static_cast<Id>(s.whats.size() - 1);
}

Id named(Kind kind, const std::string& name) {
  if (!on()) return 0;
  State& s = state();
  std::lock_guard lock(s.mutex);
  auto [it, fresh] = s.named.try_emplace({kind, name}, 0);
  if (fresh && s.whats.size() < kMostWhats) {
    s.whats.push_back({.kind = kind, .name = name});
    it->second = static_cast<Id>(s.whats.size() - 1);
  }
  return it->second;
}

Slice::Slice(Id what, uint32_t number) : what_(what), number_(number) {
  if (!what_) return;
  Mine* m = mine();
  if (!m) {
    what_ = 0;
    return;
  }
  outer_ = std::exchange(m->current, what_);
  start_ = ticks();
}

void Slice::end() {
  const int64_t now = ticks();
  if (t_mine) t_mine->current = outer_;
  if (on()) put({start_, now, what_, number_});
}

namespace {
std::atomic<Where> g_where{nullptr};
}
void set_where(Where f) { g_where = f; }
std::string where_now() {
  const Where f = g_where;
  return f ? f() : "";
}

void note_queue(Id queue, uint32_t rows) {
  const int64_t now = ticks();
  if (queue) put({now, now, queue, rows});
}

void note_memory(const void* block, int64_t bytes) noexcept {
  try {
    Mine* m = mine();
    Buffer* b = m ? buffer_of(m) : nullptr;
    if (!b) return;
    const MemoryEvent e{ticks(), reinterpret_cast<uint64_t>(block), bytes, m->current};
    append(m, b, &b->memory, e);
  } catch (...) {  // no memory for a chunk: the block is not recorded
  }
}

Owner::Owner(Id what) {
  Mine* m = mine();
  before_ = m ? m->current : 0;
  if (m && what) m->current = what;
}
Owner::~Owner() {
  if (t_mine) t_mine->current = before_;
}

Phase phase() { return t_mine ? t_mine->phase : Phase::kForward; }
InPhase::InPhase(Phase p) {
  Mine* m = mine();
  before_ = m ? std::exchange(m->phase, p) : p;
}
InPhase::~InPhase() {
  if (t_mine) t_mine->phase = before_;
}

void begin_step(int64_t number, bool training) {
  end_step();
  if (g_by_steps.load(std::memory_order_relaxed) && training) look_at_step(number);
  if (!on()) return;
  Mine* m = mine();
  if (!m || !buffer_of(m)) return;
  m->step = step_id(training);
  m->step_number = number;
  m->step_began = ticks();
}

void end_step() {
  if (!t_mine || !t_mine->step) return;
  const Id step = std::exchange(t_mine->step, 0);
  if (on()) put({t_mine->step_began, ticks(), step, static_cast<uint32_t>(t_mine->step_number)});
}

void drop_step() {
  if (t_mine) t_mine->step = 0;
}

int64_t Recording::dropped() const {
  int64_t n = 0;
  for (const Track& t : tracks) n += t.dropped;
  return n;
}

uint64_t recording() { return state().generation.load(std::memory_order_relaxed); }

bool running() {
  std::lock_guard lock(state().mutex);
  return state().session != nullptr;
}

void start(const Options& options, int64_t memory_before) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (s.session) fail(ErrorKind::kRuntime, "timeline: a recording runs already");
  auto session = std::make_shared<Session>();
  session->options = options;
  session->options.what |= kTimes;
  session->chunks_left = std::max<int64_t>(options.most_slices / static_cast<int64_t>(kChunk), 1);
  session->memory_before = memory_before;
  session->wall_began = std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count();
  session->ns_began = clock_ns();
  session->ticks_began = ticks();
  s.session = session;
  ++s.generation;
  g_by_steps = options.first_step >= 0;
  if (options.first_step < 0) go_on(*session, session->ticks_began);
}

Recording stop() {
  State& s = state();
  end_step();
  std::shared_ptr<Session> session;
  Recording r;
  {
    std::lock_guard lock(s.mutex);
    if (!s.session) fail(ErrorKind::kRuntime, "timeline: no recording runs");
    session = std::exchange(s.session, nullptr);
    pause(*session, ticks());
    g_by_steps = false;
    ++s.generation;
    r.whats.assign(s.whats.begin(), s.whats.end());
  }
  const int64_t ticks_now = ticks(), ns_now = clock_ns();
  const double scale = static_cast<double>(ns_now - session->ns_began) /
                       static_cast<double>(std::max<int64_t>(ticks_now - session->ticks_began, 1));
  const auto ns = [&](int64_t t) {
    return static_cast<int64_t>(static_cast<double>(t - session->ticks_began) * scale);
  };
  r.began = session->wall_began;
  r.length = ns_now - session->ns_began;
  r.active = static_cast<int64_t>(static_cast<double>(session->active.load()) * scale);
  r.memory_before = session->memory_before;
  std::lock_guard lock(session->mutex);
  for (const auto& b : session->buffers) {
    Track t{b->thread, b->main, b->events.read(), b->memory.read(), b->dropped.load()};
    for (Event& e : t.events) e = {std::max<int64_t>(ns(e.start), 0), ns(e.end), e.what, e.number};
    for (MemoryEvent& e : t.memory) e.when = ns(e.when);
    r.tracks.push_back(std::move(t));
  }
  return r;
}

}  // namespace mycel::timeline
