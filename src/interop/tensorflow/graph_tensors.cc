#include "interop/tensorflow/graph_tensors.h"

#include <cstring>

#include <fmt/format.h>

#include "base/error.h"

namespace mycel::interop::tensorflow {
namespace {

template <typename To, typename Field>
Tensor narrowed(const Field& from, DType d) {
  Tensor out = Tensor::empty(d, Shape{static_cast<int64_t>(from.size())});
  auto* at = static_cast<To*>(out.mutable_raw());
  for (int i = 0; i < from.size(); ++i) at[i] = static_cast<To>(from.Get(i));
  return out;
}

Tensor listed(const pb::Tensor& t, DType d, const std::string& owner) {
  switch (d) {
    case DType::kFloat32:
      return narrowed<float>(t.float_val(), d);
    case DType::kFloat64:
      return narrowed<double>(t.double_val(), d);
    case DType::kInt32:
      return narrowed<int32_t>(t.int_val(), d);
    case DType::kInt16:
      return narrowed<int16_t>(t.int_val(), d);
    case DType::kInt8:
      return narrowed<int8_t>(t.int_val(), d);
    case DType::kUInt8:
      return narrowed<uint8_t>(t.int_val(), d);
    case DType::kUInt16:
      return narrowed<uint16_t>(t.int_val(), d);
    case DType::kInt64:
      return narrowed<int64_t>(t.int64_val(), d);
    case DType::kUInt32:
      return narrowed<uint32_t>(t.uint32_val(), d);
    case DType::kUInt64:
      return narrowed<uint64_t>(t.uint64_val(), d);
    case DType::kBool:
      return narrowed<bool>(t.bool_val(), d);
    case DType::kFloat16:
    case DType::kBFloat16:
      return narrowed<uint16_t>(t.half_val(), d);
    default:
      fail(ErrorKind::kUnsupported, "{}: constants of {}", owner, name_of(d));
  }
}

}  // namespace

bool parse_graph_dtype(int code, DType* out) {
  switch (code) {
    case 1:
      *out = DType::kFloat32;
      return true;
    case 2:
      *out = DType::kFloat64;
      return true;
    case 3:
      *out = DType::kInt32;
      return true;
    case 4:
      *out = DType::kUInt8;
      return true;
    case 5:
      *out = DType::kInt16;
      return true;
    case 6:
      *out = DType::kInt8;
      return true;
    case 8:
      *out = DType::kComplex64;
      return true;
    case 9:
      *out = DType::kInt64;
      return true;
    case 10:
      *out = DType::kBool;
      return true;
    case 14:
      *out = DType::kBFloat16;
      return true;
    case 17:
      *out = DType::kUInt16;
      return true;
    case 18:
      *out = DType::kComplex128;
      return true;
    case 19:
      *out = DType::kFloat16;
      return true;
    case 22:
      *out = DType::kUInt32;
      return true;
    case 23:
      *out = DType::kUInt64;
      return true;
    default:
      return false;
  }
}

std::string graph_dtype_name(int code) {
  DType d{};
  if (parse_graph_dtype(code, &d)) return std::string(name_of(d));
  if (code == 7) return "DT_STRING";
  if (code == 20) return "DT_RESOURCE";
  if (code == 21) return "DT_VARIANT";
  return fmt::format("element type {}", code);
}

StoredTensor read_graph_tensor(const pb::Tensor& t, const std::string& owner) {
  DType d{};
  if (!parse_graph_dtype(t.dtype(), &d))
    fail(ErrorKind::kUnsupported, "{}: Mycel has no tensors of {}", owner,
         graph_dtype_name(t.dtype()));
  StoredTensor out;
  if (t.tensor_shape().unknown_rank()) value_error("{}: a constant of unknown rank", owner);
  if (t.tensor_shape().dim_size() > kMaxRank)
    value_error("{}: {} dims; at most {} are allowed", owner, t.tensor_shape().dim_size(),
                kMaxRank);
  for (const auto& dim : t.tensor_shape().dim()) {
    if (dim.size() < 0) value_error("{}: a dim is {}", owner, dim.size());
    out.shape.push_back(dim.size());
  }
  const int64_t n = out.shape.size();
  const std::string& bytes = t.tensor_content();
  if (!bytes.empty()) {
    const auto have = static_cast<int64_t>(bytes.size() / size_of(d));
    if (have != n || bytes.size() % size_of(d))
      value_error("{}: its shape {} needs {} elements of {} bytes, the file has {} bytes", owner,
                  out.shape.str(), n, size_of(d), bytes.size());
    out.values = Tensor::empty(d, Shape{n});
    std::memcpy(out.values.mutable_raw(), bytes.data(), bytes.size());
    return out;
  }
  out.values = listed(t, d, owner);
  if (out.values.size() > n)
    value_error("{}: {} elements for the shape {}", owner, out.values.size(), out.shape.str());
  return out;
}

}  // namespace mycel::interop::tensorflow
