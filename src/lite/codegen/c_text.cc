#include "lite/codegen/c_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "loops/emit_c_expr.h"

namespace mycel::lite {
namespace {

std::string real(double v, bool single) {
  if (std::isnan(v)) return "NAN";
  if (std::isinf(v)) return v < 0 ? "-INFINITY" : "INFINITY";
  const char* suffix = single ? "f" : "";
  if (v == std::rint(v) && std::fabs(v) < 1e6) return fmt::format("{:.1f}{}", v, suffix);
  return fmt::format("{:a}{}", v, suffix);
}

std::string integer(DType t, const void* data, int64_t i) {
  if (t == DType::kUInt64) {
    return fmt::format("UINT64_C({})", static_cast<const uint64_t*>(data)[i]);
  }
  const int64_t v = element_as_int(data, t, i);
  if (t == DType::kInt64) {
    if (v == INT64_MIN) return "(-INT64_C(9223372036854775807) - 1)";
    return fmt::format("INT64_C({})", v);
  }
  if (v == INT32_MIN) return "(-INT32_C(2147483647) - 1)";
  return fmt::format("{}{}", v, t == DType::kUInt32 ? "u" : "");
}

}  // namespace

std::string c_identifier(const std::string& text) {
  std::string name = text;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "_" + name;
  return name;
}

const char* c_element(DType t) { return loops::c_memory_type(t); }

int64_t c_count(DType t, const Shape& shape) {
  return std::max<int64_t>(1, shape.size() * (is_complex(t) ? 2 : 1));
}

std::string c_array(const std::string& name, const Tensor& t) {
  std::string out = fmt::format("static const {} {}[{}] = {{", c_element(t.dtype()), name,
                                c_count(t.dtype(), t.shape()));
  const DType part = is_complex(t.dtype()) ? real_part_of(t.dtype()) : t.dtype();
  const bool half = part == DType::kFloat16 || part == DType::kBFloat16;
  const int64_t n = t.size() > 0 ? c_count(t.dtype(), t.shape()) : 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i % 8 == 0) out += "\n  ";
    if (half) {
      out += fmt::format("{:#06x},", static_cast<const uint16_t*>(t.raw())[i]);
    } else if (is_float(part)) {
      out += real(element_as_double(t.raw(), part, i), part == DType::kFloat32) + ",";
    } else {
      out += integer(part, t.raw(), i) + ",";
    }
  }
  if (n == 0) out += "0";
  return out + "\n};\n";
}

}  // namespace mycel::lite
