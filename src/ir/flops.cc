#include "ir/flops.h"

#include <string_view>

#include "base/error.h"
#include "ir/core_ops.h"

namespace mycel::ir {
namespace {

int64_t elements(const Type& t) {
  MYCEL_CHECK(t.shape.known(), "flops: the size of {} is not known", t.str());
  return t.shape.size();
}

int64_t all_elements(const Types& types) {
  int64_t n = 0;
  for (const Type& t : types) n += elements(t);
  return n;
}

// Products of one element of `kernel`'s own result dim: what is summed for one element of the
// result. `own`: the kernel's dim that the result has too.
int64_t summed(const Shape& kernel, int dims, int own) {
  int64_t n = 1;
  for (int i = kernel.rank() - dims; i < kernel.rank(); ++i) {
    if (i != kernel.rank() - dims + own) n *= kernel[i];
  }
  return n;
}

// "a b, c d -> e : sum(k)": the words of operand `i`, without "...".
std::vector<std::string_view> letters(std::string_view line, int i) {
  line = line.substr(0, line.find(" ->"));
  for (; i > 0; --i) line.remove_prefix(std::min(line.size(), line.find(',') + 1));
  line = line.substr(0, line.find(','));
  std::vector<std::string_view> out;
  while (!line.empty()) {
    size_t end = std::min(line.size(), line.find(' '));
    std::string_view word = line.substr(0, end);
    if (!word.empty() && word != "...") out.push_back(word);
    line.remove_prefix(std::min(line.size(), end + 1));
  }
  return out;
}

// A contraction of operand 0 with operand 1: matmul, dense and convolutions.
int64_t contraction(const Node& n, std::string_view shard) {
  std::vector<std::string_view> kernel = letters(shard, 1);
  int own = 0;
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (kernel[i] == "o" || kernel[i] == "n") own = static_cast<int>(i);
  }
  int transposed = n.op->attr_index("transpose_b");
  if (transposed >= 0 && n.attrs[transposed].boolean()) {
    own = static_cast<int>(kernel.size()) - 1 - own;
  }
  MYCEL_CHECK(!kernel.empty(), "flops: '{}' is no contraction", shard);
  int64_t out = all_elements(n.types);
  bool bias = n.inputs.size() > 2 && n.inputs[2];
  return 2 * out * summed(n.inputs[1].shape(), static_cast<int>(kernel.size()), own) +
         (bias ? out : 0);
}

int64_t regions(const Node& n) {
  int64_t total = 0;
  for (size_t i = 0; i < n.attrs.size(); ++i) {
    if (!n.attrs[i].is<GraphPtr>()) continue;
    for (const Node& inner : n.attrs[i].graph()->nodes()) {
      int64_t one = inner.is_param() ? 0 : flops(inner);
      total += one > 0 ? one : 0;
    }
  }
  return total;
}

}  // namespace

int64_t flops(const Node& n) {
  const OpDef& def = n.op->def;
  const std::string_view shard = def.shard, name = def.name;
  if (def.view || n.op == core_ops().cast) return 0;
  if (n.op->holds_code || n.op == core_ops().fused || n.op == core_ops().joined) {
    return regions(n);
  }
  if (def.scalar.set()) return all_elements(n.types);
  if (shard.find("reduce(") != shard.npos) return elements(n.inputs[0].type());
  if (shard.find(": sum(") != shard.npos) return contraction(n, shard);
  // The two halves of a convolution's gradient; a transposed convolution is the first.
  if (name == "conv_dx" || name == "conv_dw") {
    const Shape& kernel = name == "conv_dx" ? n.inputs[1].shape() : n.types[0].shape;
    int64_t dy = elements(n.inputs[name == "conv_dx" ? 0 : 1].type());
    return 2 * dy * summed(kernel, kernel.rank(), 0);
  }
  int window = n.op->attr_index("kernel_size");
  if (window >= 0 && shard.find("halo(") != shard.npos) {
    int64_t size = 1;
    for (int64_t k : n.attrs[window].ints()) size *= k;
    return elements(n.types[0]) * size;
  }
  return -1;
}

}  // namespace mycel::ir
