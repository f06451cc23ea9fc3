// Linking an object into memory: RuntimeDyld, the linker beneath ORC, with one mapping per kernel,
// so that code and constants are near each other and the kernel can be freed as a whole.
#include <cmath>
#include <cstring>
#include <memory>

#include <llvm/ExecutionEngine/JITSymbol.h>
#include <llvm/ExecutionEngine/RTDyldMemoryManager.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/Memory.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loops/llvm/machine_code.h"

namespace mycel::loops {
namespace {

// The only functions a kernel may call. Prefixed ones are ours (no formula yet), plain ones come
// from LLVM for operations that the CPU lacks.
uint64_t address_of(llvm::StringRef name) {
  struct Entry {
    const char* name;
    void* address;
  };
#define MYCEL_F64_1(f) {"mycel_" #f, reinterpret_cast<void*>(static_cast<double (*)(double)>(::f))}
#define MYCEL_F64_2(f) \
  {"mycel_" #f, reinterpret_cast<void*>(static_cast<double (*)(double, double)>(::f))}
#define MYCEL_LIBM_1(name)                                                   \
  {#name, reinterpret_cast<void*>(static_cast<double (*)(double)>(::name))}, \
      {#name "f", reinterpret_cast<void*>(static_cast<float (*)(float)>(::name##f))}
#define MYCEL_LIBM_2(name)                                                              \
  {#name, reinterpret_cast<void*>(static_cast<double (*)(double, double)>(::name))}, {  \
    #name "f", reinterpret_cast<void*>(static_cast<float (*)(float, float)>(::name##f)) \
  }
  static const Entry kTable[] = {
      MYCEL_F64_1(exp),
      MYCEL_F64_1(exp2),
      MYCEL_F64_1(expm1),
      MYCEL_F64_1(log),
      MYCEL_F64_1(log2),
      MYCEL_F64_1(log10),
      MYCEL_F64_1(log1p),
      MYCEL_F64_1(sin),
      MYCEL_F64_1(cos),
      MYCEL_F64_1(tan),
      MYCEL_F64_1(asin),
      MYCEL_F64_1(acos),
      MYCEL_F64_1(atan),
      MYCEL_F64_1(sinh),
      MYCEL_F64_1(cosh),
      MYCEL_F64_1(tanh),
      MYCEL_F64_1(asinh),
      MYCEL_F64_1(acosh),
      MYCEL_F64_1(atanh),
      MYCEL_F64_1(erf),
      MYCEL_F64_1(erfc),
      MYCEL_F64_1(lgamma),
      MYCEL_F64_2(pow),
      MYCEL_F64_2(atan2),
      MYCEL_LIBM_1(floor),
      MYCEL_LIBM_1(ceil),
      MYCEL_LIBM_1(trunc),
      MYCEL_LIBM_1(rint),
      MYCEL_LIBM_2(fmod),
      {"fma", reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(::fma))},
      {"fmaf", reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(::fmaf))},
      // What LLVM calls for a single maximum where the machine has no instruction of that meaning.
      MYCEL_LIBM_2(fmax),
      MYCEL_LIBM_2(fmin),
      {"memset", reinterpret_cast<void*>(::memset)},
      {"memcpy", reinterpret_cast<void*>(::memcpy)},
  };
#undef MYCEL_F64_1
#undef MYCEL_F64_2
#undef MYCEL_LIBM_1
#undef MYCEL_LIBM_2
  for (const Entry& e : kTable) {
    if (name == e.name) return reinterpret_cast<uint64_t>(e.address);
  }
  return 0;
}

// Code, then constants, then data in one mapping; pages are filled in order.
class KernelMemory : public llvm::RTDyldMemoryManager {
 public:
  ~KernelMemory() override {
    if (base_) munmap(base_, size_);
  }
  size_t size() const { return size_; }

  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t code, llvm::Align, uintptr_t constants, llvm::Align,
                              uintptr_t data, llvm::Align) override {
    const size_t page = sysconf(_SC_PAGESIZE);
    auto pages = [&](size_t bytes) { return (bytes + kSlack + page - 1) / page * page; };
    code_bytes_ = pages(code);
    size_ = code_bytes_ + pages(constants) + pages(data);
    void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return;
    base_ = static_cast<uint8_t*>(mapped);
    at_[0] = 0;
    at_[1] = code_bytes_;
    at_[2] = code_bytes_ + pages(constants);
    end_[0] = at_[1];
    end_[1] = at_[2];
    end_[2] = size_;
  }
  uint8_t* allocateCodeSection(uintptr_t size, unsigned align, unsigned, llvm::StringRef) override {
    return take(0, size, align);
  }
  uint8_t* allocateDataSection(uintptr_t size, unsigned align, unsigned, llvm::StringRef,
                               bool read_only) override {
    return take(read_only ? 1 : 2, size, align);
  }
  bool finalizeMemory(std::string*) override {
    if (!base_ || mprotect(base_, code_bytes_, PROT_READ | PROT_EXEC) != 0) return true;
    llvm::sys::Memory::InvalidateInstructionCache(base_, code_bytes_);
    return false;
  }
  void registerEHFrames(uint8_t*, uint64_t, size_t) override {}
  void deregisterEHFrames() override {}
  llvm::JITSymbol findSymbol(const std::string& name) override {
    return llvm::JITSymbol(address_of(name), llvm::JITSymbolFlags::Exported);
  }

 private:
  static constexpr size_t kSlack = 256;  // alignment between sections
  uint8_t* take(int part, size_t size, size_t align) {
    align = std::max<size_t>(align, 1);
    at_[part] = (at_[part] + align - 1) / align * align;
    if (!base_ || at_[part] + size > end_[part]) return nullptr;
    uint8_t* result = base_ + at_[part];
    at_[part] += size;
    return result;
  }
  uint8_t* base_ = nullptr;
  size_t size_ = 0, code_bytes_ = 0, at_[3] = {}, end_[3] = {};
};

}  // namespace

bool load_object(const std::string& object, size_t stages, LoadedObject* out) {
  auto parsed = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return false;
  }
  auto memory = std::make_shared<KernelMemory>();
  llvm::RuntimeDyld linker(*memory, *memory);
  linker.loadObject(**parsed);
  if (linker.hasError()) return false;
  linker.resolveRelocations();
  if (linker.hasError() || memory->finalizeMemory(nullptr)) return false;
  out->stages.clear();
  for (size_t i = 0; i < stages; ++i) {
    const auto symbol = linker.getSymbol("stage" + std::to_string(i));
    if (!symbol) return false;
    out->stages.push_back(reinterpret_cast<StageFn>(symbol.getAddress()));
  }
  out->bytes = memory->size();
  out->memory = memory;
  return true;
}

}  // namespace mycel::loops
