#include <cstdlib>
#include <mutex>

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

#include "base/error.h"
#include "loops/dump.h"
#include "loops/expr.h"
#include "loops/llvm/lower.h"
#include "loops/llvm/machine_code.h"

namespace mycel::loops {
namespace {

struct Machine {
  std::string triple, cpu, features, key;
};

// The CPU of the host, or the one that MYCEL_CPU names (then without the host's features).
const Machine& machine() {
  static const Machine chosen = [] {
    Machine m;
    m.triple = llvm::sys::getDefaultTargetTriple();
    const char* wanted = std::getenv("MYCEL_CPU");
    if (wanted && *wanted && std::string(wanted) != "native") {
      m.cpu = wanted;
    } else {
      m.cpu = llvm::sys::getHostCPUName().str();
      for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
        m.features += (m.features.empty() ? "" : ",") +
                      std::string(feature.getValue() ? "+" : "-") + feature.getKey().str();
      }
    }
    m.key =
        std::string("llvm " LLVM_VERSION_STRING " ") + m.triple + " " + m.cpu + " " + m.features;
    return m;
  }();
  return chosen;
}

// One per compiling thread: making one costs about as much as a small kernel.
llvm::TargetMachine& target() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // Loop strength reduction takes a third to a half of the code generator's time and gains
    // nothing measurable on our loops, whose addresses fit x86's and ARM's addressing modes as they
    // are.
    auto& options = llvm::cl::getRegisteredOptions();
    if (auto found = options.find("disable-lsr"); found != options.end()) {
      static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(true);
    }
  });
  thread_local std::unique_ptr<llvm::TargetMachine> mine = [] {
    std::string error;
    const llvm::Target* t = llvm::TargetRegistry::lookupTarget(machine().triple, error);
    MYCEL_CHECK(t, "LLVM has no target {}: {}", machine().triple, error);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // only what a formula asks for
    return std::unique_ptr<llvm::TargetMachine>(t->createTargetMachine(
        machine().triple, machine().cpu, machine().features, options, llvm::Reloc::PIC_,
        llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  }();
  MYCEL_CHECK(mine, "LLVM cannot make code for {}", machine().cpu);
  return *mine;
}

MachineTraits traits_of(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
  MachineTraits traits;
  if (machine.getTargetTriple().isX86()) {
    traits.fma = info.checkFeatures("+fma");
    traits.f16c = info.checkFeatures("+f16c");
    traits.avx512 = info.checkFeatures("+avx512f,+avx512dq,+avx512vl");
  } else if (machine.getTargetTriple().isAArch64()) {
    traits.fma = traits.f16c = true;
  }
  return traits;
}

bool has_branch(const Stmt* s) {
  for (; s; s = s->next) {
    if (s->kind == Stmt::kIf || has_branch(s->body)) return true;
  }
  return false;
}

// Formulas are bound by arithmetic, where 512-bit vectors win 25 to 30 %; plain sums and copies are
// bound by memory, where they only cost compile time.
bool has_function(const Stmt* s) {
  for (; s; s = s->next) {
    if (s->kind == Stmt::kLet && is_function(s->a->op)) return true;
    if (has_function(s->body) || has_function(s->other)) return true;
  }
  return false;
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine, bool branches) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  llvm::PassBuilder builder(&machine, tuning);
  // No C library function may be recognised or introduced.
  functions.registerPass([] {
    llvm::TargetLibraryInfoImpl none;
    none.disableAllFunctions();
    return llvm::TargetLibraryAnalysis(none);
  });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);

  llvm::FunctionPassManager passes;
  auto licm = [&] {
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                         /*UseMemorySSA=*/true));
  };
  passes.addPass(llvm::PromotePass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  if (branches)
    passes.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().speculateBlocks(true)));
  passes.addPass(llvm::InstCombinePass());
  licm();
  passes.addPass(llvm::LoopVectorizePass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  licm();
  for (llvm::Function& f : module) {
    if (!f.isDeclaration()) passes.run(f, functions);
  }
}

std::string emit(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  const bool refused =
      machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true);
  MYCEL_CHECK(!refused, "LLVM cannot write object files for {}", module.getTargetTriple());
  passes.run(module);
  return {bytes.begin(), bytes.end()};
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

}  // namespace

const std::string& machine_key() { return machine().key; }

std::string compile_object(const Nest& nest) {
  llvm::TargetMachine& made_for = target();
  llvm::LLVMContext context;
  context.setDiscardValueNames(true);
  // Remarks (a loop that could not be vectorised) are for people who read dumps, not for stderr.
  context.setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo*, void*) {}, nullptr);
  llvm::Module module(nest.name(), context);
  module.setTargetTriple(machine().triple);
  module.setDataLayout(made_for.createDataLayout());
  const MachineTraits traits = traits_of(made_for);
  lower(nest, traits, module);
  bool branches = false, wide = false;
  for (const Nest::Stage& stage : nest.stages()) {
    branches |= has_branch(stage.body);
    wide |= traits.avx512 && has_function(stage.body);
  }
  for (llvm::Function& f : module) {
    f.addFnAttr("target-cpu", machine().cpu);
    f.addFnAttr("target-features", machine().features);
    if (wide) f.addFnAttr("prefer-vector-width", "512");
  }
  Dump dump(nest);
  if (dump) dump.write(".ll", text_of(module));
#ifndef NDEBUG
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  MYCEL_CHECK(!llvm::verifyModule(module, &stream), "{}: {}", nest.name(), complaint);
#endif
  optimise(module, made_for, branches);
  if (dump) {
    dump.write(".opt.ll", text_of(module));
    dump.write(".s",
               emit(*llvm::CloneModule(module), made_for, llvm::CodeGenFileType::AssemblyFile));
  }
  return emit(module, made_for, llvm::CodeGenFileType::ObjectFile);
}

}  // namespace mycel::loops
