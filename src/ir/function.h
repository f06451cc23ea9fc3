// Function: a graph with a name that calls refer to. Its types are declared first and its body is
// set later, so that a body may call the function itself. Functions compare by identity.
// What calls each other, and what transforms make of it, is one family: it lives as long as anybody
// outside holds one of its members, and inside bodies members do not own each other.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ir/attrs.h"
#include "ir/type.h"

namespace mycel::ir {

struct Family;

struct Function {
  std::string name;
  Types params, results;
  GraphPtr body;  // null until it is known; set by set_body
  Family* family = nullptr;

  // What transforms have made of this function, by transform and arguments ("vjp 0 2"): a body that
  // calls itself gets a gradient that calls itself. All are of the family.
  std::map<std::string, std::weak_ptr<Function>> derived;
  // The body made ready to run (runtime/control.cc).
  std::shared_ptr<const void> plan;
  std::recursive_mutex mutex;  // guards body, derived and plan while they are being made
};

// Of the family of `kin`, or the first of a new one.
FunctionPtr make_function(std::string name, Types params, Types results,
                          const FunctionPtr& kin = nullptr);
// References to the family inside the body become unowned; all others own.
void set_body(const FunctionPtr& f, GraphPtr body);
// A body whose references all own: for what is recorded outside of the family.
GraphPtr owning(const GraphPtr& body);

}  // namespace mycel::ir
