// What a program adds to the runtime: kernels for ops of its own, and delegates, which run a part
// of a network on a foreign engine. Registered by name before a model is opened; a model takes
// those that are there at that moment.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mycel::lite {

struct View {
  void* data = nullptr;
  uint64_t bytes = 0;
  uint8_t dtype = 0;
  std::vector<int64_t> dims;
};

// Empty, or what went wrong.
using CustomKernel = std::function<std::string(const std::string& attrs, std::span<const View> in,
                                               std::span<const View> out)>;

// A part of a network that an engine has prepared.
class Delegated {
 public:
  virtual ~Delegated() = default;
  virtual std::string run(std::span<const View> in, std::span<const View> out) = 0;
};
// `model`: the part as ONNX bytes. Null: not taken, the runtime's own kernels run it.
using Delegate = std::function<std::unique_ptr<Delegated>(
    std::span<const std::byte> model, std::span<const View> in, std::span<const View> out)>;

void register_kernel(const std::string& op, CustomKernel kernel);
void register_delegate(const std::string& name, Delegate delegate);
// Null when there is none.
CustomKernel kernel_named(const std::string& op);
Delegate delegate_named(const std::string& name);

}  // namespace mycel::lite
