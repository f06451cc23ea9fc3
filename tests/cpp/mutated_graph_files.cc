#include "mutated_graph_files.h"

#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/random.h"
#include "ir/graph_file.h"
#include "ir/graph_file_layout.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace mycel::fuzz {
namespace {

constexpr const char* kSeeds[] = {
    R"(graph net(%0: float32[2, 5] "x", %1: float32[5, 3] "w", %2: float32[3] "b") {
  %3 = matmul(%0, %1) : float32[2, 3] @"net.py:12 in construct"
  %4 = add(%3, %2) : float32[2, 3]
  %5 = tanh(%4) : float32[2, 3]
  %6 = reduce_sum(%5) {axis=[1], keep_dims=True} : float32[2, 1]
  return %5, %6
})",
    R"(graph conv(%0: float32[?, 3, ?, 8] "x", %1: float32[4, 3, 3, 3] "w") {
  %2 = conv2d(%0, %1) {pad_mode="same"} : float32[?, 4, ?, 8]
  %3 = transpose(%2) {input_perm=[0, 2, 3, 1]} : float32[?, ?, 8, 4]
  %4 = reshape(%3) {shape=[-1, 4]} : float32[?, 4]
  %5 = softmax(%4) : float32[?, 4]
  return %5
})",
    R"(graph loop(%0: float32[4] "x", %1: float32[] "w") {
  %2 = constant() {value=tensor float32[4] "0000803f000080bf0000c07f00000000"} : float32[4]
  %3 = fill_constant() {value=10.0, shape=[], dtype=float32} : float32[]
  %4, %5, %6 = while_loop(%0, %1, %3) {condition=graph condition(%0: float32[4], %1: float32[], %2: float32[]) {
    %3 = less(%1, %2) : bool[]
    return %3
  }, body=graph body(%0: float32[4], %1: float32[], %2: float32[]) {
    %3 = add(%0, %1) : float32[4]
    %4 = reduce_sum(%3) : float32[]
    %5 = less(%4, %2) : bool[]
    %6 = cond(%5, %3) {then=graph then(%0: float32[4]) {
      %1 = exp(%0) : float32[4]
      return %1
    }, otherwise=graph otherwise(%0: float32[4]) {
      %1 = neg(%0) : float32[4]
      return %1
    }} : float32[4]
    return %6, %4, %2
  }} : float32[4], float32[], float32[] @"net.py:7"
  %7 = add(%4, %2) : float32[4]
  %8 = cast(%7) {dtype=bfloat16} : bfloat16[4]
  return %8, %5
})",
    R"(graph odd(%0: int32[3, 4] "i\"d\n", %1: float32[10, 6] "table", %2: bool[3, 4]) {
  %3 = gather(%1, %0) {axis=0} : float32[3, 4, 6]
  %4 = slice(%3) {begin=[0, 1, 2], size=[2, 2, 3]} : float32[2, 2, 3]
  %5 = concat(%4, %4) {axis=1} : float32[2, 4, 3]
  %6 = expand_dims(%5) {axis=0} : float32[1, 2, 4, 3]
  %7 = fused(%6) {body=graph fused(%0: float32[1, 2, 4, 3]) {
    %1 = exp(%0) : float32[1, 2, 4, 3]
    %2 = mul(%1, %0) : float32[1, 2, 4, 3]
    return %2
  }} : float32[1, 2, 4, 3]
  %8 = reduce_max(%7) {axis=[3]} : float32[1, 2, 4]
  return %8
})",
    R"(graph main(%0: int32[] "n") {
  %1 = stack_new() {dtype=float32, shape=[2]} : stack<float32[2]>
  %2 = fill_constant() {value=1.0, shape=[2]} : float32[2]
  %3 = stack_push(%1, %2) : stack<float32[2]>
  %4, %5 = stack_pop(%3) : stack<float32[2]>, float32[2]
  %6 = call(%0) {function=@down} : int32[]
  return %6, %5
}
@down(int32[]) -> int32[] = graph down(%0: int32[]) {
  %1 = fill_constant() {value=0.0, shape=[], dtype=int32} : int32[]
  %2 = greater(%0, %1) : bool[]
  %3 = cond(%2, %0) {then=graph then(%0: int32[]) {
    %1 = fill_constant() {value=1.0, shape=[], dtype=int32} : int32[]
    %2 = sub(%0, %1) : int32[]
    %3 = call(%2) {function=@down} : int32[]
    return %3
  }, otherwise=graph otherwise(%0: int32[]) {
    return %0
  }} : int32[]
  return %3
}
)"};

using Bytes = std::vector<char>;

std::vector<Bytes> make_seeds() {
  std::vector<Bytes> out;
  for (const char* text : kSeeds) {
    auto g = ir::parse(text);
    ir::GraphFile f{g, 1, {}, {}};
    for (size_t i = 1; i < g->params().size(); ++i) {
      const ir::Type& t = g->params()[i].type();
      f.weights.emplace_back(g->params()[i].node->name, Tensor::full(t.dtype, t.shape, 1));
    }
    std::string bytes = ir::encode_graph_file(f);
    out.emplace_back(bytes.begin(), bytes.end());
  }
  return out;
}

// Sizes and sums that agree with the content, so that reading goes on behind them.
void put_right(Bytes& b) {
  ir::GraphFileHead head;
  if (b.size() < sizeof head) return;
  std::memcpy(&head, b.data(), sizeof head);
  uint64_t room = b.size() - sizeof head;
  if (head.graph_bytes > room) head.graph_bytes = room / 64 * 64;
  head.tensors_offset = ir::aligned(sizeof head + head.graph_bytes);
  if (head.tensors_offset > b.size()) b.resize(head.tensors_offset);
  head.tensors_bytes = b.size() - head.tensors_offset;
  head.graph_sum = XXH3_64bits(b.data() + sizeof head, head.tensors_offset - sizeof head);
  head.tensors_sum = XXH3_64bits(b.data() + head.tensors_offset, head.tensors_bytes);
  head.head_sum = XXH3_64bits(&head, offsetof(ir::GraphFileHead, head_sum));
  std::memcpy(b.data(), &head, sizeof head);
}

void mutate(Bytes& b, Philox& draw) {
  static constexpr int64_t kValues[] = {0,
                                        1,
                                        -1,
                                        2,
                                        3,
                                        4,
                                        7,
                                        8,
                                        9,
                                        64,
                                        127,
                                        255,
                                        1000,
                                        65536,
                                        INT32_MAX,
                                        INT32_MIN,
                                        INT64_MAX,
                                        INT64_MIN,
                                        int64_t{1} << 32,
                                        int64_t{1} << 40,
                                        int64_t{1} << 62};
  if (b.empty()) return;
  // Mostly in the graph section, which is at the front.
  ir::GraphFileHead head{};
  std::memcpy(&head, b.data(), std::min(sizeof head, b.size()));
  size_t front = sizeof head + std::min<uint64_t>(head.graph_bytes, b.size());
  auto at = [&](size_t n) {
    size_t end = draw.below(8) ? std::min(b.size(), front) : b.size();
    return end <= n ? 0 : draw.below(end - n + 1);
  };
  switch (draw.below(9)) {
    case 0:
      b[at(1)] ^= static_cast<char>(1 << draw.below(8));
      return;
    case 1:
      b[at(1)] = static_cast<char>(draw.below(256));
      return;
    case 2: {  // a small change of a number
      if (b.size() < 4) return;
      char* p = b.data() + at(4) / 4 * 4;
      int32_t v;
      std::memcpy(&v, p, 4);
      v = static_cast<int32_t>(static_cast<uint32_t>(v) + static_cast<uint32_t>(draw.below(9)) - 4);
      std::memcpy(p, &v, 4);
      return;
    }
    case 3:
    case 4: {  // a number that is often a limit
      size_t width = size_t{1} << draw.below(4);
      if (b.size() < width) return;
      int64_t v = kValues[draw.below(std::size(kValues))];
      std::memcpy(b.data() + at(width) / width * width, &v, width);
      return;
    }
    case 5: {  // one place over another
      size_t n = std::min<size_t>(b.size(), size_t{4} << draw.below(5));
      std::memmove(b.data() + at(n) / 4 * 4 % (b.size() - n + 1), b.data() + at(n), n);
      return;
    }
    case 6:
      b.resize(draw.below(b.size() + 1));
      return;
    case 7: {
      Bytes extra(4 * (1 + draw.below(16)), static_cast<char>(draw.below(3)));
      b.insert(b.begin() + static_cast<std::ptrdiff_t>(at(1)), extra.begin(), extra.end());
      return;
    }
    default: {
      size_t from = at(1), n = std::min<size_t>(b.size() - from, 4 * (1 + draw.below(16)));
      b.erase(b.begin() + static_cast<std::ptrdiff_t>(from),
              b.begin() + static_cast<std::ptrdiff_t>(from + n));
    }
  }
}

// Memory of the exact size, at a multiple of 64: a read beyond it is seen by the address sanitizer.
struct Block : RefCounted {
  explicit Block(const Bytes& b) : size(b.size()) {
    data = static_cast<std::byte*>(::operator new(std::max<size_t>(size, 1), std::align_val_t(64)));
    std::memcpy(data, b.data(), size);
  }
  ~Block() override { ::operator delete(data, std::align_val_t(64)); }
  std::byte* data;
  size_t size;
};

}  // namespace

Outcome mutate_graph_files(uint64_t seed, int64_t rounds,
                           const std::function<void(const ir::Graph&)>& accepted,
                           const std::vector<std::string>& files) {
  ir::ensure_ops();
  std::vector<Bytes> seeds = make_seeds();
  for (const std::string& f : files) seeds.emplace_back(f.begin(), f.end());
  Outcome out;
  for (int64_t i = 0; i < rounds; ++i) {
    Philox draw(seed, static_cast<uint64_t>(i));
    Bytes b = seeds[draw.below(seeds.size())];
    for (uint64_t n = 1 + draw.below(3); n > 0; --n) mutate(b, draw);
    if (draw.below(8)) put_right(b);
    auto block = make_ref<Block>(b);
    try {
      ir::GraphFile f = ir::decode_graph_file({block->data, block->size}, block);
      ++out.loaded;
      if (std::string problem = ir::problem_of(*f.graph); !problem.empty())
        value_error("an unsound graph was accepted: {}", problem);
      if (accepted) accepted(*f.graph);
    } catch (const UserError& e) {
      ++out.refused;
      if (e.message().find("unsound") == std::string::npos) continue;
      out.failure = fmt::format("round {}: {}", i, e.what());
      return out;
    } catch (const std::exception& e) {
      out.failure = fmt::format("round {}: {}", i, e.what());
      return out;
    }
  }
  return out;
}

}  // namespace mycel::fuzz
