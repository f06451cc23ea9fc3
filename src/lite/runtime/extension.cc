#include "lite/runtime/extension.h"

#include <map>
#include <mutex>

namespace mycel::lite {
namespace {

struct Registered {
  std::mutex mutex;
  std::map<std::string, CustomKernel> kernels;
  std::map<std::string, Delegate> delegates;
};
Registered& registered() {
  static auto* all = new Registered;  // lives as long as any model
  return *all;
}

}  // namespace

void register_kernel(const std::string& op, CustomKernel kernel) {
  std::lock_guard lock(registered().mutex);
  registered().kernels[op] = std::move(kernel);
}
void register_delegate(const std::string& name, Delegate delegate) {
  std::lock_guard lock(registered().mutex);
  registered().delegates[name] = std::move(delegate);
}
CustomKernel kernel_named(const std::string& op) {
  std::lock_guard lock(registered().mutex);
  auto it = registered().kernels.find(op);
  return it == registered().kernels.end() ? nullptr : it->second;
}
Delegate delegate_named(const std::string& name) {
  std::lock_guard lock(registered().mutex);
  auto it = registered().delegates.find(name);
  return it == registered().delegates.end() ? nullptr : it->second;
}

}  // namespace mycel::lite
