// Included before every record file when the Lite library is built: what a device never asks of an
// op (documentation, gradients, sharding, test cases, published names) is dropped from its record,
// so that the linker drops the code behind it. With MYCEL_LITE_OPS_FILE only the ops it names are
// kept at all: constexpr std::string_view kLiteOps[].
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "ir/op.h"
#include "ir/op_def.h"
#ifdef MYCEL_LITE_OPS_FILE
#include MYCEL_LITE_OPS_FILE
#endif

namespace mycel::ir {

consteval bool lite_keeps([[maybe_unused]] std::string_view name) {
#ifdef MYCEL_LITE_OPS_FILE
  for (std::string_view n : kLiteOps) {
    if (n == name) return true;
  }
  return false;
#else
  return true;
#endif
}

consteval OpDef lean(OpDef d) {
  d.doc = d.shard = d.moves = d.cases = d.onnx = d.primitive = d.method = d.alias = "";
  d.grad = {};
  d.batch = nullptr;
  const bool runs = d.loops || d.scalar.set() || d.view || d.control || (!d.expand && d.type);
  // An expansion serves to find the type of a composite op that has loops but no type rule.
  if (d.type || !runs) d.expand = nullptr;
  if (!runs || !lite_keeps(d.name)) {
    d.type = nullptr, d.loops = nullptr, d.expand = nullptr;
    d.scalar = {};
    d.in = {};
    d.attr = {};
    d.out = {};
  }
  return d;
}

// What keeps a record in the library: a rule of any kind.
constexpr bool lite_record(const OpDef& d) { return d.type || d.expand; }

}  // namespace mycel::ir

namespace mycel::ops {
using ir::lean;
}

#define check(...) lean(::mycel::ir::check(__VA_ARGS__))
