#include "loops/jit.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include <xxhash.h>

#include "base/error.h"
#include "base/threads.h"
#include "loops/cache.h"
#include "loops/codegen.h"

namespace mycel::loops {
namespace {

struct Hash {
  size_t operator()(const std::string& s) const { return XXH3_64bits(s.data(), s.size()); }
};

// One entry per structure; the entry's own lock lets one thread compile while the others wait for
// it only if they want the same kernel.
struct Entry {
  std::mutex lock;
  std::shared_ptr<const Compiled> code;
};

struct Table {
  std::shared_mutex lock;
  std::unordered_map<std::string, std::shared_ptr<Entry>, Hash> entries;
  std::atomic<int64_t> compiled{0}, from_disk{0}, from_memory{0};
};

Table& table() {
  static Table* t = new Table;  // never destroyed: kernels may run while the process exits
  return *t;
}

std::shared_ptr<Entry> entry_for(const std::string& structure) {
  Table& t = table();
  {
    std::shared_lock read(t.lock);
    auto found = t.entries.find(structure);
    if (found != t.entries.end()) return found->second;
  }
  std::unique_lock write(t.lock);
  auto& entry = t.entries[structure];
  if (!entry) entry = std::make_shared<Entry>();
  return entry;
}

std::shared_ptr<const Compiled> load_or_compile(const Nest& nest, const std::string& structure) {
  const auto start = std::chrono::steady_clock::now();
  auto code = std::make_shared<Compiled>();
  code->name = nest.name();
  const cache::Key key = cache::key_of(structure, codegen().machine_key());
  LoadedObject loaded;
  std::string object;
  if (cache::read(key, &object) && codegen().load_object(object, nest.stages().size(), &loaded)) {
    code->origin = Compiled::kDisk;
    ++table().from_disk;
  } else {
    object = codegen().compile_object(nest);
    MYCEL_CHECK(codegen().load_object(object, nest.stages().size(), &loaded),
                "{}: the compiled kernel does not link", nest.name());
    cache::write(key, object);
    ++table().compiled;
  }
  code->stages = std::move(loaded.stages);
  code->bytes = loaded.bytes;
  code->memory = std::move(loaded.memory);
  code->milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return code;
}

// Element operations that pay for waking a thread: about 12 us of them.
constexpr int64_t kWorkPerThread = 524288;
// Shares of a vector loop begin at multiples of this, so that few iterations fall into remainders.
constexpr int64_t kVectorStep = 64;

int64_t grain_of(int64_t extent, int64_t cost) {
  const int64_t grain = std::max<int64_t>(1, kWorkPerThread / std::max<int64_t>(cost, 1));
  if (extent <= grain || grain < kVectorStep) return grain;
  return grain / kVectorStep * kVectorStep;
}

// Scratch memory of one thread, kept between runs unless it is large. Runs may nest.
class Scratch {
 public:
  static constexpr size_t kAlign = 64, kKeep = size_t{32} << 20;
  char* take(size_t bytes) {
    if (in_use_) return nullptr;
    if (bytes > size_) {
      std::free(base_);
      size_ = (bytes + kAlign - 1) / kAlign * kAlign;
      base_ = static_cast<char*>(std::aligned_alloc(kAlign, size_));
      if (!base_) {
        size_ = 0;
        throw std::bad_alloc();
      }
    }
    in_use_ = true;
    return base_;
  }
  void give_back() {
    in_use_ = false;
    if (size_ > kKeep) {
      std::free(base_);
      base_ = nullptr;
      size_ = 0;
    }
  }
  ~Scratch() { std::free(base_); }

 private:
  char* base_ = nullptr;
  size_t size_ = 0;
  bool in_use_ = false;
};
thread_local Scratch t_scratch;

void run_stages(const Launch& l, void* const* buffers) {
  const int64_t* numbers = l.numbers.data();
  for (size_t i = 0; i < l.stages.size(); ++i) {
    const StageFn fn = l.code->stages[i];
    const Launch::Stage& stage = l.stages[i];
    if (stage.extent <= stage.grain) {
      if (stage.extent > 0) fn(buffers, numbers, 0, stage.extent);
    } else {
      parallel_for(stage.extent, stage.grain,
                   [&](int64_t begin, int64_t end) { fn(buffers, numbers, begin, end); });
    }
  }
}

void run_with_scratch(const Launch& l, void* const* buffers) {
  std::vector<void*> all(buffers, buffers + l.operands);
  size_t total = 0;
  auto round_up = [](size_t n) {
    return (n + Scratch::kAlign - 1) / Scratch::kAlign * Scratch::kAlign;
  };
  for (int64_t bytes : l.scratch_bytes) total += round_up(bytes);
  struct Owner {
    char* base;
    bool pooled;
    ~Owner() { pooled ? t_scratch.give_back() : std::free(base); }
  } owner{t_scratch.take(std::max<size_t>(total, 1)), true};
  if (!owner.base) {
    owner.pooled = false;
    owner.base =
        static_cast<char*>(std::aligned_alloc(Scratch::kAlign, std::max(total, Scratch::kAlign)));
    if (!owner.base) throw std::bad_alloc();
  }
  char* at = owner.base;
  for (int64_t bytes : l.scratch_bytes) {
    all.push_back(at);
    at += round_up(bytes);
  }
  run_stages(l, all.data());
}

}  // namespace

std::shared_ptr<const Compiled> jit(const Nest& nest) {
  const std::string& structure = nest.structure();
  std::shared_ptr<Entry> entry = entry_for(structure);
  std::lock_guard hold(entry->lock);
  if (entry->code) {
    ++table().from_memory;
  } else {
    entry->code = load_or_compile(nest, structure);
  }
  return entry->code;
}

Launch launch(const Nest& nest, std::shared_ptr<const Compiled> code) {
  Launch l;
  l.code = std::move(code);
  l.numbers = nest.numbers();
  for (const Nest::Stage& s : nest.stages())
    l.stages.push_back({s.extent, grain_of(s.extent, s.cost)});
  for (const Nest::BufferInfo& b : nest.buffers()) {
    if (b.role == Nest::BufferInfo::kScratch) {
      l.scratch_bytes.push_back(b.scratch_elements * static_cast<int64_t>(size_of(b.dtype)));
    } else {
      ++l.operands;
    }
  }
  return l;
}
Launch launch(const Nest& nest) { return launch(nest, jit(nest)); }

void Launch::run(void* const* buffers) const {
  scratch_bytes.empty() ? run_stages(*this, buffers) : run_with_scratch(*this, buffers);
}

void run(const Nest& nest, void* const* buffers) { launch(nest).run(buffers); }
void run(const Compiled& code, const Nest& nest, void* const* buffers) {
  // The alias constructor without an owner: the caller keeps `code` alive during the call.
  launch(nest, std::shared_ptr<const Compiled>(std::shared_ptr<void>(), &code)).run(buffers);
}

JitCounts jit_counts() {
  const Table& t = table();
  return {t.compiled.load(), t.from_disk.load(), t.from_memory.load()};
}

void clear_memory_cache() {
  std::unique_lock write(table().lock);
  table().entries.clear();
}

}  // namespace mycel::loops
