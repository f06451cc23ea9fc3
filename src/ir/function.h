// Function: a graph with a name that calls refer to. Its types are declared first and its body is
// set later, so that a body may call the function itself. Functions compare by identity.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ir/attrs.h"
#include "ir/type.h"

namespace mycel::ir {

struct Function {
  std::string name;
  Types params, results;
  GraphPtr body;  // null until it is known

  // What transforms have made of this function, by transform and arguments ("vjp 0 2"): a body that
  // calls itself gets a gradient that calls itself.
  std::map<std::string, FunctionPtr> derived;
  // The body made ready to run (runtime/control.cc).
  std::shared_ptr<const void> plan;
  std::recursive_mutex mutex;  // guards body, derived and plan while they are being made
};

inline FunctionPtr make_function(std::string name, Types params, Types results) {
  auto f = std::make_shared<Function>();
  f->name = std::move(name);
  f->params = std::move(params);
  f->results = std::move(results);
  return f;
}

}  // namespace mycel::ir
