// Recipe: what oneDNN can do for one problem: a program (or several as a kernel), or the reason why
// not. Making one costs
// 0.3 to 15 ms (oneDNN generates code), so recipes are cached by everything that they depend on;
// asking whether a problem is accepted and preparing it then cost one look-up together.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/kernel.h"
#include "backend/cpu/onednn/program.h"

namespace mycel::cpu::onednn {

// Puts the NaNs into a result that oneDNN left out. Buffers: those of the kernel that ran.
using Restore = std::function<void(void* const* buffers)>;

// The same computation on an operand that is already in the layout that oneDNN likes best. No
// program: it likes the one that the operand has.
struct PackedOperand {
  size_t bytes = 0;
  std::shared_ptr<const Program> pack, program;
  std::function<Restore()> restore;  // as Recipe's
};

// Buffers: an operand, the same in another layout.
std::shared_ptr<const Program> reorder(const dnnl::memory::desc& from,
                                       const dnnl::memory::desc& to);

struct Recipe {
  std::shared_ptr<const Program> program;
  std::string refusal;  // set when it cannot be done
  int packs = -1;       // the operand that can be packed, among the buffers
  std::function<PackedOperand()> packed;
  // Set where the program makes numbers of NaNs: makes what runs after it when the processor's
  // Invalid flag says that there may have been one.
  std::function<Restore()> restore;
  bool serial = false;                     // runs on one thread: there is too little to share out
  std::shared_ptr<const Prepared> kernel;  // instead of a program: shares its work out by itself
};

// What oneDNN makes or starts meanwhile is for this thread alone, where that is wanted.
class OneThread {
 public:
  explicit OneThread(bool wanted);
  ~OneThread();
  OneThread(const OneThread&) = delete;

 private:
  int before_;  // threads allowed; 0: nothing was changed
};

// Everything a recipe depends on, as numbers.
class Key {
 public:
  explicit Key(int64_t kind) : words_{kind} {}
  Key& add(int64_t word) {
    words_.push_back(word);
    return *this;
  }
  template <typename List>
    requires requires(const List& l) { l.begin(); }
  Key& add(const List& list) {
    words_.push_back(static_cast<int64_t>(list.size()));
    words_.insert(words_.end(), list.begin(), list.end());
    return *this;
  }
  bool operator==(const Key& o) const = default;
  size_t hash() const;

 private:
  std::vector<int64_t> words_;
};

// Kinds of recipe, the first word of a key.
enum RecipeKind : int64_t {
  kMatmulRecipe,
  kTileRecipe,
  kConvolutionRecipe,
  kPoolingRecipe,
  kIntegerMatmulRecipe
};

// The recipe of a key, from the cache or built now. A dnnl::error becomes a refusal. `flops`: the
// work; below kSerialFlops it stays on one thread.
Recipe recipe_of(const Key& key, double flops, const std::function<Recipe()>& build);
// About 50 us on one core. A team that is waited for costs microseconds at best, and a slice of the
// scheduler (milliseconds) where another program has a core.
constexpr double kSerialFlops = 5e6;
// The kernel of a recipe that was not refused.
std::unique_ptr<Prepared> kernel_of(Recipe recipe);

// A recipe that only says why not.
Recipe refuse(std::string why);
// oneDNN falls back to reference loops, hundreds of times slower than ours: walks on to the next
// implementation until the name is no reference; false when there is none.
template <typename PrimitiveDesc>
bool skip_reference(PrimitiveDesc& pd) {
  while (std::string(pd.impl_info_str()).find("ref") != std::string::npos) {
    if (!pd.next_impl()) return false;
  }
  return true;
}

// Scratchpads belong to the caller: kernels run from several threads.
dnnl::primitive_attr user_scratchpad();

}  // namespace mycel::cpu::onednn
