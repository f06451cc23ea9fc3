// Transforms that move elements: parts, joins, padding. Numbers and strings alike.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "data/cast.h"
#include "data/general/general.h"
#include "data/general/values.h"

namespace mycel::data {
namespace {

// The elements of `v` at the given places (row-major numbers; -1: the element of `around`).
Value gathered(const Value& v, const std::vector<int64_t>& places, const Shape& shape,
               const Value& around) {
  if (v.is_strings()) {
    StringArray s{{}, shape};
    for (const int64_t p : places)
      s.values.push_back(p < 0 ? around.strings().values[0] : v.strings().values[p]);
    return s;
  }
  const Tensor& t = v.tensor();
  Tensor out = Tensor::empty(t.dtype(), shape);
  const size_t size = size_of(t.dtype());
  const auto* in = static_cast<const char*>(t.raw());
  auto* to = static_cast<char*>(out.mutable_raw());
  for (const int64_t p : places) {
    std::memcpy(to, p < 0 ? static_cast<const char*>(around.tensor().raw()) : in + p * size, size);
    to += size;
  }
  return out;
}

// The row-major numbers of all combinations of the indices of each dim; -1 in a dim gives -1.
std::vector<int64_t> places_of(const Shape& from, const std::vector<std::vector<int64_t>>& index) {
  std::vector<int64_t> places{0};
  for (int d = 0; d < from.rank(); ++d) {
    std::vector<int64_t> next;
    next.reserve(places.size() * index[d].size());
    for (const int64_t p : places)
      for (const int64_t i : index[d]) next.push_back(p < 0 || i < 0 ? -1 : p * from[d] + i);
    places = std::move(next);
  }
  return places;
}

// --- Slice: an int, a list of ints, None or '...' for all, or ["slice", start, stop, step] as in
// Python.
struct Part {
  enum Kind : uint8_t { kAll, kRest, kList, kRange } kind = kAll;
  std::vector<int64_t> list;
  bool has[3] = {false, false, false};
  int64_t bound[3] = {0, 0, 1};

  std::vector<int64_t> of(int64_t n, int dim) const {
    std::vector<int64_t> out;
    if (kind == kList) {
      for (const int64_t i : list) {
        if (i < -n || i >= n)
          fail(ErrorKind::kIndex, "index {} of dim {} is not in [{}, {})", i, dim, -n, n);
        out.push_back(i < 0 ? i + n : i);
      }
      return out;
    }
    int64_t start = 0, stop = n, step = 1;
    if (kind == kRange) {
      step = has[2] ? bound[2] : 1;
      const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
      const auto end = [&](int k, int64_t otherwise) {
        if (!has[k]) return otherwise;
        return std::clamp(bound[k] < 0 ? bound[k] + n : bound[k], low, high);
      };
      start = end(0, step > 0 ? 0 : n - 1);
      stop = end(1, step > 0 ? n : -1);
    }
    for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) out.push_back(i);
    return out;
  }
};

Part part_of(const Options& o, const Option& v) {
  Part p;
  if (v.none()) return p;
  if (v.is<int64_t>()) {
    p.kind = Part::kList;
    p.list = {v.get<int64_t>()};
    return p;
  }
  if (v.is<std::string>() && v.get<std::string>() == "...") {
    p.kind = Part::kRest;
    return p;
  }
  const Option::List list = v.is<Option::List>() ? v.get<Option::List>() : Option::List{v};
  const auto number = [](const Option& e) { return e.is<int64_t>(); };
  if (std::all_of(list.begin(), list.end(), number)) {
    p.kind = Part::kList;
    for (const Option& e : list) p.list.push_back(e.get<int64_t>());
    return p;
  }
  bool good =
      list.size() == 4 && list[0].is<std::string>() && list[0].get<std::string>() == "slice";
  for (size_t k = 0; good && k < 3; ++k) {
    good = list[k + 1].none() || number(list[k + 1]);
    p.has[k] = good && !list[k + 1].none();
    if (p.has[k]) p.bound[k] = list[k + 1].get<int64_t>();
  }
  if (!good || (p.has[2] && p.bound[2] == 0))
    o.fail("*slices", "must be ints, lists of ints, None, ... or slices, got {}", v.str());
  p.kind = Part::kRange;
  return p;
}

const TransformDef kSlice{
    .name = "transforms.Slice",
    .doc =
        "A part of the elements: for each dim an int, a list of ints, None (all) or a slice "
        "start:stop:step; ... stands for all dims that are left. The number of dims stays. "
        "IndexError: an index outside; ValueError: more slices than dims.",
    .args = {"*slices: any"},
    .make =
        [](const Options& o) {
          std::vector<Part> parts;
          const Option& given = o["*slices"];
          if (given.is<Option::List>()) {
            for (const Option& v : given.get<Option::List>()) parts.push_back(part_of(o, v));
          } else {
            parts.push_back(part_of(o, given));
          }
          if (std::count_if(parts.begin(), parts.end(),
                            [](const Part& p) { return p.kind == Part::kRest; }) > 1)
            o.fail("*slices", "may have one '...', got {}", given.str());
          return each_value([parts](const Value& v) -> Value {
            const Shape& shape = v.shape();
            const auto n = static_cast<int>(parts.size());
            const bool rest = std::any_of(parts.begin(), parts.end(),
                                          [](const Part& p) { return p.kind == Part::kRest; });
            if (n - (rest ? 1 : 0) > shape.rank())
              value_error("{} slices of {}", n - (rest ? 1 : 0), v.describe());
            std::vector<std::vector<int64_t>> index;
            Shape out;
            const auto add = [&](const Part& p) {
              const int d = static_cast<int>(index.size());
              index.push_back(p.of(shape[d], d));
              out.push_back(static_cast<int64_t>(index.back().size()));
            };
            for (int i = 0; i < n; ++i) {
              if (parts[i].kind != Part::kRest) {
                add(parts[i]);
              } else {
                for (int k = n - 1; k < shape.rank(); ++k) add({});
              }
            }
            while (static_cast<int>(index.size()) < shape.rank()) add({});
            return gathered(v, places_of(shape, index), out, {});
          });
        },
};

const TransformDef kPadEnd{
    .name = "transforms.PadEnd",
    .doc =
        "Each dim cut or filled up at its end to the size in `pad_shape`; None leaves a dim. "
        "Filled with `pad_value`, by default 0 or the empty string.",
    .args = {"pad_shape: any", "pad_value: any? = None"},
    .make =
        [](const Options& o) {
          std::vector<int64_t> sizes;  // -1: as it is
          Option::List list;
          const Option& shape = o["pad_shape"];
          if (shape.is<Option::List>())
            list = shape.get<Option::List>();
          else
            list = {shape};
          for (const Option& v : list) {
            if (!v.none() && (!v.is<int64_t>() || v.get<int64_t>() < 0))
              o.fail("pad_shape", "must hold sizes or None, got {}", shape.str());
            sizes.push_back(v.none() ? -1 : v.get<int64_t>());
          }
          const Value pad = o.none("pad_value") ? Value() : value_of(o, "pad_value");
          if (pad && pad.shape().size() != 1)
            o.fail("pad_value", "must be a single value, got {}", pad.describe());
          return each_value([sizes, pad](const Value& v) -> Value {
            const Shape& from = v.shape();
            if (static_cast<int>(sizes.size()) != from.rank())
              value_error("'pad_shape' has {} sizes for {}", sizes.size(), v.describe());
            std::vector<std::vector<int64_t>> index;
            Shape out;
            for (int d = 0; d < from.rank(); ++d) {
              const int64_t n = sizes[d] < 0 ? from[d] : sizes[d];
              out.push_back(n);
              index.emplace_back();
              for (int64_t i = 0; i < n; ++i) index.back().push_back(i < from[d] ? i : -1);
            }
            Value around = pad;
            if (v.is_strings()) {
              if (!pad)
                around = Value("");
              else
                (void)pad.strings();
            } else {
              around = pad ? Value(cast(pad.tensor(), v.tensor().dtype()))
                           : Value(Tensor::zeros(v.tensor().dtype(), {}));
            }
            return gathered(v, places_of(from, index), out, around);
          });
        },
};

Value joined(const std::vector<Value>& parts) {
  int64_t n = 0;
  for (const Value& v : parts) n += v.shape().size();
  if (parts[0].is_strings()) {
    StringArray s{{}, Shape{n}};
    for (const Value& v : parts)
      s.values.insert(s.values.end(), v.strings().values.begin(), v.strings().values.end());
    return s;
  }
  Tensor out = Tensor::empty(parts[0].tensor().dtype(), {n});
  auto* to = static_cast<char*>(out.mutable_raw());
  for (const Value& v : parts) {
    std::memcpy(to, v.tensor().raw(), v.tensor().bytes());
    to += v.tensor().bytes();
  }
  return out;
}

const TransformDef kConcatenate{
    .name = "transforms.Concatenate",
    .doc =
        "The columns, one after the other, as one column; `prepend` stands before, `append` "
        "behind. All of one dim and one dtype (what is put around is cast), or strings. `axis` "
        "can only be 0 or -1.",
    .args = {"axis: int = 0", "prepend: any? = None", "append: any? = None"},
    .make =
        [](const Options& o) {
          if (const int64_t axis = o.integer("axis"); axis != 0 && axis != -1)
            o.fail("axis", "must be 0 or -1: values of one dim are joined; got {}", axis);
          const auto around = [&](const char* name) {
            if (o.none(name)) return Value();
            Value v = value_of(o, name);
            if (v.shape().rank() > 1) o.fail(name, "must have one dim, got {}", v.describe());
            return v;
          };
          return of_row(
              [before = around("prepend"), after = around("append")](Row* row, Philox&) {
                std::vector<Value> parts;
                for (const Value& v : *row) {
                  if (v.shape().rank() != 1)
                    value_error("values of one dim are joined, got {}", v.describe());
                  const bool same =
                      v.is_strings() == (*row)[0].is_strings() &&
                      (v.is_strings() || v.tensor().dtype() == (*row)[0].tensor().dtype());
                  if (!same)
                    type_error("cannot join {} and {}", (*row)[0].describe(), v.describe());
                  parts.push_back(v);
                }
                const auto like = [&](const Value& v) -> Value {
                  if (parts[0].is_strings()) return v.strings();
                  return cast(v.tensor(), parts[0].tensor().dtype());
                };
                if (before) parts.insert(parts.begin(), like(before));
                if (after) parts.push_back(like(after));
                *row = {joined(parts)};
              },
              false);
        },
};

const TransformDef kDuplicate{
    .name = "transforms.Duplicate",
    .doc = "One column twice.",
    .make =
        [](const Options&) {
          return of_row(
              [](Row* row, Philox&) {
                if (row->size() != 1) value_error("takes one column, got {}", row->size());
                row->push_back((*row)[0]);
              },
              false);
        },
};

}  // namespace

TransformDefs array_transforms() { return {&kSlice, &kPadEnd, &kConcatenate, &kDuplicate}; }

}  // namespace mycel::data
