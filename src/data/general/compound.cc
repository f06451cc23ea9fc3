// Transforms made of transforms.
#include <algorithm>
#include <memory>
#include <numeric>

#include <dlfcn.h>

#include "base/error.h"
#include "data/general/general.h"

namespace mycel::data {
namespace {

std::vector<TransformPtr> members(const Options& o) {
  std::vector<TransformPtr> all = o.transforms("transforms");
  if (all.empty()) o.fail("transforms", "must not be empty");
  return all;
}

bool any_random(const std::vector<TransformPtr>& all) {
  return std::any_of(all.begin(), all.end(), [](const TransformPtr& t) { return t->random(); });
}

const TransformDef kCompose{
    .name = "transforms.Compose",
    .doc =
        "The transforms one after the other; neighbours that can share a pass over the pixels do.",
    .args = {"transforms: transforms"},
    .make =
        [](const Options& o) {
          const std::vector<TransformPtr> all = members(o);
          return of_row([steps = fused(all)](Row* row, Philox& draw) { run_all(steps, row, draw); },
                        any_random(all));
        },
};

const TransformDef kRandomApply{
    .name = "transforms.RandomApply",
    .doc = "All transforms, one after the other, with probability `prob`; else none.",
    .args = {"transforms: transforms", "prob: number = 0.5"},
    .make =
        [](const Options& o) {
          return of_row(
              [steps = fused(members(o)), p = o.within("prob", 0, 1)](Row* row, Philox& draw) {
                if (draw.uniform() < p) run_all(steps, row, draw);
              },
              true);
        },
};

const TransformDef kRandomChoice{
    .name = "transforms.RandomChoice",
    .doc = "One of the transforms, each equally likely.",
    .args = {"transforms: transforms"},
    .make =
        [](const Options& o) {
          return of_row(
              [all = members(o)](Row* row, Philox& draw) {
                const uint64_t i = draw.below(all.size());
                run_all(std::span(&all[i], 1), row, draw);
              },
              true);
        },
};

const TransformDef kRandomOrder{
    .name = "transforms.RandomOrder",
    .doc = "All transforms in a random order, every order equally likely.",
    .args = {"transforms: transforms"},
    .make =
        [](const Options& o) {
          return of_row(
              [all = members(o)](Row* row, Philox& draw) {
                std::vector<TransformPtr> order = all;
                for (size_t i = order.size(); i > 1; --i)
                  std::swap(order[i - 1], order[draw.below(i)]);
                run_all(order, row, draw);
              },
              true);
        },
};

// A user's library, open as long as the transform lives.
class Plugin {
 public:
  using Function = void (*)(Row*, const char* user_args);
  Plugin(const std::string& path, const std::string& name)
      : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) fail(ErrorKind::kOs, "Plugin: cannot load '{}': {}", path, dlerror());
    function_ = reinterpret_cast<Function>(dlsym(library_, name.c_str()));
    if (!function_) {
      dlclose(library_);
      fail(ErrorKind::kAttribute, "Plugin: '{}' has no function '{}'", path, name);
    }
  }
  ~Plugin() { dlclose(library_); }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  void run(Row* row, const std::string& arguments) const { function_(row, arguments.c_str()); }

 private:
  void* library_;
  Function function_ = nullptr;
};

const TransformDef kPlugin{
    .name = "transforms.Plugin",
    .doc =
        "A transform from a library of the user's: `lib_path` exports the C function `func_name`, "
        "void(mycel::data::Row* values, const char* user_args), which replaces the values. It "
        "must be safe to call from many threads and may throw UserError. OSError: no such "
        "library; AttributeError: no such function.",
    .args = {"lib_path: string", "func_name: string", "user_args: string? = None"},
    .make =
        [](const Options& o) {
          auto plugin = std::make_shared<Plugin>(o.string("lib_path"), o.string("func_name"));
          const std::string arguments = o.none("user_args") ? "" : o.string("user_args");
          return of_row([plugin, arguments](Row* row, Philox&) { plugin->run(row, arguments); },
                        false);
        },
};

}  // namespace

TransformDefs compound_transforms() {
  return {&kCompose, &kRandomApply, &kRandomChoice, &kRandomOrder, &kPlugin};
}

}  // namespace mycel::data
