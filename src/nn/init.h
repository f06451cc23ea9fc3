// Init: how a parameter gets its first values. A value object that layers take as an argument: a
// named initializer of common.initializer ("normal", Init::named("HeUniform", …)), a number, a
// tensor with the very values, or a function. Draws take their key from runtime/random_state.h in
// order of construction, so a C++ and a Python program with one seed build the same network.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "tensor/tensor.h"

namespace mycel::nn {

class Arg;
class Args;

// What an initializer's rule sees.
struct InitRequest {
  const Args& args;
  const Shape& shape;
  DType dtype;
};

// The record of an initializer.
struct InitDef {
  const char* name = "";
  const char* doc = "";
  ir::Names args = {};
  const char* alias = "";  // lower-case names beside the class name, separated by spaces
  Tensor (*fill)(const InitRequest&) = nullptr;
};

class Init {
 public:
  using Function = std::function<Tensor(const Shape&, DType)>;

  Init() : Init("zeros") {}
  Init(const char* name) : Init(std::string(name)) {}  // NOLINT(google-explicit-constructor)
  // ValueError with the name that was meant when there is no such initializer.
  Init(const std::string& name);  // NOLINT
  Init(double constant);          // NOLINT
  Init(Tensor values);            // NOLINT: shapes must agree
  Init(Function f);               // NOLINT
  // By class name, with arguments in record order: Init::named("Normal", {0.02, 0.0}).
  static Init named(const std::string& name, std::vector<Arg> positional = {},
                    const std::vector<std::pair<std::string, Arg>>& named = {});

  // The tensor. ValueError when the initializer cannot serve this shape.
  Tensor make(const Shape& shape, DType dtype = DType::kFloat32) const;
  std::string str() const;  // "Normal(sigma=0.01, mean=0.0)"

 private:
  const InitDef* def_ = nullptr;
  std::shared_ptr<const Args> args_;
  Tensor values_;
  Function function_;
};

const std::vector<const InitDef*>& all_initializers();
const InitDef* find_initializer(const std::string& name);
// The same; ValueError with the nearest name when there is none.
const InitDef& initializer_named(const std::string& name);

}  // namespace mycel::nn
