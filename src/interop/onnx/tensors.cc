#include "interop/onnx/tensors.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "interop/onnx/external_data.h"

namespace mycel::interop::onnx {
namespace {

struct Code {
  const char* name;
  bool known;
  DType dtype;
};

constexpr std::array<Code, 29> kCodes = {{
    {"UNDEFINED", false, {}},
    {"FLOAT", true, DType::kFloat32},
    {"UINT8", true, DType::kUInt8},
    {"INT8", true, DType::kInt8},
    {"UINT16", true, DType::kUInt16},
    {"INT16", true, DType::kInt16},
    {"INT32", true, DType::kInt32},
    {"INT64", true, DType::kInt64},
    {"STRING", false, {}},
    {"BOOL", true, DType::kBool},
    {"FLOAT16", true, DType::kFloat16},
    {"DOUBLE", true, DType::kFloat64},
    {"UINT32", true, DType::kUInt32},
    {"UINT64", true, DType::kUInt64},
    {"COMPLEX64", true, DType::kComplex64},
    {"COMPLEX128", true, DType::kComplex128},
    {"BFLOAT16", true, DType::kBFloat16},
    {"FLOAT8E4M3FN", false, {}},
    {"FLOAT8E4M3FNUZ", false, {}},
    {"FLOAT8E5M2", false, {}},
    {"FLOAT8E5M2FNUZ", false, {}},
    {"UINT4", false, {}},
    {"INT4", false, {}},
    {"FLOAT4E2M1", false, {}},
    {"FLOAT8E8M0", false, {}},
    {"UINT2", false, {}},
    {"INT2", false, {}},
    {"FLOAT6E2M3", false, {}},
    {"FLOAT6E3M2", false, {}},
}};

Shape shape_of(const pb::Tensor& t, const std::string& owner) {
  for (int64_t d : t.dims()) {
    if (d < 0) value_error("{}: a dim is {}", owner, d);
  }
  if (t.dims_size() > kMaxRank)
    value_error("{}: {} dims; at most {} are allowed", owner, t.dims_size(), kMaxRank);
  Shape shape(std::span<const int64_t>(t.dims().data(), static_cast<size_t>(t.dims_size())));
  (void)shape.size();  // refuses what overflows
  return shape;
}

void expect(int64_t have, int64_t want, const char* what, const std::string& owner) {
  if (have != want)
    value_error("{}: its shape needs {} elements, the file has {} in {}", owner, want, have, what);
}

// Elements kept as numbers of a wider type, one each.
template <typename To, typename Field>
void narrow(const Field& from, Tensor& to) {
  auto out = to.mutable_data<To>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<To>(from.Get(static_cast<int>(i)));
}

template <typename Field>
void raw_copy(const Field& from, Tensor& to) {
  if (to.bytes()) std::memcpy(to.mutable_raw(), from.data(), to.bytes());
}

Tensor from_int32(const pb::Tensor& t, DType d, const Shape& shape, const std::string& owner) {
  expect(t.int32_data_size(), shape.size(), "int32_data", owner);
  Tensor out = Tensor::empty(d, shape);
  const auto& from = t.int32_data();
  switch (d) {
    case DType::kBool:
      narrow<bool>(from, out);
      break;
    case DType::kInt8:
      narrow<int8_t>(from, out);
      break;
    case DType::kInt16:
      narrow<int16_t>(from, out);
      break;
    case DType::kInt32:
      narrow<int32_t>(from, out);
      break;
    case DType::kUInt8:
      narrow<uint8_t>(from, out);
      break;
    case DType::kUInt16:
      narrow<uint16_t>(from, out);
      break;
    default: {  // the bits of 16-bit floats
      auto* bits = static_cast<uint16_t*>(out.mutable_raw());
      for (int i = 0; i < from.size(); ++i) bits[i] = static_cast<uint16_t>(from.Get(i));
    }
  }
  return out;
}

Tensor from_fields(const pb::Tensor& t, DType d, const Shape& shape, const std::string& owner) {
  int64_t n = shape.size();
  switch (d) {
    case DType::kFloat32:
    case DType::kComplex64: {
      expect(t.float_data_size(), n * (is_complex(d) ? 2 : 1), "float_data", owner);
      Tensor out = Tensor::empty(d, shape);
      raw_copy(t.float_data(), out);
      return out;
    }
    case DType::kFloat64:
    case DType::kComplex128: {
      expect(t.double_data_size(), n * (is_complex(d) ? 2 : 1), "double_data", owner);
      Tensor out = Tensor::empty(d, shape);
      raw_copy(t.double_data(), out);
      return out;
    }
    case DType::kInt64: {
      expect(t.int64_data_size(), n, "int64_data", owner);
      Tensor out = Tensor::empty(d, shape);
      raw_copy(t.int64_data(), out);
      return out;
    }
    case DType::kUInt32:
    case DType::kUInt64: {
      expect(t.uint64_data_size(), n, "uint64_data", owner);
      Tensor out = Tensor::empty(d, shape);
      if (d == DType::kUInt32)
        narrow<uint32_t>(t.uint64_data(), out);
      else
        narrow<uint64_t>(t.uint64_data(), out);
      return out;
    }
    default:
      return from_int32(t, d, shape, owner);
  }
}

// Whatever is not zero is true; a byte that is neither 0 nor 1 would be no bool.
void tidy_bools(Tensor& t) {
  if (t.dtype() != DType::kBool) return;
  auto* bytes = static_cast<uint8_t*>(t.mutable_raw());
  for (int64_t i = 0; i < t.size(); ++i) bytes[i] = bytes[i] != 0;
}

Tensor from_bytes(std::string_view bytes, DType d, const Shape& shape, const char* what,
                  const std::string& owner) {
  int64_t item = static_cast<int64_t>(size_of(d));
  int64_t have = static_cast<int64_t>(bytes.size());
  if (have % item != 0 || have / item != shape.size())
    value_error("{}: {} of shape {} in {} is {} bytes", owner, name_of(d), shape.str(), what, have);
  Tensor out = Tensor::empty(d, shape);
  if (!bytes.empty()) std::memcpy(out.mutable_raw(), bytes.data(), bytes.size());
  tidy_bools(out);
  return out;
}

}  // namespace

std::string name_of_code(int64_t code) {
  if (code < 0 || code >= static_cast<int64_t>(kCodes.size())) return std::to_string(code);
  return kCodes[static_cast<size_t>(code)].name;
}

DType dtype_of_code(int64_t code, const std::string& owner) {
  if (code <= 0 || code >= static_cast<int64_t>(kCodes.size()))
    value_error("{}: {} is no element type of ONNX", owner, code);
  const Code& c = kCodes[static_cast<size_t>(code)];
  if (!c.known) {
    fail(ErrorKind::kUnsupported,
         "{}: element type {} is not supported; allowed: bool, integers and floats of 8 to 64 "
         "bits, complex numbers",
         owner, c.name);
  }
  return c.dtype;
}

int code_of(DType t) {
  for (size_t i = 0; i < kCodes.size(); ++i) {
    if (kCodes[i].known && kCodes[i].dtype == t) return static_cast<int>(i);
  }
  MYCEL_CHECK(false, "dtype {} has no code", name_of(t));
  return 0;
}

Tensor read_tensor(pb::Tensor& t, const std::string& folder) {
  std::string owner = fmt::format("tensor '{}'", t.name());
  DType d = dtype_of_code(t.data_type(), owner);
  Shape shape = shape_of(t, owner);
  Tensor out;
  if (t.data_location() == 1) {
    MappedRange range = open_external(t, folder, owner);
    out = from_bytes(range.bytes, d, shape, "external data", owner);
  } else if (t.has_raw_data()) {
    out = from_bytes(t.raw_data(), d, shape, "raw_data", owner);
    t.clear_raw_data();
    delete t.release_raw_data();
  } else {
    out = from_fields(t, d, shape, owner);
  }
  t.clear_float_data();
  t.clear_int32_data();
  t.clear_int64_data();
  t.clear_double_data();
  t.clear_uint64_data();
  return out;
}

void write_tensor(pb::Tensor& into, const Tensor& t, const std::string& name) {
  into.set_name(name);
  into.set_data_type(code_of(t.dtype()));
  for (int64_t d : t.shape()) into.add_dims(d);
  into.set_raw_data(t.raw(), t.bytes());
}

}  // namespace mycel::interop::onnx
