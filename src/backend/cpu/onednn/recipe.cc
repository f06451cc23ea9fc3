#include "backend/cpu/onednn/recipe.h"

#include <atomic>
#include <cstdint>
#include <list>
#include <unordered_map>

#include <fmt/format.h>
#include <omp.h>

#include "backend/cpu/onednn/invalid_flag.h"
#include "base/error.h"
#include "base/threads.h"

namespace mycel::cpu::onednn {
namespace {

constexpr size_t kMaxRecipes = 2048;

struct KeyHash {
  size_t operator()(const Key& k) const { return k.hash(); }
};

// Least recently used recipes go first when the cache is full.
class Cache {
 public:
  bool find(const Key& key, Recipe* out) {
    std::lock_guard lock(mutex_);
    auto it = index_.find(key);
    if (it == index_.end()) return false;
    order_.splice(order_.begin(), order_, it->second);
    *out = it->second->second;
    return true;
  }
  void insert(const Key& key, const Recipe& recipe) {
    std::lock_guard lock(mutex_);
    if (index_.count(key)) return;
    order_.emplace_front(key, recipe);
    index_.emplace(key, order_.begin());
    if (order_.size() > kMaxRecipes) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<Key, Recipe>> order_;
  std::unordered_map<Key, std::list<std::pair<Key, Recipe>>::iterator, KeyHash> index_;
};

Cache& cache() {
  static auto* c = new Cache;
  return *c;
}

// A kernel of the cache.
class SharedKernel final : public Prepared {
 public:
  explicit SharedKernel(std::shared_ptr<const Prepared> kernel) : kernel_(std::move(kernel)) {}
  void run(void* const* buffers) const override { kernel_->run(buffers); }
  const char* implementation() const override { return kernel_->implementation(); }

 private:
  std::shared_ptr<const Prepared> kernel_;
};

class RecipeKernel final : public Prepared {
 public:
  explicit RecipeKernel(Recipe recipe)
      : program_(std::move(recipe.program)),
        serial_(recipe.serial),
        packs_(recipe.packs),
        packed_(std::move(recipe.packed)),
        make_restore_(std::move(recipe.restore)) {}
  void run(void* const* buffers) const override {
    OneThread alone(serial_);
    if (!make_restore_) return run_program(buffers);
    clear_invalid();
    run_program(buffers);
    if (!take_invalid(serial_)) return;
    std::call_once(restore_made_, [&] { restore_ = make_restore_(); });
    restore_(buffers);
  }
  void run_program(void* const* buffers) const {
    if (serial_) return program_->run(buffers);
    const int64_t begin = clock_ns();
    program_->run(buffers);
    const int64_t took = clock_ns() - begin, best = best_.load(std::memory_order_relaxed);
    if (took < best) {
      best_.store(took, std::memory_order_relaxed);
    } else if (took > 4 * best) {
      waited_for_threads(took - best);
    }
  }
  const char* implementation() const override { return program_->implementation(); }
  std::optional<Packed> packed(int operand) const override {
    if (packs_ < 0 || operand != packs_) return {};
    OneThread alone(serial_);  // as where the recipe was made
    PackedOperand packed = packed_();
    if (!packed.program) return {};
    Recipe pack, whole;
    pack.program = packed.pack;
    whole.program = packed.program;
    whole.serial = serial_;
    whole.restore = packed.restore;
    return Packed{packed.bytes, std::make_shared<RecipeKernel>(std::move(pack)),
                  std::make_shared<RecipeKernel>(std::move(whole))};
  }

 private:
  std::shared_ptr<const Program> program_;
  bool serial_;
  int packs_;
  std::function<PackedOperand()> packed_;
  std::function<Restore()> make_restore_;
  mutable std::once_flag restore_made_;
  mutable Restore restore_;
  mutable std::atomic<int64_t> best_{INT64_MAX / 8};  // ns of its fastest run
};

}  // namespace

OneThread::OneThread(bool wanted) : before_(wanted ? omp_get_max_threads() : 0) {
  if (before_) omp_set_num_threads(1);
}
OneThread::~OneThread() {
  if (before_) omp_set_num_threads(before_);
}

size_t Key::hash() const {
  uint64_t h = 0;
  for (int64_t w : words_) {
    h = (h ^ static_cast<uint64_t>(w)) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  return h;
}

std::shared_ptr<const Program> reorder(const dnnl::memory::desc& from,
                                       const dnnl::memory::desc& to) {
  auto program = std::make_shared<Program>();
  program->finish(program->operand(from, 0), program->operand(to, 1));
  program->set_implementation("reorder");
  return program;
}

Recipe refuse(std::string why) {
  Recipe recipe;
  recipe.refusal = std::move(why);
  return recipe;
}

Recipe recipe_of(const Key& key, double flops, const std::function<Recipe()>& build) {
  Recipe recipe;
  if (cache().find(key, &recipe)) return recipe;
  // oneDNN decides how to share the work out when a primitive is made.
  const bool serial = flops < kSerialFlops;
  OneThread alone(serial);
  try {
    recipe = build();
    recipe.serial = serial;
  } catch (const dnnl::error& e) {
    recipe = refuse(fmt::format("oneDNN has no implementation: {}", e.what()));
  }
  cache().insert(key, recipe);
  return recipe;
}

std::unique_ptr<Prepared> kernel_of(Recipe recipe) {
  if (recipe.kernel) return std::make_unique<SharedKernel>(std::move(recipe.kernel));
  MYCEL_CHECK(recipe.program, "a refused problem was prepared all the same: {}", recipe.refusal);
  return std::make_unique<RecipeKernel>(std::move(recipe));
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

}  // namespace mycel::cpu::onednn
