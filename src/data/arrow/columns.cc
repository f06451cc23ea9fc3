#include "data/arrow/columns.h"

#include <charconv>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"

namespace mycel::data {
namespace {

using Kind = ArrowType::Kind;

bool number_of(char format, DType* out) {
  constexpr std::pair<char, DType> kTypes[] = {
      {'c', DType::kInt8},    {'C', DType::kUInt8},   {'s', DType::kInt16},  {'S', DType::kUInt16},
      {'i', DType::kInt32},   {'I', DType::kUInt32},  {'l', DType::kInt64},  {'L', DType::kUInt64},
      {'e', DType::kFloat16}, {'f', DType::kFloat32}, {'g', DType::kFloat64}};
  for (const auto& [c, dtype] : kTypes) {
    if (c == format) {
      *out = dtype;
      return true;
    }
  }
  return false;
}

// Dates, times, times of day and durations: how many bits the number has, 0 for none of these.
int time_bits(std::string_view format) {
  if (format == "tdD" || format == "tts" || format == "ttm") return 32;
  if (format == "tdm" || format == "ttu" || format == "ttn") return 64;
  if (format.size() == 3 && format.starts_with("tD")) return 64;
  if (format.size() >= 4 && format.starts_with("ts") && format[3] == ':') return 64;
  return 0;
}

const void* buffer(const ArrowArray& a, int64_t i) {
  return i < a.n_buffers ? a.buffers[i] : nullptr;
}

bool is_null(const ArrowArray& a, int64_t i) {
  const auto* bits = static_cast<const uint8_t*>(buffer(a, 0));
  if (a.null_count == 0 || bits == nullptr) return false;
  i += a.offset;
  return (bits[i / 8] >> (i % 8) & 1) == 0;
}

// Where element i of strings, binaries or lists begins.
int64_t begin_of(const ArrowType& t, const ArrowArray& a, int64_t i) {
  const void* offsets = buffer(a, 1);
  if (offsets == nullptr) return 0;  // allowed when there is no element
  i += a.offset;
  return t.wide ? static_cast<const int64_t*>(offsets)[i] : static_cast<const int32_t*>(offsets)[i];
}

int64_t place_of(const ArrowType& t, const ArrowArray& a, int64_t i) {
  const auto* p = static_cast<const char*>(buffer(a, 1)) + (a.offset + i) * size_of(t.dtype);
  switch (t.dtype) {
    case DType::kInt8:
      return *reinterpret_cast<const int8_t*>(p);
    case DType::kUInt8:
      return *reinterpret_cast<const uint8_t*>(p);
    case DType::kInt16:
      return *reinterpret_cast<const int16_t*>(p);
    case DType::kUInt16:
      return *reinterpret_cast<const uint16_t*>(p);
    case DType::kInt32:
      return *reinterpret_cast<const int32_t*>(p);
    case DType::kUInt32:
      return *reinterpret_cast<const uint32_t*>(p);
    default:
      return *reinterpret_cast<const int64_t*>(p);
  }
}

// Elements of one column, which a value is made of.
class Reading {
 public:
  Reading(const std::string& column, const ArrowFill& fill) : column_(column) {
    const auto it = fill.find(column);
    if (it != fill.end()) fill_ = &it->second;
  }

  Value value(const ArrowType& type, const ArrowArray& array, int64_t row) const {
    const ArrowType* t = &type;
    const ArrowArray* a = &array;
    int64_t begin = row, n = 1;
    Shape shape;
    while (t->dictionary || t->kind == Kind::kList || t->kind == Kind::kFixedList) {
      if (t->dictionary) {
        const Kind kind = t->element->kind;
        if (kind == Kind::kNumber || kind == Kind::kBool || kind == Kind::kText) break;
        if (n != 1) refuse("lists of dictionaries of lists");
        if (is_null(*a, begin)) null();
        begin = place_of(*t, *a, begin);
        a = a->dictionary;
        t = t->element.get();
        continue;
      }
      for (int64_t i = begin; i < begin + n; ++i) {
        if (is_null(*a, i)) null();
      }
      int64_t length = t->width;
      if (t->kind == Kind::kFixedList) {
        begin = (a->offset + begin) * length;
      } else {
        length = common_length(*t, *a, begin, n);
        begin = begin_of(*t, *a, begin);
      }
      shape.push_back(length);
      n *= length;
      a = a->children[0];
      t = t->element.get();
    }
    return leaves(*t, *a, begin, n, shape);
  }

 private:
  // A column's own stand-in, but at places of single elements only.
  [[noreturn]] void null() const {
    value_error(
        "column '{}' holds a null; name what stands for it with fill_null={{'{}': …}} (numbers, "
        "bools and strings), or leave such rows out with skip_errors()",
        column_, column_);
  }
  [[noreturn]] void refuse(const char* what) const {
    value_error("column '{}': {} are not supported", column_, what);
  }

  int64_t common_length(const ArrowType& t, const ArrowArray& a, int64_t begin, int64_t n) const {
    const int64_t first = n > 0 ? begin_of(t, a, begin + 1) - begin_of(t, a, begin) : 0;
    for (int64_t i = begin + 1; i < begin + n; ++i) {
      const int64_t length = begin_of(t, a, i + 1) - begin_of(t, a, i);
      if (length != first)
        value_error("column '{}': a list holds lists of {} and of {} elements, which make no array",
                    column_, first, length);
    }
    return first;
  }

  Value leaves(const ArrowType& t, const ArrowArray& a, int64_t begin, int64_t n,
               Shape shape) const {
    const ArrowType& element = t.dictionary ? *t.element : t;
    if (element.kind == Kind::kText) {
      StringArray s{std::vector<std::string>(static_cast<size_t>(n)), std::move(shape)};
      for (int64_t i = 0; i < n; ++i) s.values[i] = text(t, a, begin + i);
      return s;
    }
    if (element.kind == Kind::kBinary || element.kind == Kind::kFixedBinary) {
      for (int64_t i = begin; i < begin + n; ++i) {
        if (is_null(a, i)) null();
      }
      const int64_t width =
          element.kind == Kind::kBinary ? common_length(t, a, begin, n) : element.width;
      shape.push_back(width);
      const int64_t from =
          element.kind == Kind::kBinary ? begin_of(t, a, begin) : (a.offset + begin) * width;
      Tensor out = Tensor::empty(DType::kUInt8, shape);
      const void* bytes = buffer(a, element.kind == Kind::kBinary ? 2 : 1);
      if (n * width > 0)
        std::memcpy(out.mutable_raw(), static_cast<const char*>(bytes) + from, n * width);
      return out;
    }
    Tensor out = Tensor::empty(element.dtype, shape);
    auto* to = static_cast<char*>(out.mutable_raw());
    const auto size = static_cast<int64_t>(size_of(element.dtype));
    if (!t.dictionary && t.kind == Kind::kNumber && n > 0)
      std::memcpy(to, static_cast<const char*>(buffer(a, 1)) + (a.offset + begin) * size, n * size);
    const bool one_by_one = t.dictionary || t.kind == Kind::kBool;
    for (int64_t i = 0; i < n && (one_by_one || a.null_count != 0); ++i) {
      if (is_null(a, begin + i)) {
        fill_number(element, to + i * size);
      } else if (one_by_one) {
        number(t, a, begin + i, to + i * size);
      }
    }
    return out;
  }

  void number(const ArrowType& t, const ArrowArray& a, int64_t i, char* to) const {
    if (is_null(a, i)) return fill_number(t, to);
    if (t.dictionary) return number(*t.element, *a.dictionary, place_of(t, a, i), to);
    const auto* from = static_cast<const char*>(buffer(a, 1));
    i += a.offset;
    if (t.kind == Kind::kBool) {
      *to = static_cast<char>(from[i / 8] >> (i % 8) & 1);
    } else {
      std::memcpy(to, from + i * static_cast<int64_t>(size_of(t.dtype)), size_of(t.dtype));
    }
  }

  std::string text(const ArrowType& t, const ArrowArray& a, int64_t i) const {
    if (is_null(a, i)) {
      if (!fill_) null();
      if (!fill_->is<std::string>()) wrong_fill("a string");
      return fill_->get<std::string>();
    }
    if (t.dictionary) return text(*t.element, *a.dictionary, place_of(t, a, i));
    const int64_t from = begin_of(t, a, i), to = begin_of(t, a, i + 1);
    if (from == to) return {};
    return {static_cast<const char*>(buffer(a, 2)) + from, static_cast<size_t>(to - from)};
  }

  void fill_number(const ArrowType& t, char* to) const {
    if (!fill_) null();
    if (t.kind == Kind::kBool) {
      if (!fill_->is<bool>()) wrong_fill("a bool");
      *to = static_cast<char>(fill_->get<bool>());
      return;
    }
    if (!fill_->is_number()) wrong_fill("a number");
    if (!is_float(t.dtype) && !fill_->is<int64_t>()) wrong_fill("an int");
    if (fill_->is<double>()) return set_element(to, t.dtype, 0, fill_->get<double>());
    set_element(to, t.dtype, 0, fill_->get<int64_t>());
    if (!is_float(t.dtype) && element_as_int(to, t.dtype, 0) != fill_->get<int64_t>())
      wrong_fill(fmt::format("an int that fits into {}", t.str()).c_str());
  }

  [[noreturn]] void wrong_fill(const char* wanted) const {
    type_error("fill_null: {} must stand for nulls of column '{}', got {}", wanted, column_,
               fill_->str());
  }

  const std::string& column_;
  const Option* fill_ = nullptr;
};

size_t bytes_of(const ArrowType& t, const ArrowArray& a) {
  const auto n = static_cast<size_t>(a.length);
  if (t.dictionary) return n * size_of(t.dtype) + bytes_of(*t.element, *a.dictionary);
  switch (t.kind) {
    case Kind::kNumber:
      return n * size_of(t.dtype);
    case Kind::kBool:
      return n / 8;
    case Kind::kText:
    case Kind::kBinary:
      return n * (t.wide ? 8 : 4) + static_cast<size_t>(begin_of(t, a, a.length));
    case Kind::kFixedBinary:
      return n * static_cast<size_t>(t.width);
    case Kind::kList:
    case Kind::kFixedList:
      break;
  }
  return n * (t.wide ? 8 : 4) + bytes_of(*t.element, *a.children[0]);
}

}  // namespace

std::string ArrowType::str() const {
  if (dictionary) return fmt::format("dictionary<{}>", element->str());
  switch (kind) {
    case Kind::kNumber:
      return std::string(name_of(dtype));
    case Kind::kBool:
      return "bool";
    case Kind::kText:
      return "string";
    case Kind::kBinary:
      return "binary";
    case Kind::kFixedBinary:
      return fmt::format("binary[{}]", width);
    case Kind::kList:
      return fmt::format("list<{}>", element->str());
    case Kind::kFixedList:
      break;
  }
  return fmt::format("list<{}>[{}]", element->str(), width);
}

ArrowType arrow_type(const ArrowSchema& schema, const std::string& column) {
  const std::string_view format = schema.format;
  ArrowType t;
  const auto element_of = [&](const ArrowSchema& child) {
    t.element = std::make_shared<const ArrowType>(arrow_type(child, column));
  };
  if (schema.dictionary) {
    t.dictionary = true;
    element_of(*schema.dictionary);
    if (t.element->dictionary || format.size() != 1 || !number_of(format[0], &t.dtype))
      value_error("column '{}': this kind of dictionary is not supported", column);
    return t;
  }
  if (format.size() == 1 && number_of(format[0], &t.dtype)) return t;
  if (const int bits = time_bits(format)) {
    t.dtype = bits == 32 ? DType::kInt32 : DType::kInt64;
    return t;
  }
  t.wide = format == "U" || format == "Z" || format == "+L";
  if (format == "b") {
    t.kind = Kind::kBool;
    t.dtype = DType::kBool;
  } else if (format == "u" || format == "U") {
    t.kind = Kind::kText;
  } else if (format == "z" || format == "Z") {
    t.kind = Kind::kBinary;
  } else if (format == "+l" || format == "+L") {
    t.kind = Kind::kList;
    element_of(*schema.children[0]);
  } else if (format.starts_with("w:") || format.starts_with("+w:")) {
    t.kind = format[0] == 'w' ? Kind::kFixedBinary : Kind::kFixedList;
    const std::string_view digits = format.substr(format.find(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), t.width);
    if (t.kind == Kind::kFixedList) element_of(*schema.children[0]);
  } else {
    value_error(
        "column '{}' has the Arrow format '{}', which rows cannot hold; numbers, bools, strings, "
        "binary, dates, times, dictionaries and lists of these are supported (decimals: cast them "
        "to floats; views: to strings), others are left out with columns_list",
        column, format);
  }
  return t;
}

std::vector<std::pair<std::string, ArrowType>> arrow_columns(const ArrowSchema& schema) {
  std::vector<std::pair<std::string, ArrowType>> out;
  for (int64_t c = 0; c < schema.n_children; ++c) {
    const ArrowSchema& child = *schema.children[c];
    const std::string name = child.name ? child.name : "";
    out.emplace_back(name, arrow_type(child, name));
  }
  return out;
}

ArrowBatch::ArrowBatch(Arrowed<ArrowSchema> schema, Arrowed<ArrowArray> batch)
    : batch_(std::move(batch)) {
  MYCEL_CHECK(std::string_view(schema->format) == "+s" && schema->n_children == batch_->n_children,
              "an Arrow batch is an array of structs, and its schema has its columns");
  for (auto& [name, type] : arrow_columns(*schema)) {
    names_.push_back(std::move(name));
    types_.push_back(std::move(type));
  }
}

size_t ArrowBatch::bytes() const {
  size_t n = 0;
  for (size_t c = 0; c < types_.size(); ++c) n += bytes_of(types_[c], *batch_->children[c]);
  return n;
}

Value ArrowBatch::value(size_t column, int64_t row, const ArrowFill& fill) const {
  // The rows of a slice are those of its columns from `offset` on.
  return Reading(names_[column], fill)
      .value(types_[column], *batch_->children[column], row + batch_->offset);
}

}  // namespace mycel::data
