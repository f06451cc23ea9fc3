#include "tensor/dlpack.h"

#include <cstddef>
#include <cstring>

#include "base/error.h"

namespace mycel::dlpack {
namespace {

static_assert(sizeof(View) == 48 && offsetof(View, shape) == 24);
static_assert(sizeof(Managed) == 64 && sizeof(ManagedVersioned) == 80);
static_assert(offsetof(ManagedVersioned, view) == 32);

constexpr int32_t kCpu = 1;
constexpr Version kOurVersion = {1, 0};

DataType type_of(DType t) {
  const auto bits = static_cast<uint8_t>(size_of(t) * 8);
  if (is_bool(t)) return {kBool, bits, 1};
  if (is_signed_int(t)) return {kInt, bits, 1};
  if (is_unsigned_int(t)) return {kUInt, bits, 1};
  if (t == DType::kBFloat16) return {kBfloat, bits, 1};
  return {is_complex(t) ? kComplex : kFloat, bits, 1};
}

DType dtype_of_type(DataType d) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    const DataType mine = type_of(t);
    if (mine.code == d.code && mine.bits == d.bits && d.lanes == 1) return t;
  }
  type_error("from_dlpack: elements of type code {} with {} bits and {} lanes are not supported",
             d.code, d.bits, d.lanes);
}

const char* device_name(int32_t type) {
  switch (type) {
    case 2:
      return "CUDA";
    case 3:
      return "CUDA host";
    case 4:
      return "OpenCL";
    case 7:
      return "Vulkan";
    case 8:
      return "Metal";
    case 10:
      return "ROCm";
    case 13:
      return "CUDA managed";
    case 14:
      return "oneAPI";
    default:
      return "another";
  }
}

// An exported tensor with what its struct points to.
template <typename M>
struct Exported {
  M managed{};
  Tensor tensor;
  int64_t shape[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};
};

template <typename M>
M* exported(const Tensor& t) {
  auto* e = new Exported<M>;
  e->tensor = t;
  int64_t stride = 1;
  for (int d = t.rank() - 1; d >= 0; --d) {
    e->shape[d] = t.dim(d);
    e->strides[d] = stride;
    if (t.dim(d) > 0) stride *= t.dim(d);
  }
  e->managed.view = {.data = t.size() > 0 ? t.mutable_raw() : nullptr,
                     .device = {kCpu, 0},
                     .ndim = t.rank(),
                     .dtype = type_of(t.dtype()),
                     .shape = e->shape,
                     .strides = e->strides,
                     .byte_offset = 0};
  e->managed.context = e;
  e->managed.deleter = [](M* m) { delete static_cast<Exported<M>*>(m->context); };
  return &e->managed;
}

void check_exportable(const Tensor& t) {
  if (!t || !t.concrete()) value_error("to_dlpack: {} has no values to share", t.describe());
}

// Whether the elements lie row after row without gaps.
bool row_major(const View& v) {
  if (!v.strides) return true;
  int64_t want = 1;
  for (int d = v.ndim - 1; d >= 0; --d) {
    if (v.shape[d] != 1 && v.strides[d] != want) return false;
    want *= v.shape[d];
  }
  return true;
}

// Copies the sub-array at `from` of the dims from `d` on; returns the end of what was written.
char* gather(const View& v, int d, const char* from, size_t element, char* to) {
  if (d == v.ndim) {
    std::memcpy(to, from, element);
    return to + element;
  }
  const int64_t step = v.strides[d] * static_cast<int64_t>(element);
  if (d == v.ndim - 1 && v.strides[d] == 1) {
    const size_t bytes = static_cast<size_t>(v.shape[d]) * element;
    std::memcpy(to, from, bytes);
    return to + bytes;
  }
  for (int64_t i = 0; i < v.shape[d]; ++i) to = gather(v, d + 1, from + i * step, element, to);
  return to;
}

Shape checked_shape(const View& v) {
  if (v.device.type != kCpu) {
    value_error(
        "from_dlpack: the tensor is on device {} ({}); only CPU memory (device 1) can be shared",
        v.device.type, device_name(v.device.type));
  }
  if (v.ndim < 0 || v.ndim > kMaxRank) {
    value_error("from_dlpack: the tensor has {} dims; 0 to {} are supported", v.ndim, kMaxRank);
  }
  if (v.ndim > 0 && !v.shape) value_error("from_dlpack: the tensor has no shape");
  Shape shape;
  for (int d = 0; d < v.ndim; ++d) {
    if (v.shape[d] < 0) value_error("from_dlpack: dim {} has extent {}", d, v.shape[d]);
    shape.push_back(v.shape[d]);
  }
  if (shape.size() > 0 && !v.data) value_error("from_dlpack: the tensor has no memory");
  return shape;
}

template <typename M>
Tensor imported(M* m) {
  const View& v = m->view;
  const DType dtype = dtype_of_type(v.dtype);
  const Shape shape = checked_shape(v);
  char* first = static_cast<char*>(v.data) + (v.data ? v.byte_offset : 0);
  const auto release = [m] {
    if (m->deleter) m->deleter(m);
  };
  const size_t alignment = size_of(real_part_of(dtype));
  const bool aligned = reinterpret_cast<uintptr_t>(first) % alignment == 0;
  if (shape.size() == 0 || (row_major(v) && aligned)) {
    return Tensor::wrap(first, dtype, shape, release);
  }
  Tensor copy = Tensor::empty(dtype, shape);
  if (v.strides)
    gather(v, 0, first, size_of(dtype), static_cast<char*>(copy.mutable_raw()));
  else
    std::memcpy(copy.mutable_raw(), first, copy.bytes());
  release();
  return copy;
}

}  // namespace

Managed* export_tensor(const Tensor& t) {
  check_exportable(t);
  return exported<Managed>(t);
}

ManagedVersioned* export_versioned(const Tensor& t) {
  check_exportable(t);
  auto* m = exported<ManagedVersioned>(t);
  m->version = kOurVersion;
  m->flags = kReadOnly;
  return m;
}

Tensor import_tensor(Managed* m) { return imported(m); }

Tensor import_tensor(ManagedVersioned* m) {
  // A new major version may move the fields behind the deleter.
  if (m->version.major != kOurVersion.major) {
    value_error("from_dlpack: the struct has version {}.{}; version 1 is supported",
                m->version.major, m->version.minor);
  }
  return imported(m);
}

}  // namespace mycel::dlpack
