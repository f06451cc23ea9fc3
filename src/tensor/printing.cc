// Tensor::str(): values laid out as NumPy's default print options lay them out (8 digits, lines of
// 75 columns, more than 1000 elements summarised by three at each end). Floats show the fewest
// digits that read back as the same value, as in R. G. Steele and J. L. White, "How to print
// floating-point numbers accurately", 1990.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "tensor/tensor.h"

namespace mycel {
namespace {

constexpr size_t kPrecision = 8;
constexpr int64_t kThreshold = 1000;
constexpr int64_t kEdge = 3;
constexpr size_t kLineWidth = 75;

bool is_16_bit(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }

// `v` rounded to the float type `t`.
double rounded(double v, DType t) {
  alignas(8) char bytes[8];
  set_element(bytes, t, 0, v);
  return element_as_double(bytes, t, 0);
}

// A double with the same shortest decimal text as the 16-bit value v.
double shortest_as_double(double v, DType t) {
  char text[40];
  for (int digits = 0; digits < 8; ++digits) {
    // At a power of two the interval is wider upwards, so a tie may have to be rounded up.
    for (double near : {v, std::nextafter(v, 2 * v)}) {
      std::snprintf(text, sizeof text, "%.*e", digits, near);
      const double back = std::strtod(text, nullptr);
      if (rounded(back, t) == v) return back;
    }
  }
  return v;
}

// The fewest digits that tell the finite v from its neighbours of type t.
std::string shortest(double v, DType t, std::chars_format format) {
  char text[512];
  std::to_chars_result end{};
  if (t == DType::kFloat32) {
    end = std::to_chars(text, text + sizeof text, static_cast<float>(v), format);
  } else {
    const double d = is_16_bit(t) ? shortest_as_double(v, t) : v;
    end = std::to_chars(text, text + sizeof text, d, format);
  }
  return std::string(text, end.ptr);
}

// A float cut at its decimal point; the fraction has at most kPrecision digits and no trailing
// zeros.
struct Digits {
  std::string whole, fraction, exponent;  // exponent with its sign, empty in positional form
};

Digits digits_of(double v, DType t, bool scientific) {
  std::string s =
      shortest(v, t, scientific ? std::chars_format::scientific : std::chars_format::fixed);
  const size_t point = s.find('.');
  const size_t fraction_end = std::min(s.find('e'), s.size());
  if (point != std::string::npos && fraction_end - point - 1 > kPrecision) {
    char text[512];  // more digits than are shown: round the exact value, ties to even
    std::snprintf(text, sizeof text, scientific ? "%.*e" : "%.*f", static_cast<int>(kPrecision), v);
    s = text;
  }
  Digits d;
  const size_t e = s.find('e');
  if (e != std::string::npos) d.exponent = s.substr(e + 1);
  s.resize(std::min(e, s.size()));
  const size_t dot = s.find('.');
  d.whole = s.substr(0, dot);
  if (dot != std::string::npos) d.fraction = s.substr(dot + 1);
  while (!d.fraction.empty() && d.fraction.back() == '0') d.fraction.pop_back();
  return d;
}

std::string left_padded(const std::string& s, size_t width) {
  return s.size() >= width ? s : std::string(width - s.size(), ' ') + s;
}

// From which magnitude on NumPy (2.3 and newer) writes exponents in arrays and in scalars.
double array_cutoff(DType t) {
  return t == DType::kFloat16 ? 1e3 : t == DType::kFloat64 ? 1e8 : 1e6;
}
double scalar_cutoff(DType t) {
  return t == DType::kFloat16 ? 1e3 : t == DType::kFloat64 ? 1e16 : 1e6;
}

// How the floats of one array (or the real or imaginary parts of a complex one) are lined up.
class FloatColumn {
 public:
  FloatColumn(const std::vector<double>& values, DType type, bool plus_sign)
      : type_(type), plus_sign_(plus_sign) {
    choose_form(values);
    bool negative_infinity = false, special = false;
    for (double v : values) {
      special |= !std::isfinite(v);
      negative_infinity |= std::isinf(v) && v < 0;
      if (std::isfinite(v)) widen(v);
    }
    right_ = scientific_ ? exponent_ + 2 + right_digits_ : right_digits_;
    if (!special) return;
    const size_t sign = plus_sign_ || negative_infinity ? 1 : 0;
    const size_t need = 3 + sign;  // "inf" and its sign; "nan" has none
    if (need > right_ + 1) left_ = std::max(left_, need - right_ - 1);
  }

  std::string operator()(double v) const {
    if (!std::isfinite(v)) {
      const char* sign = std::isinf(v) && v < 0 ? "-" : plus_sign_ ? "+" : "";
      return left_padded(sign + std::string(std::isnan(v) ? "nan" : "inf"), left_ + right_ + 1);
    }
    if (scientific_) return scientific(v);
    const Digits d = digits_of(v, type_, false);
    const std::string blanks(right_ - d.fraction.size(), ' ');
    return left_padded(whole_of(d, v), left_) + '.' + d.fraction + blanks;
  }

 private:
  void choose_form(const std::vector<double>& values) {
    double least = INFINITY, most = 0;
    for (double v : values) {
      if (!std::isfinite(v) || v == 0) continue;
      least = std::min(least, std::fabs(v));
      most = std::max(most, std::fabs(v));
    }
    if (most == 0) return;
    // The comparisons are done in the element type, as NumPy does them.
    scientific_ = most >= array_cutoff(type_) || least < rounded(0.0001, type_) ||
                  rounded(most / least, type_) > 1000;
  }

  // All with the same number of digits: beyond the shortest text come those of the exact value.
  std::string scientific(double v) const {
    Digits d = digits_of(v, type_, true);
    if (d.fraction.size() < right_digits_) {
      char text[64];
      std::snprintf(text, sizeof text, "%.*e", static_cast<int>(right_digits_), v);
      const char* point = std::strchr(text, '.');
      d.whole.assign(text, static_cast<size_t>(point - text));
      d.fraction.assign(point + 1, right_digits_);
      d.exponent = std::strchr(text, 'e') + 1;
    }
    d.exponent.insert(1, exponent_ - (d.exponent.size() - 1), '0');
    return left_padded(whole_of(d, v), left_) + '.' + d.fraction + 'e' + d.exponent;
  }

  std::string whole_of(const Digits& d, double v) const {
    return plus_sign_ && !std::signbit(v) ? '+' + d.whole : d.whole;
  }

  void widen(double v) {
    const Digits d = digits_of(v, type_, scientific_);
    left_ = std::max(left_, whole_of(d, v).size());
    right_digits_ = std::max(right_digits_, d.fraction.size());
    if (scientific_) exponent_ = std::max(exponent_, d.exponent.size() - 1);
  }

  DType type_;
  bool plus_sign_;
  bool scientific_ = false;
  size_t left_ = 0, right_ = 0;  // columns before and after the point
  size_t right_digits_ = 0, exponent_ = 0;
};

// ---- Element formats: element index to text of equal width ----

class ElementFormat {
 public:
  virtual ~ElementFormat() = default;
  virtual std::string text(int64_t i) const = 0;
};

class BoolFormat final : public ElementFormat {
 public:
  explicit BoolFormat(const Tensor& t) : data_(static_cast<const uint8_t*>(t.raw())) {}
  std::string text(int64_t i) const override { return data_[i] ? " True" : "False"; }

 private:
  const uint8_t* data_;
};

std::string integer_text(const Tensor& t, int64_t i) {
  const int64_t v = element_as_int(t.raw(), t.dtype(), i);
  return t.dtype() == DType::kUInt64 ? std::to_string(static_cast<uint64_t>(v)) : std::to_string(v);
}

class IntFormat final : public ElementFormat {
 public:
  IntFormat(const Tensor& t, const std::vector<int64_t>& shown) : tensor_(t) {
    for (int64_t i : shown) width_ = std::max(width_, integer_text(t, i).size());
  }
  std::string text(int64_t i) const override {
    return left_padded(integer_text(tensor_, i), width_);
  }

 private:
  const Tensor& tensor_;
  size_t width_ = 0;
};

std::complex<double> complex_at(const Tensor& t, int64_t i) {
  const DType part = real_part_of(t.dtype());
  return {element_as_double(t.raw(), part, 2 * i), element_as_double(t.raw(), part, 2 * i + 1)};
}

std::vector<double> floats_at(const Tensor& t, const std::vector<int64_t>& shown, bool imaginary) {
  std::vector<double> values;
  values.reserve(shown.size());
  for (int64_t i : shown) {
    if (!is_complex(t.dtype()))
      values.push_back(element_as_double(t.raw(), t.dtype(), i));
    else
      values.push_back(imaginary ? complex_at(t, i).imag() : complex_at(t, i).real());
  }
  return values;
}

class FloatFormat final : public ElementFormat {
 public:
  FloatFormat(const Tensor& t, const std::vector<int64_t>& shown)
      : tensor_(t), column_(floats_at(t, shown, false), t.dtype(), false) {}
  std::string text(int64_t i) const override {
    return column_(element_as_double(tensor_.raw(), tensor_.dtype(), i));
  }

 private:
  const Tensor& tensor_;
  FloatColumn column_;
};

class ComplexFormat final : public ElementFormat {
 public:
  ComplexFormat(const Tensor& t, const std::vector<int64_t>& shown)
      : tensor_(t),
        real_(floats_at(t, shown, false), real_part_of(t.dtype()), false),
        imaginary_(floats_at(t, shown, true), real_part_of(t.dtype()), true) {}
  std::string text(int64_t i) const override {
    const std::complex<double> v = complex_at(tensor_, i);
    std::string imaginary = imaginary_(v.imag());
    imaginary.insert(imaginary.find_last_not_of(' ') + 1, "j");  // before the padding
    return real_(v.real()) + imaginary;
  }

 private:
  const Tensor& tensor_;
  FloatColumn real_, imaginary_;
};

// ---- Layout ----

class Layout {
 public:
  explicit Layout(const Tensor& t) : tensor_(t), summarise_(t.size() > kThreshold) {
    std::vector<int64_t> shown;
    collect(0, 0, &shown);
    if (is_bool(t.dtype()))
      format_ = std::make_unique<BoolFormat>(t);
    else if (is_int(t.dtype()))
      format_ = std::make_unique<IntFormat>(t, shown);
    else if (is_complex(t.dtype()))
      format_ = std::make_unique<ComplexFormat>(t, shown);
    else
      format_ = std::make_unique<FloatFormat>(t, shown);
  }

  std::string text() const { return block(0, 0, kLineWidth); }

 private:
  bool cut(int axis) const { return summarise_ && tensor_.dim(axis) > 2 * kEdge; }

  // Calls visit(position, is_gap) for what is shown along an axis; a gap stands for what is left
  // out.
  template <typename F>
  void walk(int axis, F visit) const {
    const int64_t n = tensor_.dim(axis);
    for (int64_t i = 0; i < n; ++i) {
      if (cut(axis) && i == kEdge) {
        visit(i, true);
        i = n - kEdge;
      }
      visit(i, false);
    }
  }

  void collect(int axis, int64_t at, std::vector<int64_t>* shown) const {
    if (axis == tensor_.rank()) return shown->push_back(at);
    walk(axis, [&](int64_t i, bool gap) {
      if (!gap) collect(axis + 1, at * tensor_.dim(axis) + i, shown);
    });
  }

  // The text of the sub-array that starts at row-major position `at` of the axes before `axis`.
  std::string block(int axis, int64_t at, size_t width) const {
    const std::string indent(static_cast<size_t>(axis) + 1, ' ');
    if (axis == tensor_.rank() - 1)
      return '[' + row(at * tensor_.dim(axis), indent, width - 1) + ']';
    const std::string break_lines(static_cast<size_t>(tensor_.rank() - axis - 1), '\n');
    std::string s = "[";
    walk(axis, [&](int64_t i, bool gap) {
      if (s.size() > 1) s += break_lines + indent;
      s += gap ? "..." : block(axis + 1, at * tensor_.dim(axis) + i, width - 1);
    });
    return s + ']';
  }

  // The elements of the last axis, wrapped at `width`, without the brackets.
  std::string row(int64_t first, const std::string& indent, size_t width) const {
    std::string done;
    std::string line = indent;
    walk(tensor_.rank() - 1, [&](int64_t i, bool gap) {
      const std::string word = gap ? "..." : format_->text(first + i);
      if (line.size() > indent.size() && line.size() + word.size() > width) {
        done += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
        line = indent;
      }
      line += word + ' ';
    });
    line.pop_back();  // the separator after the last one
    return (done + line).substr(indent.size());
  }

  const Tensor& tensor_;
  bool summarise_;
  std::unique_ptr<ElementFormat> format_;
};

// ---- Scalars: full precision, no padding ----

// A float standing alone; `tail` is what follows a whole number (".0", nothing inside a complex).
std::string scalar_float(double v, DType t, const char* tail) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  const double magnitude = std::fabs(v);
  const bool positional =
      v == 0 || (magnitude < scalar_cutoff(t) && magnitude >= rounded(0.0001, t));
  if (!positional) return shortest(v, t, std::chars_format::scientific);
  const std::string s = shortest(v, t, std::chars_format::fixed);
  return s.find('.') == std::string::npos ? s + tail : s;
}

std::string scalar_text(const Tensor& t) {
  if (is_bool(t.dtype())) return element_as_int(t.raw(), t.dtype(), 0) ? "True" : "False";
  if (is_int(t.dtype())) return integer_text(t, 0);
  if (!is_complex(t.dtype())) return scalar_float(t.item(), t.dtype(), ".0");
  const std::complex<double> v = complex_at(t, 0);
  const DType part = real_part_of(t.dtype());
  const std::string imaginary = scalar_float(v.imag(), part, "") + "j";
  if (v.real() == 0 && !std::signbit(v.real())) return imaginary;
  const char* plus = imaginary[0] == '-' ? "" : "+";
  return '(' + scalar_float(v.real(), part, "") + plus + imaginary + ')';
}

}  // namespace

std::string Tensor::str() const {
  if (!impl_ || !concrete()) return describe();
  if (rank() == 0) return scalar_text(*this);
  if (size() == 0) return "[]";
  return Layout(*this).text();
}

}  // namespace mycel
