// DLPack (https://dmlc.github.io/dlpack): tensors shared with NumPy, PyTorch, JAX and others
// without a copy. The structs below are our own statement of the published binary layout, both the
// one before version 1 and the versioned one; the Python glue puts pointers to them into capsules.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace mycel::dlpack {

struct Device {
  int32_t type;  // 1: CPU
  int32_t id;
};

enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct View {  // DLTensor
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null for row-major
  uint64_t byte_offset;
};

struct Managed {  // DLManagedTensor
  View view;
  void* context;
  void (*deleter)(Managed*);
};

struct Version {
  uint32_t major;
  uint32_t minor;
};

struct ManagedVersioned {  // DLManagedTensorVersioned
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  View view;
};
constexpr uint64_t kReadOnly = 1;  // in flags

// Shares a concrete tensor's memory; it lives until the receiver calls the deleter. The versioned
// form is marked read-only, because tensors are values that others may share.
Managed* export_tensor(const Tensor& t);
ManagedVersioned* export_versioned(const Tensor& t);

// Takes over what another library exported: without a copy when it is row-major and aligned to its
// elements, else with one. The deleter runs when the last tensor over the memory goes. On UserError
// (another device, an element type or rank that Mycel lacks, a malformed struct) the caller keeps
// it.
Tensor import_tensor(Managed* m);
Tensor import_tensor(ManagedVersioned* m);

}  // namespace mycel::dlpack
