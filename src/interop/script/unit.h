// What a converted network is made of before it is text: units (a layer, a parameter, a call of an
// op, a branch or loop) with the values that they read and give, each with a path of modules; and
// literals that may differ between the instances of one class.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "interop/imported.h"

namespace mycel::interop::script {

using Path = std::vector<std::string>;

// A value of the network; constants of the file are values too.
using ValueId = int;

// name=text, left out where the text is `otherwise` in every instance; without a name: positional.
struct Literal {
  std::string name, text, otherwise;
  bool positional = false;
};

// An operand of a call: a value, a literal, a size of a value ("x.shape[0]"), or a list of these.
struct Operand {
  enum class Kind : uint8_t { kValue, kLiteral, kSize, kTuple, kList };
  Kind kind = Kind::kValue;
  ValueId value = -1;
  Literal literal;
  int dim = 0;
  int64_t times = 1;  // of a size
  std::vector<Operand> items;

  static Operand of(ValueId v) {
    Operand o;
    o.value = v;
    return o;
  }
  static Operand of(Literal l) {
    Operand o;
    o.kind = Kind::kLiteral;
    o.literal = std::move(l);
    return o;
  }
};

// A tensor of the weight file.
struct Stored {
  std::string role;  // the attribute: "weight"
  Tensor value;
  bool trainable = true;
};

struct Region;

struct Unit {
  enum class Kind : uint8_t { kLayer, kParameter, kCall, kBranch, kLoop };
  Kind kind = Kind::kCall;
  Path path;
  std::string attr;                // the wish for a name
  std::string callee;              // "nn.Conv2d", "ops.reshape", or an operator "+"
  std::vector<Literal> made_with;  // of a layer
  std::vector<Stored> stored;      // of a layer or a parameter
  std::vector<Operand> operands;
  std::vector<ValueId> results;  // -1: a result that nobody uses
  std::vector<bool> tuple_tail;
  bool takes_first_of_tuple = false;
  std::vector<std::shared_ptr<Region>> regions;  // branch: then, otherwise; loop: condition, body
  std::string from;                              // the nodes of the file, for the report
  bool internal = false;                         // an op that the package has no public name for
};

// The inside of a branch or of a loop: units over values of its own.
struct Region {
  std::vector<ValueId> params;
  std::vector<Unit> units;
  std::vector<ValueId> results;
};

struct Port {
  std::string name, type;
  ValueId value = -1;
};

struct Network {
  std::string name;
  std::vector<Port> inputs, outputs;
  std::vector<Unit> units;  // in order
  std::map<std::string, std::string>
      class_of_path;   // "encoder.layer.0" -> "BertLayer", where known
  ValueId values = 0;  // how many there are
};

}  // namespace mycel::interop::script
