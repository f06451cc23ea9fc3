#include "data/text/tokens.h"

#include "base/error.h"

namespace mycel::data {
namespace {

void give(Tokens tokens, bool with_offsets, Row* values) {
  if (tokens.values.empty()) tokens.add("", 0, 0);
  const auto n = static_cast<int64_t>(tokens.values.size());
  *values = {Value::list(std::move(tokens.values))};
  if (!with_offsets) return;
  values->emplace_back(Tensor::from(tokens.starts, {n}));
  values->emplace_back(Tensor::from(tokens.limits, {n}));
}

const StringArray& only_strings(const Row& values) {
  if (values.size() != 1) value_error("cuts one column into words, got {}", values.size());
  return values[0].strings();
}

}  // namespace

std::shared_ptr<Transform> tokenizer(Tokenizer f, bool with_offsets) {
  return of_row(
      [f = std::move(f), with_offsets](Row* values, Philox&) {
        only_strings(*values);
        Tokens tokens;
        f((*values)[0].string(), &tokens);
        give(std::move(tokens), with_offsets, values);
      },
      false);
}

std::shared_ptr<Transform> tokenizer_of_tokens(TokensTokenizer f, bool with_offsets) {
  return of_row(
      [f = std::move(f), with_offsets](Row* values, Philox&) {
        const StringArray& s = only_strings(*values);
        if (s.shape.rank() > 1)
          value_error("expected one string or a list of strings, got {}", (*values)[0].describe());
        Tokens tokens;
        f(s.values, &tokens);
        give(std::move(tokens), with_offsets, values);
      },
      false);
}

std::shared_ptr<Transform> each_string(std::function<std::string(const std::string&)> f) {
  return each_value([f = std::move(f)](const Value& v) -> Value {
    const StringArray& in = v.strings();
    StringArray out;
    out.shape = in.shape;
    out.values.reserve(in.values.size());
    for (const std::string& s : in.values) out.values.push_back(f(s));
    return out;
  });
}

}  // namespace mycel::data
