#include "lite/codegen/c_project.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"
#include "lite/codegen/boards.h"
#include "lite/codegen/c_network.h"
#include "lite/codegen/c_text.h"

namespace mycel::lite {
namespace {

struct TargetFacts {
  const char* name;
  CTarget target;
  bool narrow;           // 32-bit indices are faster
  const char* compiler;  // by default
  const char* flags;
};
// Without contraction of products and sums all targets give the same bits; a microcontroller gives
// them up for a quarter fewer instructions.
constexpr TargetFacts kTargets[] = {
    {"x86", CTarget::kX86, false, "cc", "-ffp-contract=off -march=native"},
    {"arm64", CTarget::kArm64, false, "aarch64-linux-gnu-gcc", "-ffp-contract=off"},
    {"arm32a", CTarget::kArm32, true, "arm-linux-gnueabihf-gcc",
     "-ffp-contract=off -mfpu=neon-vfpv4"},
    {"cortex-m", CTarget::kCortexM, true, "arm-none-eabi-gcc",
     "-ffp-contract=fast -mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard"},
};

const TargetFacts& facts_of(CTarget target) {
  for (const TargetFacts& t : kTargets) {
    if (t.target == target) return t;
  }
  MYCEL_CHECK(false, "unknown target {}", static_cast<int>(target));
}

std::string makefile(const CProject& p, const TargetFacts& t) {
  const bool bare = p.target == CTarget::kCortexM;
  std::string text = fmt::format(
      "# make builds and runs the check of {0}: `make`, `make run`.\n"
      "CC = {1}\nCFLAGS = -std=c99 -O3 {2}\nHEADERS = {0}.h {0}_kernels.h "
      "{0}_weights.h {0}_check.h\n",
      p.name, t.compiler, t.flags);
  if (bare) {
    text += fmt::format(
        "BOARD = mps2-an500\n\n{0}: main.c {0}.c startup.c $(HEADERS) memory.ld\n"
        "\t$(CC) $(CFLAGS) -nostartfiles --specs=rdimon.specs -T memory.ld -o $@ "
        "main.c {0}.c startup.c -lm\n\n",
        p.name);
    text += fmt::format(
        "run: {0}\n\tqemu-system-arm -M $(BOARD) -icount shift=0 -nographic -monitor "
        "none -semihosting -kernel $<\n",
        p.name);
  } else {
    text += fmt::format(
        "RUN =\n\n{0}: main.c {0}.c $(HEADERS)\n\t$(CC) $(CFLAGS) -o $@ main.c {0}.c -lm\n\n"
        "run: {0}\n\t$(RUN) ./{0}\n",
        p.name);
  }
  return text + fmt::format("\nclean:\n\trm -f {0}\n.PHONY: run clean\n", p.name);
}

std::string cmake_lists(const CProject& p) {
  return fmt::format(
      "cmake_minimum_required(VERSION 3.16)\nproject({0} C)\nset(CMAKE_C_STANDARD 99)\n"
      "if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE Release)\nendif()\n\n"
      "# Link this into a program of your own.\nadd_library({0} STATIC {0}.c)\n"
      "target_compile_options({0} PRIVATE -ffp-contract=off)\n"
      "target_include_directories({0} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})\n"
      "target_link_libraries({0} PUBLIC m)\n\n"
      "add_executable({0}_check main.c)\ntarget_link_libraries({0}_check PRIVATE {0})\n",
      p.name);
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) fail(ErrorKind::kOs, "cannot write '{}'", path.string());
}

}  // namespace

CTarget target_named(const std::string& name) {
  std::string all;
  for (const TargetFacts& t : kTargets) {
    if (name == t.name) return t.target;
    all += (all.empty() ? "" : ", ") + std::string(t.name);
  }
  value_error("there is no target '{}'; targets: {}", name, all);
}

CSizes write_c_project(const Network& n, const Tensors& inputs, const Tensors& results,
                       const CProject& project, const std::string& folder) {
  if (c_identifier(project.name) != project.name) {
    value_error("the name of a C network must be an identifier, got '{}'", project.name);
  }
  MYCEL_CHECK(inputs.size() == n.inputs.size() && results.size() == n.outputs.size(),
              "the check has {} inputs and {} results", inputs.size(), results.size());
  namespace fs = std::filesystem;
  const fs::path to(folder);
  std::error_code error;
  fs::create_directories(to, error);
  if (error) fail(ErrorKind::kOs, "cannot make the folder '{}': {}", folder, error.message());
  const TargetFacts& t = facts_of(project.target);
  const std::string& name = project.name;
  write(to / (name + ".h"), c_header(n, name));
  write(to / (name + ".c"), c_source(n, name));
  write(to / (name + "_kernels.h"), c_kernels(n, name, t.narrow));
  write(to / (name + "_weights.h"), c_weights(n, name));
  write(to / (name + "_check.h"), c_check(n, inputs, results));
  write(to / "main.c", c_main(n, project));
  write(to / "Makefile", makefile(project, t));
  if (project.target == CTarget::kCortexM) {
    write(to / "startup.c", board_startup());
    write(to / "memory.ld", board_memory());
  } else {
    write(to / "CMakeLists.txt", cmake_lists(project));
  }
  CSizes sizes;
  for (const Tensor& c : n.constants) sizes.constant_bytes += c.bytes();
  sizes.arena_bytes = n.arena_bytes;
  sizes.functions = n.nests.size();
  sizes.steps = n.steps.size();
  return sizes;
}

}  // namespace mycel::lite
