#include "lite/codegen/c_network.h"

#include <cctype>

#include <fmt/format.h>

#include "lite/codegen/c_text.h"
#include "loops/emit_c.h"

namespace mycel::lite {
namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string input_name(const Network& n, size_t i) {
  const std::string given = i < n.input_names.size() ? n.input_names[i] : "";
  return given.empty() ? fmt::format("input{}", i) : "in_" + c_identifier(given);
}

std::string signature(const Network& n, const std::string& name) {
  std::string args;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    args += fmt::format("{}const {}* {}", args.empty() ? "" : ", ", c_element(n.inputs[i].dtype),
                        input_name(n, i));
  }
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    args +=
        fmt::format("{}{}* output{}", args.empty() ? "" : ", ", c_element(n.outputs[i].dtype), i);
  }
  return fmt::format("void {}_run({})", name, args.empty() ? "void" : args);
}

std::string address(const Network& n, const std::string& name, const Place& p) {
  switch (p.kind) {
    case Place::kInput:
      return fmt::format("(void*){}", input_name(n, p.index));
    case Place::kOutput:
      return fmt::format("output{}", p.index);
    case Place::kConstant:
      return fmt::format("(void*){}_constant{}", name, p.index);
    default:
      return fmt::format("{}_arena.bytes + {}", name, p.index);
  }
}

const char* about(const Network& n) {
  return n.arena_bytes > 0 ? "" : " (none: no step keeps anything)";
}

}  // namespace

std::string c_header(const Network& n, const std::string& name) {
  std::string guard = upper(name) + "_H", text;
  text += fmt::format(
      "/* A network as C99, written by `mycel codegen`. */\n#ifndef {0}\n#define {0}\n\n"
      "#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
      guard);
  text += fmt::format(
      "/* Static memory for what lies between the steps{}. */\n"
      "#define {}_ARENA_BYTES {}\n\n/* Elements. */\n",
      about(n), upper(name), n.arena_bytes);
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    text += fmt::format("#define {}_{}_SIZE {} /* {} */\n", upper(name), upper(input_name(n, i)),
                        c_count(n.inputs[i].dtype, n.inputs[i].shape), n.inputs[i].str());
  }
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    text += fmt::format("#define {}_OUTPUT{}_SIZE {} /* {} */\n", upper(name), i,
                        c_count(n.outputs[i].dtype, n.outputs[i].shape), n.outputs[i].str());
  }
  return text + fmt::format(
                    "\n/* Inputs are read, outputs written; they must not overlap. One call at a "
                    "time: the arena is\n   shared. */\n{};\n\n#ifdef __cplusplus\n}}\n#endif\n\n"
                    "#endif\n",
                    signature(n, name));
}

std::string c_kernels(const Network& n, const std::string& name, bool narrow) {
  std::string helpers, functions;
  for (size_t k = 0; k < n.nests.size(); ++k) {
    const auto f = loops::emit_c_function(n.nests[k], fmt::format("{}_kernel{}", name, k),
                                          narrow && loops::fits_32_bits(n.nests[k]));
    helpers += f.helpers;
    functions += "\n" + f.text;
  }
  return "/* Written by `mycel codegen`. */\n#include <math.h>\n#include <stdint.h>\n\n" + helpers +
         functions;
}

std::string c_weights(const Network& n, const std::string& name) {
  std::string text = "/* Written by `mycel codegen`. */\n#include <math.h>\n#include <stdint.h>\n";
  for (size_t i = 0; i < n.constants.size(); ++i) {
    text += fmt::format("\n/* {} */\n", n.constants[i].describe());
    text += c_array(fmt::format("{}_constant{}", name, i), n.constants[i]);
  }
  return text;
}

std::string c_source(const Network& n, const std::string& name) {
  std::string text = fmt::format(
      "/* Written by `mycel codegen`. */\n#include \"{0}.h\"\n\n#include <string.h>\n\n"
      "#include \"{0}_kernels.h\"\n#include \"{0}_weights.h\"\n\n",
      name);
  if (n.arena_bytes > 0) {
    text += fmt::format(
        "static union {{\n  double aligned;\n  int64_t words;\n  unsigned char "
        "bytes[{}_ARENA_BYTES];\n}} {}_arena;\n\n",
        upper(name), name);
  }
  text += signature(n, name) + " {\n";
  for (const Step& s : n.steps) {
    text += fmt::format("  /* {}{}{} */\n", s.op, s.source.empty() ? "" : ", ", s.source);
    if (s.nest < 0) {
      text += fmt::format("  memcpy({}, {}, {});\n", address(n, name, s.places[1]),
                          address(n, name, s.places[0]), s.bytes);
      continue;
    }
    std::string list;
    for (const Place& p : s.places) {
      list += (list.empty() ? "" : ", ") + address(n, name, p);
    }
    text +=
        fmt::format("  {{\n    void* const buffers[] = {{{}}};\n    {}_kernel{}(buffers);\n  }}\n",
                    list, name, s.nest);
  }
  return text + "}\n";
}

std::string c_check(const Network& n, const Tensors& inputs, const Tensors& results) {
  std::string text =
      "/* Inputs, and what Mycel computed from them. */\n#include <math.h>\n#include <stdint.h>\n";
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    text += "\n" + c_array(fmt::format("check_input{}", i), inputs[i]);
  }
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    text += "\n" + c_array(fmt::format("check_output{}", i), results[i]);
    text += fmt::format("static {} output{}[{}];\n", c_element(n.outputs[i].dtype), i,
                        c_count(n.outputs[i].dtype, n.outputs[i].shape));
  }
  return text;
}

std::string c_main(const Network& n, const CProject& p) {
  const bool bare = p.target == CTarget::kCortexM;
  std::string call, measure, compare;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    call += fmt::format("{}check_input{}", call.empty() ? "" : ", ", i);
  }
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    call += fmt::format("{}output{}", call.empty() ? "" : ", ", i);
    const DType t = n.outputs[i].dtype;
    const int64_t count = n.outputs[i].shape.size() * (is_complex(t) ? 2 : 1);
    const bool real = is_complex(t) || t == DType::kFloat32 || t == DType::kFloat64;
    if (real) {
      measure +=
          fmt::format("  for (long i = 0; i < {1}; ++i) measure(check_output{0}[i]);\n", i, count);
      compare += fmt::format(
          "  for (long i = 0; i < {1}; ++i) compare(output{0}[i], check_output{0}[i]);\n", i,
          count);
    } else {
      compare += fmt::format("  different += memcmp(output{0}, check_output{0}, {1}) != 0;\n", i,
                             static_cast<size_t>(n.outputs[i].shape.size()) * size_of(t));
    }
  }
  std::string text =
      "/* Runs the network on inputs whose results are known, and measures it. Written by\n   "
      "`mycel codegen`. */\n";
  if (!bare) text += "#define _POSIX_C_SOURCE 199309L\n";
  text += fmt::format(
      "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n{0}\n#include "
      "\"{1}.h\"\n#include \"{1}_check.h\"\n\n",
      bare ? "" : "#include <time.h>\n", p.name);
  text += R"(static double worst = 0, largest = 0;
static int different = 0;

static void compare(double got, double want) {
  if (got == want || (got != got && want != want)) return;
  const double off = fabs(got - want);
  if (!(off <= worst)) worst = off; /* a NaN too */
}
static void measure(double v) {
  if (fabs(v) > largest && !isinf(v)) largest = fabs(v);
}
)";
  if (bare) {
    text += R"(
/* The board's SysTick counts at 25 MHz. QEMU with -icount shift=0 gives an instruction a nanosecond,
   so that a tick is 40 instructions. */
#define SYSTICK ((volatile uint32_t*)0xe000e010)
static void start(void) {
  SYSTICK[1] = 0xffffff;
  SYSTICK[2] = 0;
  SYSTICK[0] = 5;
}
static unsigned long ticks(void) { return 0xffffff - SYSTICK[2]; }
)";
  } else {
    text += R"(
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
)";
  }
  text += "\nint main(void) {\n";
  if (bare) {
    text += fmt::format("  start();\n  {}_run({});\n  const unsigned long took = ticks();\n",
                        p.name, call);
  } else {
    text += fmt::format(R"(  double best = 1e30;
  for (int i = 0; i < 5; ++i) {{
    const double begin = now();
    {}_run({});
    const double took = now() - begin;
    if (took < best) best = took;
  }}
)",
                        p.name, call);
  }
  text += measure + compare;
  text += fmt::format("  const int good = !different && worst <= {:a} * largest;\n", p.tolerance);
  text += bare ? "  printf(\"%s: difference %g, instructions %lu\\n\", good ? \"passed\" : "
                 "\"failed\", worst, 40 * took);\n"
               : "  printf(\"%s: difference %g, %.1f us a run\\n\", good ? \"passed\" : "
                 "\"failed\", worst, 1e6 * best);\n";
  return text + "  exit(good ? 0 : 1);\n}\n";
}

}  // namespace mycel::lite
