// Sequences and optionals. Which tensors a sequence holds is known while a graph is traced; the
// tensors themselves need not be.
#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

Values sequence_construct(Call& c) {
  Values items;
  for (int i = 0; i < c.inputs(); ++i) items.push_back(c.value(i));
  return {Value::sequence(std::move(items))};
}

Values sequence_empty(Call&) { return {Value::sequence({})}; }

size_t place(Call& c, int input, size_t size, size_t allowed) {
  int64_t at = c.known_ints(input).at(0);
  if (at < 0) at += static_cast<int64_t>(size);
  if (at < 0 || at >= static_cast<int64_t>(allowed))
    c.fail("position {} of a sequence of {}", at, size);
  return static_cast<size_t>(at);
}

Values sequence_at(Call& c) {
  const Values& items = c.items(0);
  return {items[place(c, 1, items.size(), items.size())]};
}

Values sequence_insert(Call& c) {
  Values items = c.items(0);
  size_t at = c.has(2) ? place(c, 2, items.size(), items.size() + 1) : items.size();
  items.insert(items.begin() + static_cast<int64_t>(at), c.value(1));
  return {Value::sequence(std::move(items))};
}

Values sequence_erase(Call& c) {
  Values items = c.items(0);
  if (items.empty()) c.fail("the sequence is empty");
  size_t at = c.has(1) ? place(c, 1, items.size(), items.size()) : items.size() - 1;
  items.erase(items.begin() + static_cast<int64_t>(at));
  return {Value::sequence(std::move(items))};
}

Values sequence_length(Call& c) {
  return one(Tensor::scalar(DType::kInt64, static_cast<int64_t>(c.items(0).size())));
}

Values split_to_sequence(Call& c) {
  Tensor x = c.x(0);
  int axis = axis_of(c, c.integer("axis", 0), x.rank());
  int64_t n = c.dims(x)[static_cast<size_t>(axis)];
  bool keep = c.flag("keepdims", true);
  Ints sizes;
  if (!c.has(1)) {
    sizes.assign(static_cast<size_t>(n), 1);
  } else if (c.x(1).rank() == 0) {
    int64_t each = c.known_ints(1).at(0);
    if (each < 1) c.fail("parts of {} rows", each);
    for (int64_t left = n; left > 0; left -= each) sizes.push_back(std::min(each, left));
  } else {
    sizes = c.known_ints(1);
  }
  Values items;
  int64_t at = 0;
  for (int64_t s : sizes) {
    Tensor part = ops::narrow(x, axis, at, s);
    if (!c.has(1) && !keep) part = ops::squeeze(part, ir::Attr(Ints{axis}));
    items.emplace_back(part);
    at += s;
  }
  if (at != n) c.fail("the parts have {} rows, the input {}", at, n);
  return {Value::sequence(std::move(items))};
}

Values concat_from_sequence(Call& c) {
  Tensors parts;
  for (const Value& v : c.items(0)) parts.push_back(v.tensor);
  int64_t axis = c.integer("axis");
  return one(c.flag("new_axis", false) ? ops::stack(parts, axis) : ops::concat(parts, axis));
}

Values sequence_map(Call& c) {
  const pb::Graph* body = c.graph("body");
  std::vector<Values> out(static_cast<size_t>(body->output_size()));
  size_t n = c.items(0).size();
  for (size_t i = 0; i < n; ++i) {
    Values in;
    for (int k = 0; k < c.inputs(); ++k) {
      const Value& v = c.value(k);
      bool each = v.kind == Value::Kind::kSequence;
      if (each && v.items.size() != n)
        c.fail("input {} has {} items, input 0 has {}", k, v.items.size(), n);
      in.push_back(each ? v.items[i] : v);
    }
    Values r = run_region(*body, c.scope, in);
    for (size_t k = 0; k < out.size(); ++k) out[k].push_back(r.at(k));
  }
  Values results;
  for (Values& items : out) results.push_back(Value::sequence(std::move(items)));
  return results;
}

Values optional(Call& c) { return {c.has(0) ? c.value(0) : Value()}; }
Values optional_has_element(Call& c) { return one(number(c.has(0) ? 1 : 0, DType::kBool)); }
Values optional_get_element(Call& c) {
  if (!c.has(0)) c.fail("the optional is empty");
  return {c.value(0)};
}

constexpr Record kRecords[] = {
    {"SequenceConstruct", sequence_construct},
    {"SequenceEmpty", sequence_empty},
    {"SequenceAt", sequence_at, "1"},
    {"SequenceInsert", sequence_insert, "2"},
    {"SequenceErase", sequence_erase, "1"},
    {"SequenceLength", sequence_length},
    {"SplitToSequence", split_to_sequence, "1"},
    {"ConcatFromSequence", concat_from_sequence},
    {"SequenceMap", sequence_map},
    {"Optional", optional},
    {"OptionalHasElement", optional_has_element},
    {"OptionalGetElement", optional_get_element},
};

}  // namespace

Records sequence_records() { return kRecords; }

}  // namespace mycel::interop::onnx
