// What MYCEL_LOG=compile says: one line per compiled program, with the reason and the time spent.
//   compile: net: program 2: argument 'x' has another shape: [4, 3] instead of [2, 3]; trace 0.004
//   s, passes 0.001 s, kernels 0.020 s
// Both front ends describe what a program holds for; the words are found here.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace mycel::runtime {

// What a program holds for, part by part. Parts of one name are compared.
struct Signature {
  enum class Kind {
    kTensor,     // text: its type, "float32[2, 3]"
    kValue,      // text: a Python value
    kStructure,  // text: how tuples, lists and dicts are nested
    kMode,       // text: "training", …
  };
  struct Part {
    std::string name;  // "argument 'x'"
    Kind kind = Kind::kValue;
    std::string text;
  };
  std::vector<Part> parts;
};

// Why a program for `now` is compiled when programs for `before` are there: what differs from the
// one most alike, the later one of several. "first call" when there is none, "" when nothing
// differs.
std::string reason_to_compile(const Signature& now, std::span<const Signature> before);

struct CompileReport {
  std::string name, reason;
  size_t number = 0;  // of the program, from 1
  double trace_seconds = 0, passes_seconds = 0, kernels_seconds = 0;
  bool written = true;  // nothing to say

  std::string str() const;
  void write();  // once, to the channel "compile"
};

}  // namespace mycel::runtime
