#include <cstdio>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/command.h"
#include "tensor/safetensors.h"

namespace mycel::cli {

Tensors inputs_from(const std::string& path, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  if (path.empty()) {
    throw UserError(ErrorKind::kValue,
                    fmt::format("{} inputs are needed, none given", names.size()),
                    "Give a safetensors file: --input FILE.");
  }
  Checkpoint file = load_safetensors(path);
  std::map<std::string, Tensor> found(file.tensors.begin(), file.tensors.end());
  Tensors out;
  for (const std::string& name : names) {
    if (auto it = found.find(name); it != found.end()) out.push_back(it->second);
  }
  if (out.size() == names.size()) return out;
  if (file.tensors.size() != names.size()) {
    throw UserError(
        ErrorKind::kValue,
        fmt::format("'{}' holds {} tensors; expected {}", path, file.tensors.size(), names.size()),
        fmt::format("Expected names: {}.", fmt::join(names, ", ")));
  }
  out.clear();
  for (const auto& [name, tensor] : file.tensors) out.push_back(tensor);
  return out;
}

void deliver(const Tensors& results, const std::string& path) {
  if (path.empty()) {
    for (size_t i = 0; i < results.size(); ++i) {
      fmt::print("output{}: {}\n{}\n", i, results[i].describe(), results[i].str());
    }
    return;
  }
  Checkpoint file;
  for (size_t i = 0; i < results.size(); ++i)
    file.tensors.emplace_back(fmt::format("output{}", i), results[i]);
  save_safetensors(path, file);
  fmt::print("{}: {} tensors written\n", path, results.size());
}

}  // namespace mycel::cli
