#include <algorithm>
#include <atomic>
#include <cstring>

#include "lite/runtime/nest_program.h"
#include "lite/runtime/threads.h"

namespace mycel::lite {

// One thread's run of a stage.
class NestRunner {
 public:
  using P = NestProgram;
  NestRunner(const P& p, uint64_t* memory, void* const* buffers, const uint64_t* bytes)
      : p_(p), l_(lanes()), memory_(memory), buffers_(buffers), bytes_(bytes) {}

  bool stage(const P::Stage& stage, int64_t begin, int64_t end) {
    for (const P::E& e : p_.exprs_) {
      if (e.op == Op::kLiteral) leaf(e, e.bits);
      if (e.op == Op::kNumber) leaf(e, p_.numbers_[e.index]);
    }
    list(p_.preamble_);
    const P::E& i = p_.exprs_[stage.induction];
    if (stage.lanes) {
      for (int64_t b = begin; b < end && !bad_; b += p_.width_) {
        n_ = static_cast<int>(std::min<int64_t>(p_.width_, end - b));
        set_index(i, b);
        list(stage.body);
      }
    } else {
      for (int64_t b = begin; b < end && !bad_; ++b) {
        set_index(i, b);
        list(stage.body);
      }
    }
    return !bad_;
  }

 private:
  using E = P::E;
  using S = P::S;

  char* at(const E& e) { return reinterpret_cast<char*>(memory_ + e.at); }
  char* at(int32_t e) { return at(p_.exprs_[e]); }
  int64_t& word(const E& e) { return *reinterpret_cast<int64_t*>(memory_ + e.at); }
  int64_t word(int32_t e) { return word(p_.exprs_[e]); }
  char* var(int32_t v) { return reinterpret_cast<char*>(memory_ + p_.vars_[v].at); }
  int32_t* mask_at(int depth) {
    return reinterpret_cast<int32_t*>(memory_ + p_.masks_) +
           static_cast<ptrdiff_t>(depth) * ((p_.width_ * 4 + 63) / 64 * 16);
  }

  // Literals and numbers: integers as they are, reals as the bits of a double.
  void leaf(const E& e, int64_t bits) {
    char* p = at(e);
    switch (lane_type(e.dtype)) {
      case LaneType::kInt32: {
        const auto v = static_cast<int32_t>(bits);
        std::memcpy(p, &v, 4);
        break;
      }
      case LaneType::kFloat: {
        double d;
        std::memcpy(&d, &bits, 8);
        const auto v = static_cast<float>(d);
        std::memcpy(p, &v, 4);
        break;
      }
      default:
        std::memcpy(p, &bits, 8);
    }
    if (e.spread) fill(e);
  }

  // Lane 0 in all lanes; of a linear value, its steps.
  void fill(const E& e) {
    char* p = at(e);
    const int n = p_.width_;
    if (e.cls == P::kLinear) {
      auto* x = reinterpret_cast<int64_t*>(p);
      const int64_t base = x[0], step = e.step;
      for (int i = 0; i < n; ++i) {
        x[i] = static_cast<int64_t>(static_cast<uint64_t>(base) +
                                    static_cast<uint64_t>(step) * static_cast<uint64_t>(i));
      }
    } else if (lane_bytes(e.dtype) == 4) {
      auto* x = reinterpret_cast<int32_t*>(p);
      std::fill(x, x + n, x[0]);
    } else {
      auto* x = reinterpret_cast<int64_t*>(p);
      std::fill(x, x + n, x[0]);
    }
  }

  void set_index(const E& e, int64_t i) {
    word(e) = i;
    if (e.spread) fill(e);
  }

  // -- one value for all lanes
  void single(const E& e) {
    if (e.op == Op::kLoad) {
      const int64_t offset = word(e.arg[0]);
      if (outside(e.index, offset, offset)) return;
      l_.load(p_.buffers_[e.index].dtype, at(e), element(e.index, offset), 1, 1);
    } else if (e.op == Op::kVar) {
      std::memcpy(at(e), var(e.index), 8);
    } else if (e.dtype == DType::kInt64 && index_operation(e)) {
    } else {
      l_.operation(e.op, e.dtype, e.from, at(e), e.count > 0 ? at(e.arg[0]) : nullptr,
                   e.count > 1 ? at(e.arg[1]) : nullptr, e.count > 2 ? at(e.arg[2]) : nullptr, 1);
    }
    if (e.spread) fill(e);
  }

  // Most of what is computed once is positions.
  bool index_operation(const E& e) {
    const auto x = static_cast<uint64_t>(e.count > 0 ? word(e.arg[0]) : 0),
               y = static_cast<uint64_t>(e.count > 1 ? word(e.arg[1]) : 0);
    switch (e.op) {
      case Op::kAdd:
        word(e) = static_cast<int64_t>(x + y);
        return true;
      case Op::kSub:
        word(e) = static_cast<int64_t>(x - y);
        return true;
      case Op::kMul:
        word(e) = static_cast<int64_t>(x * y);
        return true;
      default:
        return false;
    }
  }

  // -- lane by lane
  void many(const E& e) {
    if (e.op == Op::kLoad) return gather(e);
    if (e.op == Op::kVar) {
      std::memcpy(at(e), var(e.index), static_cast<size_t>(n_ * lane_bytes(e.dtype)));
      return;
    }
    l_.operation(e.op, e.dtype, e.from, at(e), e.count > 0 ? at(e.arg[0]) : nullptr,
                 e.count > 1 ? at(e.arg[1]) : nullptr, e.count > 2 ? at(e.arg[2]) : nullptr, n_);
  }

  int64_t element_bytes(int32_t buffer) const {
    return static_cast<int64_t>(size_of(real_part_of(p_.buffers_[buffer].dtype)));
  }
  char* element(int32_t buffer, int64_t offset) const {
    return static_cast<char*>(buffers_[buffer]) + offset * element_bytes(buffer);
  }
  int64_t elements(int32_t buffer) const {
    return static_cast<int64_t>(bytes_[buffer]) / element_bytes(buffer);
  }
  bool outside(int32_t buffer, int64_t first, int64_t last) {
    if (first > last) std::swap(first, last);
    if (first >= 0 && last < elements(buffer)) return false;
    bad_ = true;
    return true;
  }

  template <typename T>
  void gather_as(T* to, int32_t buffer, const int64_t* offset) {
    const int64_t count = elements(buffer);
    const T* from = static_cast<const T*>(buffers_[buffer]);
    for (int i = 0; i < n_; ++i) {
      if (mask_ && !mask_[i]) {
        to[i] = T{};
        continue;
      }
      if (static_cast<uint64_t>(offset[i]) >= static_cast<uint64_t>(count)) {
        bad_ = true;
        return;
      }
      to[i] = from[offset[i]];
    }
  }
  template <typename T>
  void scatter_as(int32_t buffer, const int64_t* offset, const T* from) {
    const int64_t count = elements(buffer);
    T* to = static_cast<T*>(buffers_[buffer]);
    for (int i = 0; i < n_; ++i) {
      if (mask_ && !mask_[i]) continue;
      if (static_cast<uint64_t>(offset[i]) >= static_cast<uint64_t>(count)) {
        bad_ = true;
        return;
      }
      to[offset[i]] = from[i];
    }
  }

  // Positions of all lanes of a value that need not be spread.
  const int64_t* positions(const E& e, int64_t* room) {
    if (e.cls == P::kVarying) return reinterpret_cast<const int64_t*>(at(e));
    const int64_t base = word(e), step = e.cls == P::kLinear ? e.step : 0;
    for (int i = 0; i < n_; ++i) {
      room[i] = static_cast<int64_t>(static_cast<uint64_t>(base) +
                                     static_cast<uint64_t>(step) * static_cast<uint64_t>(i));
    }
    return room;
  }

  void gather(const E& e) {
    const E& offset = p_.exprs_[e.arg[0]];
    const DType stored = p_.buffers_[e.index].dtype;
    if (offset.cls == P::kLinear && !mask_) {
      const int64_t first = word(offset), last = first + offset.step * (n_ - 1);
      if (outside(e.index, first, last)) return;
      return l_.load(stored, at(e), element(e.index, first), offset.step, n_);
    }
    alignas(64) int64_t room[kMost], got[kMost];
    const int64_t* where = positions(offset, room);
    switch (element_bytes(e.index)) {
      case 1:
        gather_as(reinterpret_cast<uint8_t*>(got), e.index, where);
        break;
      case 2:
        gather_as(reinterpret_cast<uint16_t*>(got), e.index, where);
        break;
      case 4:
        gather_as(reinterpret_cast<uint32_t*>(got), e.index, where);
        break;
      default:
        gather_as(reinterpret_cast<uint64_t*>(got), e.index, where);
    }
    if (!bad_) l_.load(stored, at(e), got, 1, n_);
  }

  void store(const S& s) {
    const E& offset = p_.exprs_[s.a];
    const DType stored = p_.buffers_[s.index].dtype;
    if (!in_lanes()) {
      const int64_t to = word(offset);
      if (outside(s.index, to, to)) return;
      return l_.store(stored, element(s.index, to), 1, at(s.b), 1);
    }
    if (offset.cls == P::kLinear && !mask_) {
      const int64_t first = word(offset), last = first + offset.step * (n_ - 1);
      if (outside(s.index, first, last)) return;
      return l_.store(stored, element(s.index, first), offset.step, at(s.b), n_);
    }
    alignas(64) int64_t room[kMost], put[kMost];
    const int64_t* where = positions(offset, room);
    l_.store(stored, put, 1, at(s.b), n_);
    switch (element_bytes(s.index)) {
      case 1:
        return scatter_as(s.index, where, reinterpret_cast<const uint8_t*>(put));
      case 2:
        return scatter_as(s.index, where, reinterpret_cast<const uint16_t*>(put));
      case 4:
        return scatter_as(s.index, where, reinterpret_cast<const uint32_t*>(put));
      default:
        return scatter_as(s.index, where, reinterpret_cast<const uint64_t*>(put));
    }
  }

  void set(const S& s) {
    const P::V& v = p_.vars_[s.index];
    if (s.fold) {
      const E& e = p_.exprs_[s.a];
      const E& left = p_.exprs_[e.arg[0]];
      const bool first = left.op == Op::kVar && left.index == s.index;
      int64_t part = 0;
      l_.fold(e.op, e.dtype, &part, at(e.arg[first ? 1 : 0]), n_);
      return l_.operation(e.op, e.dtype, e.dtype, var(s.index), var(s.index), &part, nullptr, 1);
    }
    if (!v.varying) {
      std::memcpy(var(s.index), at(s.a), static_cast<size_t>(lane_bytes(v.dtype)));
    } else if (mask_) {
      l_.operation(Op::kSelect, v.dtype, DType::kBool, var(s.index), mask_, at(s.a), var(s.index),
                   n_);
    } else {
      std::memcpy(var(s.index), at(s.a), static_cast<size_t>(n_ * lane_bytes(v.dtype)));
    }
  }

  bool in_lanes() const { return n_ > 0; }

  // Runs `body` under the lanes for which active(i) holds as well; nothing when there are none.
  template <typename F, typename Body>
  bool under(F active, Body body) {
    int32_t* mask = mask_at(depth_);
    int any = 0;
    for (int i = 0; i < n_; ++i) any |= mask[i] = (!mask_ || mask_[i]) && active(i);
    if (!any) return false;
    const int32_t* outer = mask_;
    mask_ = mask;
    ++depth_;
    body();
    --depth_;
    mask_ = outer;
    return true;
  }

  void loop(const S& s) {
    const E& i = p_.exprs_[s.b];
    if (s.lanes) {
      const int64_t extent = word(s.a);
      for (int64_t b = 0; b < extent && !bad_; b += p_.width_) {
        n_ = static_cast<int>(std::min<int64_t>(p_.width_, extent - b));
        set_index(i, b);
        list(s.body);
      }
      n_ = 0;
      return;
    }
    if (!s.varying) {
      const int64_t extent = word(s.a);
      for (int64_t b = 0; b < extent && !bad_; ++b) {
        set_index(i, b);
        list(s.body);
      }
      return;
    }
    int64_t extent[kMost];
    std::memcpy(extent, at(s.a), sizeof(int64_t) * static_cast<size_t>(n_));
    for (int64_t b = 0; !bad_; ++b) {
      const bool any = under([&](int l) { return b < extent[l]; },
                             [&] {
                               set_index(i, b);
                               list(s.body);
                             });
      if (!any) break;
    }
  }

  void while_loop(const S& s) {
    if (!s.varying) {
      for (list(s.other); !bad_ && truth(s.a); list(s.other)) list(s.body);
      return;
    }
    // Lanes that are through stay so: each turn's mask lies within the last one's.
    int32_t alive[kMost];
    for (int i = 0; i < n_; ++i) alive[i] = 1;
    for (;;) {
      bool more = false;
      under([&](int i) { return alive[i] != 0; },
            [&] {
              list(s.other);
              const auto* c = reinterpret_cast<const int32_t*>(at(s.a));
              for (int i = 0; i < n_; ++i) alive[i] = alive[i] && mask_[i] && c[i];
              more = !bad_ && under([&](int i) { return alive[i] != 0; }, [&] { list(s.body); });
            });
      if (!more || bad_) return;
    }
  }

  int32_t truth(int32_t e) { return *reinterpret_cast<const int32_t*>(at(e)); }

  void branch(const S& s) {
    if (!s.varying) return list(truth(s.a) ? s.body : s.other);
    int32_t c[kMost];
    std::memcpy(c, at(s.a), sizeof(int32_t) * static_cast<size_t>(n_));
    under([&](int i) { return c[i] != 0; }, [&] { list(s.body); });
    if (s.other >= 0 && !bad_) under([&](int i) { return c[i] == 0; }, [&] { list(s.other); });
  }

  void list(int32_t s) {
    for (; s >= 0 && !bad_; s = p_.stmts_[s].next) {
      const S& stmt = p_.stmts_[s];
      switch (stmt.kind) {
        case P::kLet: {
          const E& e = p_.exprs_[stmt.a];
          e.cls == P::kVarying ? many(e) : single(e);
          break;
        }
        case P::kStore:
          store(stmt);
          break;
        case P::kSet:
          set(stmt);
          break;
        case P::kLoop:
          loop(stmt);
          break;
        case P::kWhile:
          while_loop(stmt);
          break;
        case P::kIf:
          branch(stmt);
          break;
      }
    }
  }

  static constexpr int kMost = 256;

  const P& p_;
  const Lanes& l_;
  uint64_t* memory_;
  void* const* buffers_;
  const uint64_t* bytes_;
  const int32_t* mask_ = nullptr;
  int n_ = 0;  // lanes; 0 outside of a loop that runs on them
  int depth_ = 0;
  bool bad_ = false;
};

bool NestProgram::run(void* const* buffers, const uint64_t* bytes, Threads& threads,
                      std::vector<LaneMemory>& memory) const {
  constexpr int64_t kWorthwhile = 20000;  // nanoseconds of one piece of work
  for (const Stage& s : stages_) {
    int64_t grain = std::max<int64_t>(1, kWorthwhile / std::max<int64_t>(s.cost, 1));
    if (s.lanes) grain = (grain + width_ - 1) / width_ * width_;
    std::atomic<bool> good = true;
    threads.run(s.extent, grain, [&](int worker, int64_t begin, int64_t end) {
      std::vector<uint64_t>& words = memory[static_cast<size_t>(worker)].words;
      if (words.size() < words_ + 8) words.resize(words_ + 8);
      // Values begin at cache lines.
      auto* aligned =
          reinterpret_cast<uint64_t*>((reinterpret_cast<uintptr_t>(words.data()) + 63) / 64 * 64);
      if (!NestRunner(*this, aligned, buffers, bytes).stage(s, begin, end)) good = false;
    });
    if (!good) return false;
  }
  return true;
}

}  // namespace mycel::lite
