// Transforms of numbers, whatever they stand for.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "data/cast.h"
#include "data/general/general.h"
#include "data/general/values.h"
#include "tensor/element.h"

namespace mycel::data {
namespace {

const TransformDef kTypeCast{
    .name = "transforms.TypeCast",
    .doc =
        "The same numbers in another dtype: floats to ints cut towards 0, numbers out of range "
        "wrap around, anything but 0 is True.",
    .args = {"data_type: dtype"},
    .make =
        [](const Options& o) {
          const DType to = o.dtype("data_type");
          return each_value([to](const Value& v) -> Value { return cast(v.tensor(), to); });
        },
};

// Labels () or [n] or [n, 1].
Tensor one_hot(const Tensor& labels, int64_t classes, double rate) {
  if (!is_int(labels.dtype())) type_error("labels must be ints, got {}", labels.describe());
  const bool column = labels.rank() == 2 && labels.dim(1) == 1;
  if (labels.rank() > 1 && !column)
    value_error("labels must have the shape (), [n] or [n, 1], got {}", labels.describe());
  const int64_t n = labels.size();
  const DType dtype = rate == 0 ? labels.dtype() : DType::kFloat64;
  Tensor out = Tensor::full(dtype, n == 1 ? Shape{classes} : Shape{n, classes},
                            rate / static_cast<double>(classes));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t label = element_as_int(labels.raw(), labels.dtype(), i);
    if (label < 0 || label >= classes)
      value_error("label {} is not in [0, {}), the range of 'num_classes'", label, classes);
    if (rate == 0) {
      set_element(out.mutable_raw(), dtype, i * classes + label, int64_t{1});
    } else {
      set_element(out.mutable_raw(), dtype, i * classes + label,
                  1 - rate + rate / static_cast<double>(classes));
    }
  }
  return out;
}

const TransformDef kOneHot{
    .name = "transforms.OneHot",
    .doc =
        "Labels as vectors of `num_classes` numbers: 1 at the label, 0 elsewhere, in the labels' "
        "dtype. With a smoothing rate r > 0: 1 - r + r / num_classes and r / num_classes, as "
        "float64. One label (), [1] gives [num_classes], [n] or [n, 1] gives [n, num_classes]. "
        "ValueError: a label outside [0, num_classes).",
    .args = {"num_classes: int", "smoothing_rate: number = 0.0"},
    .make =
        [](const Options& o) {
          const int64_t classes = o.positive("num_classes");
          const double rate = o.within("smoothing_rate", 0, 1);
          return each_value(
              [=](const Value& v) -> Value { return one_hot(v.tensor(), classes, rate); });
        },
};

const TransformDef kFill{
    .name = "transforms.Fill",
    .doc =
        "Every element replaced by `fill_value`, cast to the dtype of the input; a string for "
        "strings.",
    .args = {"fill_value: any"},
    .make =
        [](const Options& o) {
          const Value fill = value_of(o, "fill_value");
          if (fill.shape().size() != 1)
            o.fail("fill_value", "must be a single value, got {}", fill.describe());
          return each_value([fill](const Value& v) -> Value {
            if (v.is_strings()) {
              StringArray s = v.strings();
              std::fill(s.values.begin(), s.values.end(), fill.strings().values[0]);
              return s;
            }
            const Tensor& t = v.tensor();
            const Tensor one = cast(fill.tensor(), t.dtype());
            Tensor out = Tensor::empty(t.dtype(), t.shape());
            const size_t bytes = size_of(t.dtype());
            auto* to = static_cast<char*>(out.mutable_raw());
            for (int64_t i = 0; i < t.size(); ++i, to += bytes) std::memcpy(to, one.raw(), bytes);
            return out;
          });
        },
};

template <typename T>
bool holds(const std::string& op, const T& a, const T& b) {
  if (op == "EQ") return a == b;
  if (op == "NE") return a != b;
  if (op == "GT") return a > b;
  if (op == "GE") return a >= b;
  if (op == "LT") return a < b;
  return a <= b;
}

const TransformDef kMask{
    .name = "transforms.Mask",
    .doc =
        "Where `element <operator> constant` holds, as `dtype`. Strings are compared with a "
        "string, byte by byte; numbers with a number, in float64 unless both are ints.",
    .args = {"operator: Relational", "constant: any", "dtype: dtype = bool"},
    .make =
        [](const Options& o) {
          const Value constant = value_of(o, "constant");
          if (constant.shape().size() != 1)
            o.fail("constant", "must be a single value, got {}", constant.describe());
          const std::string op = o.choice("operator");
          const DType dtype = o.dtype("dtype");
          return each_value([=](const Value& v) -> Value {
            Tensor out = Tensor::empty(DType::kBool, v.shape());
            auto* to = static_cast<uint8_t*>(out.mutable_raw());
            if (v.is_strings()) {
              const std::string& c = constant.strings().values[0];
              for (const std::string& s : v.strings().values) *to++ = holds(op, s, c);
              return cast(out, dtype);
            }
            const Tensor &t = v.tensor(), &c = constant.tensor();
            const bool whole = !is_float(t.dtype()) && !is_float(c.dtype());
            for (int64_t i = 0; i < t.size(); ++i) {
              to[i] = whole ? holds(op, element_as_int(t.raw(), t.dtype(), i),
                                    element_as_int(c.raw(), c.dtype(), 0))
                            : holds(op, element_as_double(t.raw(), t.dtype(), i),
                                    element_as_double(c.raw(), c.dtype(), 0));
            }
            return cast(out, dtype);
          });
        },
};

const TransformDef kUnique{
    .name = "transforms.Unique",
    .doc =
        "Three columns of one: the distinct elements of the input seen as one row, in the order "
        "in which they first come; for each element the place of its value in them (int32); how "
        "often each comes (int32). Any real dtype; NaN is a value like any other.",
    .make =
        [](const Options&) {
          return of_row(
              [](Row* row, Philox&) {
                if (row->size() != 1) value_error("takes one column, got {}", row->size());
                const Tensor t = (*row)[0].tensor();
                const int64_t n = t.size();
                const auto size = static_cast<int64_t>(size_of(t.dtype()));
                const auto* data = static_cast<const char*>(t.raw());
                // Sorted by bytes, then by place: the first of each group is where it comes first.
                std::vector<int64_t> order(static_cast<size_t>(n));
                std::iota(order.begin(), order.end(), int64_t{0});
                const auto compare = [&](int64_t a, int64_t b) {
                  return std::memcmp(data + a * size, data + b * size, static_cast<size_t>(size));
                };
                std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
                  const int c = compare(a, b);
                  return c ? c < 0 : a < b;
                });
                std::vector<int64_t> first(static_cast<size_t>(n));
                for (int64_t i = 0; i < n; ++i)
                  first[order[i]] = i > 0 && compare(order[i - 1], order[i]) == 0
                                        ? first[order[i - 1]]
                                        : order[i];
                std::vector<int32_t> place(static_cast<size_t>(n)), index, count;
                std::string values;
                for (int64_t i = 0; i < n; ++i) {
                  if (first[i] == i) {
                    place[i] = static_cast<int32_t>(count.size());
                    count.push_back(0);
                    values.append(data + i * size, static_cast<size_t>(size));
                  }
                  place[i] = place[first[i]];
                  ++count[place[i]];
                }
                const auto k = static_cast<int64_t>(count.size());
                Tensor distinct = Tensor::empty(t.dtype(), {k});
                std::memcpy(distinct.mutable_raw(), values.data(), values.size());
                *row = {distinct, Tensor::from(place, {n}), Tensor::from(count, {k})};
              },
              false);
        },
};

}  // namespace

TransformDefs number_transforms() { return {&kTypeCast, &kOneHot, &kFill, &kMask, &kUnique}; }

}  // namespace mycel::data
