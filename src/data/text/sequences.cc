// Sequences of tokens or numbers: n-grams, windows, lengths.
#include <cstring>

#include "base/error.h"
#include "data/text/text.h"

namespace mycel::data {
namespace {

// Items [from, to) of the last dim of strings or numbers.
Value part(const Value& v, int64_t from, int64_t to) {
  Shape shape = v.shape();
  const int64_t width = shape[shape.rank() - 1];
  shape.set(-1, to - from);
  const int64_t rows = width ? v.shape().size() / width : 0;
  if (v.is_strings()) {
    StringArray out;
    out.shape = shape;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = from; i < to; ++i)
        out.values.push_back(v.strings().values[static_cast<size_t>(r * width + i)]);
    }
    return out;
  }
  const size_t item = size_of(v.tensor().dtype());
  Tensor out = Tensor::empty(v.tensor().dtype(), shape);
  const char* in = static_cast<const char*>(v.tensor().raw());
  char* to_bytes = static_cast<char*>(out.mutable_raw());
  const size_t row = static_cast<size_t>(to - from) * item;
  for (int64_t r = 0; r < rows && row; ++r)
    std::memcpy(to_bytes + static_cast<size_t>(r) * row,
                in + static_cast<size_t>(r * width + from) * item, row);
  return out;
}

struct Pad {
  std::string token;
  int64_t width = 0;
};

Pad pad_of(const Options& o, std::string_view name) {
  const Option& given = o[name];
  if (!given.is<Option::List>() || given.get<Option::List>().size() != 2 ||
      !given.get<Option::List>()[0].is<std::string>() ||
      !given.get<Option::List>()[1].is<int64_t>())
    o.fail(name, "must be (token, width), got {}", given.str());
  const auto& list = given.get<Option::List>();
  if (list[1].get<int64_t>() < 0)
    o.fail(name, "must have a width of 0 or more, got {}", list[1].get<int64_t>());
  return {list[0].get<std::string>(), list[1].get<int64_t>()};
}

void add_ngrams(const std::vector<std::string>& words, int64_t n, const Pad& left, const Pad& right,
                const std::string& separator, std::vector<std::string>* out) {
  const int64_t before = std::min(left.width, n - 1), behind = std::min(right.width, n - 1);
  const auto size = static_cast<int64_t>(words.size());
  const auto word = [&](int64_t i) -> const std::string& {
    if (i < before) return left.token;
    return i < before + size ? words[static_cast<size_t>(i - before)] : right.token;
  };
  const int64_t all = before + size + behind;
  if (all < n) out->emplace_back();
  for (int64_t i = 0; i + n <= all; ++i) {
    std::string gram = word(i);
    for (int64_t k = 1; k < n; ++k) gram += separator + word(i + k);
    out->push_back(std::move(gram));
  }
}

const TransformDef kNgram{
    .name = "text.Ngram",
    .doc =
        "The runs of n words of a list, joined by `separator`; of several n one after the other. "
        "left_pad and right_pad, (token, width), stand around the words, n - 1 of them at most. "
        "Where there are too few words: ''. Strings (words) to strings (n-grams). ValueError: n "
        "below 1, a negative width, no list of strings.",
    .args = {"n: ints", "left_pad: any = ('', 0)", "right_pad: any = ('', 0)",
             "separator: string = ' '"},
    .make =
        [](const Options& o) {
          const std::vector<int64_t> sizes = o.ints("n");
          if (sizes.empty()) o.fail("n", "must be one or several positive ints, got none");
          for (const int64_t n : sizes) {
            if (n < 1) o.fail("n", "must be positive, got {}", n);
          }
          return each_value([sizes, left = pad_of(o, "left_pad"), right = pad_of(o, "right_pad"),
                             separator = o.string("separator")](const Value& v) -> Value {
            const StringArray& in = v.strings();
            if (in.shape.rank() != 1)
              value_error("expected a list of strings (1 dim), got {}", v.describe());
            std::vector<std::string> out;
            for (const int64_t n : sizes) add_ngrams(in.values, n, left, right, separator, &out);
            return Value::list(std::move(out));
          });
        },
};

const TransformDef kSlidingWindow{
    .name = "text.SlidingWindow",
    .doc =
        "The windows of `width` neighbours: (n) to (n - width + 1, width), strings or numbers; an "
        "empty (0) when there are fewer than `width`. ValueError: width below 1, more than one "
        "dim, an axis that is not there.",
    .args = {"width: int", "axis: int = 0"},
    .make =
        [](const Options& o) {
          const int64_t width = o.positive("width"), axis = o.integer("axis");
          return each_value([width, axis](const Value& v) -> Value {
            if (v.shape().rank() != 1) value_error("expected 1 dim, got {}", v.describe());
            if (axis != 0 && axis != -1) value_error("there is no axis {} of 1 dim", axis);
            const int64_t n = v.shape()[0];
            if (n < width) return part(v, 0, 0);
            const Shape shape{n - width + 1, width};
            if (v.is_strings()) {
              StringArray out;
              out.shape = shape;
              for (int64_t i = 0; i + width <= n; ++i) {
                const auto from = v.strings().values.begin() + i;
                out.values.insert(out.values.end(), from, from + width);
              }
              return out;
            }
            const size_t item = size_of(v.tensor().dtype());
            Tensor out = Tensor::empty(v.tensor().dtype(), shape);
            const char* in = static_cast<const char*>(v.tensor().raw());
            char* to = static_cast<char*>(out.mutable_raw());
            const size_t row = static_cast<size_t>(width) * item;
            for (int64_t i = 0; i + width <= n; ++i)
              std::memcpy(to + static_cast<size_t>(i) * row, in + static_cast<size_t>(i) * item,
                          row);
            return out;
          });
        },
};

const TransformDef kTruncate{
    .name = "text.Truncate",
    .doc =
        "The first max_seq_len items of the last dim of 1 or 2 dims, strings or numbers. "
        "ValueError: max_seq_len below 1, other numbers of dims.",
    .args = {"max_seq_len: int"},
    .make =
        [](const Options& o) {
          const int64_t most = o.positive("max_seq_len");
          return each_value([most](const Value& v) -> Value {
            const int rank = v.shape().rank();
            if (rank != 1 && rank != 2) value_error("expected 1 or 2 dims, got {}", v.describe());
            const int64_t n = v.shape()[rank - 1];
            return n <= most ? v : part(v, 0, most);
          });
        },
};

const TransformDef kTruncateSequencePair{
    .name = "text.TruncateSequencePair",
    .doc =
        "Takes items from the end of the longer of two lists, of the second when both are equal, "
        "until they have max_length together. Two columns, each (n), strings or numbers. "
        "ValueError: a negative max_length, not two columns, not 1 dim.",
    .args = {"max_length: int"},
    .make =
        [](const Options& o) {
          const int64_t most = o.integer("max_length");
          if (most < 0) o.fail("max_length", "must not be negative, got {}", most);
          return of_row(
              [most](Row* values, Philox&) {
                if (values->size() != 2)
                  value_error("expected two columns, got {}", values->size());
                for (const Value& v : *values) {
                  if (v.shape().rank() != 1) value_error("expected 1 dim, got {}", v.describe());
                }
                int64_t a = (*values)[0].shape()[0], b = (*values)[1].shape()[0];
                // As if items were taken one by one, from the longer, from the second when equal.
                int64_t excess = std::max<int64_t>(0, a + b - most);
                const int64_t uneven = std::min(excess, std::abs(a - b));
                (a > b ? a : b) -= uneven;
                excess -= uneven;
                a -= excess / 2;
                b -= (excess + 1) / 2;
                (*values)[0] = part((*values)[0], 0, a);
                (*values)[1] = part((*values)[1], 0, b);
              },
              false);
        },
};

const TransformDef kAddToken{
    .name = "text.AddToken",
    .doc =
        "One token more in front of the words (begin) or behind them: (n) to (n + 1), (m, n) to "
        "(m, n + 1). ValueError: other numbers of dims. TypeError: numbers.",
    .args = {"token: string", "begin: bool = True"},
    .make =
        [](const Options& o) {
          return each_value(
              [token = o.string("token"), begin = o.boolean("begin")](const Value& v) -> Value {
                const StringArray& in = v.strings();
                const int rank = in.shape.rank();
                if (rank != 1 && rank != 2)
                  value_error("expected 1 or 2 dims, got {}", v.describe());
                const int64_t n = in.shape[rank - 1], rows = rank == 2 ? in.shape[0] : 1;
                StringArray out;
                out.shape = in.shape;
                out.shape.set(-1, n + 1);
                for (int64_t r = 0; r < rows; ++r) {
                  const auto from = in.values.begin() + r * n;
                  if (begin) out.values.push_back(token);
                  out.values.insert(out.values.end(), from, from + n);
                  if (!begin) out.values.push_back(token);
                }
                return out;
              });
        },
};

}  // namespace

TransformDefs sequence_transforms() {
  return {&kNgram, &kSlidingWindow, &kTruncate, &kTruncateSequencePair, &kAddToken};
}

}  // namespace mycel::data
