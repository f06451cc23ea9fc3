#include "loops/nest.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "loops/expr.h"

namespace mycel::loops {

// -- Impl: the arena and the record of what was built
// ----------------------------------------------

Nest::Impl::~Impl() {
  for (char* chunk : chunks_) ::operator delete(chunk);
}

void* Nest::Impl::allocate(size_t bytes) {
  bytes = (bytes + 15) & ~size_t{15};
  if (at_ + bytes > end_) {
    at_ = static_cast<char*>(::operator new(kChunk));
    end_ = at_ + kChunk;
    chunks_.push_back(at_);
  }
  void* result = at_;
  at_ += bytes;
  return result;
}

void Nest::Impl::use(const Expr* e) const {
  MYCEL_CHECK(e->home == this, "{}: a value of another nest is used", name);
  MYCEL_CHECK(open[e->block], "{}: value %{} ({}) is used outside the loop or branch that made it",
              name, e->id, name_of(e->op));
}

Expr* Nest::Impl::leaf(Op op, DType dtype, int32_t index) {
  Expr* e = new (allocate(sizeof(Expr)))
      Expr{.op = op, .dtype = dtype, .id = expr_count++, .index = index};
  e->home = this;
  struct {
    Op op;
    DType dtype;
    int16_t index;
  } entry{op, dtype, static_cast<int16_t>(index)};
  note(&entry, sizeof entry);
  return e;
}

Expr* Nest::Impl::literal(DType dtype, int64_t bits) {
  for (Expr* e : literals) {
    if (e->bits == bits && e->dtype == dtype) return e;
  }
  Expr* e = leaf(Op::kLiteral, dtype, 0);
  e->bits = bits;
  note(&bits, sizeof bits);
  literals.push_back(e);
  return e;
}

Stmt* Nest::Impl::append(Stmt::Kind kind) {
  Stmt* s = new (allocate(sizeof(Stmt))) Stmt{.kind = kind};
  *tail = s;
  tail = &s->next;
  return s;
}

Expr* Nest::Impl::add(Op op, DType dtype, std::initializer_list<Expr*> args, int32_t index) {
  MYCEL_CHECK(in_stage || (op != Op::kLoad && op != Op::kVar), "{}: {} outside any stage", name,
              name_of(op));
  Expr* e = new (allocate(sizeof(Expr)))
      Expr{.op = op, .dtype = dtype, .id = expr_count++, .index = index};
  e->block = block;
  e->home = this;
  struct {
    Op op;
    DType dtype;
    int16_t index;
    int32_t args[3];
  } entry{op, dtype, static_cast<int16_t>(index), {-1, -1, -1}};
  for (Expr* arg : args) {
    use(arg);
    entry.args[e->count] = arg->id;
    e->arg[e->count++] = arg;
  }
  note(&entry, sizeof entry);
  append(Stmt::kLet)->a = e;
  return e;
}

// -- Nest
// ------------------------------------------------------------------------------------------

Nest::Nest(std::string name) : impl_(std::make_unique<Impl>(std::move(name))) {
  impl_->self = this;
}
Nest::~Nest() = default;
Nest::Nest(Nest&& o) noexcept : impl_(std::move(o.impl_)) { impl_->self = this; }
Nest& Nest::operator=(Nest&& o) noexcept {
  impl_ = std::move(o.impl_);
  impl_->self = this;
  return *this;
}

namespace {

enum Mark : uint8_t {
  kBufferMark = 0xe0,
  kStageMark,
  kStoreMark,
  kSetMark,
  kLoopMark,
  kWhileMark,
  kIfMark,
  kElseMark,
  kVarMark,
  kInPlaceMark
};

void mark(Nest::Impl& impl, Mark what, int32_t a, int32_t b = 0, int32_t c = 0) {
  char bytes[13] = {static_cast<char>(what)};
  std::memcpy(bytes + 1, &a, 4);
  std::memcpy(bytes + 5, &b, 4);
  std::memcpy(bytes + 9, &c, 4);
  impl.note(bytes, sizeof bytes);
}

Buf declare(Nest& nest, DType dtype, Nest::BufferInfo::Role role, int64_t elements) {
  Nest::Impl& impl = nest.impl();
  MYCEL_CHECK(impl.buffers.empty() || impl.buffers.back().role <= role,
              "{}: buffers are declared as inputs, outputs, scratch", impl.name);
  MYCEL_CHECK(!impl.in_stage, "{}: a buffer was declared inside a stage", impl.name);
  impl.buffers.push_back({dtype, role, elements});
  impl.in_place.push_back(false);
  mark(impl, kBufferMark, static_cast<int>(dtype), role);
  return {&nest, static_cast<int>(impl.buffers.size()) - 1, dtype};
}

// The dtype that a load of a buffer has as a real Val.
DType register_type(DType stored) {
  if (stored == DType::kFloat16 || stored == DType::kBFloat16) return DType::kFloat32;
  return real_part_of(stored);
}

// A guess at what one run of these statements costs, in loads of one element: functions are dear, a
// division or a gather is not told apart from the rest.
double work(const Nest::Impl& impl, const Stmt* s) {
  constexpr double kArithmetic = 0.25, kFunction = 8, kUnknownTrips = 64;
  double sum = 0;
  for (; s; s = s->next) {
    double once = 0, times = 1;
    if (s->kind == Stmt::kLet)
      once = is_function(s->a->op) ? kFunction : s->a->op == Op::kLoad ? 1 : kArithmetic;
    if (s->kind == Stmt::kStore) once = 1;
    if (s->kind == Stmt::kWhile) times = kUnknownTrips;
    if (s->kind == Stmt::kLoop) {
      times = s->a->is_literal()        ? static_cast<double>(s->a->bits)
              : s->a->op == Op::kNumber ? static_cast<double>(impl.numbers[s->a->index])
                                        : kUnknownTrips;
      // Most computed extents are `min(rest, block)`.
      if (s->a->op == Op::kMin && s->a->arg[1]->is_literal())
        times = static_cast<double>(s->a->arg[1]->bits);
    }
    sum += times * (once + work(impl, s->body) + work(impl, s->other));
  }
  return sum;
}

void check_offset(const Nest::Impl& impl, const Val& offset) {
  MYCEL_CHECK(offset.n && offset.dtype() == DType::kInt64, "{}: an offset must be int64",
              impl.name);
  impl.use(offset.n);
}

}  // namespace

Buf Nest::input(DType dtype) { return declare(*this, dtype, BufferInfo::kInput, 0); }
Buf Nest::output(DType dtype) { return declare(*this, dtype, BufferInfo::kOutput, 0); }
Buf Nest::scratch(DType dtype, int64_t elements) {
  return declare(*this, dtype, BufferInfo::kScratch, elements);
}
void Nest::allow_in_place(Buf input) {
  MYCEL_CHECK(impl_->buffers[input.index].role == BufferInfo::kInput,
              "only an input can be donated");
  impl_->in_place[input.index] = true;
  mark(*impl_, kInPlaceMark, input.index);
}

Val Nest::number(int64_t value) {
  impl_->numbers.push_back(value);
  impl_->number_types.push_back(DType::kInt64);
  return {impl_->leaf(Op::kNumber, DType::kInt64, static_cast<int32_t>(impl_->numbers.size()) - 1)};
}
Val Nest::number(double value, DType dtype) {
  MYCEL_CHECK(dtype == DType::kFloat32 || dtype == DType::kFloat64, "a run-time number of dtype {}",
              mycel::name_of(dtype));
  if (dtype == DType::kFloat32) value = static_cast<double>(static_cast<float>(value));
  impl_->numbers.push_back(std::bit_cast<int64_t>(value));
  impl_->number_types.push_back(dtype);
  return {impl_->leaf(Op::kNumber, dtype, static_cast<int32_t>(impl_->numbers.size()) - 1)};
}
Val Nest::literal(DType dtype, int64_t value) { return constant(*this, dtype, value); }
Val Nest::literal(DType dtype, double value) { return constant(*this, dtype, value); }

Val Nest::load(Buf b, Val offset) {
  check_offset(*impl_, offset);
  const DType type = register_type(b.dtype);
  if (!is_complex(b.dtype)) return {impl_->add(Op::kLoad, type, {offset.n}, b.index)};
  const Val first = offset * 2;
  return {impl_->add(Op::kLoad, type, {first.n}, b.index),
          impl_->add(Op::kLoad, type, {(first + 1).n}, b.index)};
}

void Nest::store(Buf b, Val offset, Val value) {
  check_offset(*impl_, offset);
  MYCEL_CHECK(impl_->in_stage, "{}: store outside any stage", impl_->name);
  MYCEL_CHECK(impl_->buffers[b.index].role != BufferInfo::kInput, "{}: store to an input",
              impl_->name);
  value = cast(value, b.dtype);
  if (impl_->capture && impl_->capture(b.index, offset, value)) return;
  auto put = [&](Val at, Expr* part) {
    impl_->use(part);
    Stmt* s = impl_->append(Stmt::kStore);
    s->index = b.index;
    s->a = at.n;
    s->b = part;
    mark(*impl_, kStoreMark, b.index, at.n->id, part->id);
  };
  if (!is_complex(b.dtype)) return put(offset, value.n);
  const Val first = offset * 2, second = first + 1;
  put(first, value.n);
  put(second, value.im);
}

void Nest::parallel(int64_t extent, int64_t cost, const std::function<void(Val)>& body) {
  MYCEL_CHECK(!impl_->in_stage, "{}: stages do not nest", impl_->name);
  Stage stage{extent, cost, nullptr, nullptr};
  mark(*impl_, kStageMark, 0);
  impl_->in_stage = true;
  impl_->in_block(&stage.body, [&] {
    stage.induction = impl_->leaf(Op::kIndex, DType::kInt64, 0);
    stage.induction->block = impl_->block;
    body(Val{stage.induction});
  });
  impl_->in_stage = false;
  if (stage.cost <= 0)
    stage.cost = std::max<int64_t>(1, static_cast<int64_t>(work(*impl_, stage.body)));
  impl_->stages.push_back(stage);
}

void Nest::loop(Val extent, LoopKind kind, const std::function<void(Val)>& body, Trips trips) {
  check_offset(*impl_, extent);
  MYCEL_CHECK(impl_->in_stage, "{}: loop outside any stage", impl_->name);
  Stmt* s = impl_->append(Stmt::kLoop);
  s->loop = kind;
  s->trips = trips;
  s->a = extent.n;
  mark(*impl_, kLoopMark, static_cast<int>(kind), extent.n->id, static_cast<int>(trips));
  impl_->in_block(&s->body, [&] {
    s->b = impl_->leaf(Op::kIndex, DType::kInt64, 0);
    s->b->block = impl_->block;
    body(Val{s->b});
  });
}

void Nest::loop_while(const std::function<Val()>& condition, const std::function<void()>& body) {
  MYCEL_CHECK(impl_->in_stage, "{}: loop outside any stage", impl_->name);
  Stmt* s = impl_->append(Stmt::kWhile);
  mark(*impl_, kWhileMark, 0);
  impl_->in_block(&s->other, [&] {
    const Val c = cast(condition(), DType::kBool);
    impl_->use(c.n);
    s->a = c.n;
    mark(*impl_, kWhileMark, c.n->id);
  });
  impl_->in_block(&s->body, body);
}

void Nest::if_(Val condition, const std::function<void()>& then,
               const std::function<void()>& otherwise) {
  MYCEL_CHECK(impl_->in_stage, "{}: branch outside any stage", impl_->name);
  condition = cast(condition, DType::kBool);
  impl_->use(condition.n);
  Stmt* s = impl_->append(Stmt::kIf);
  s->a = condition.n;
  mark(*impl_, kIfMark, condition.n->id);
  impl_->in_block(&s->body, then);
  if (otherwise) {
    mark(*impl_, kElseMark, 0);
    impl_->in_block(&s->other, otherwise);
  }
}

Var Nest::var(Val initial) {
  MYCEL_CHECK(impl_->in_stage, "{}: variable outside any stage", impl_->name);
  Var v;
  v.nest = this;
  v.dtype = initial.dtype();
  v.index = static_cast<int>(impl_->vars.size());
  impl_->vars.push_back(initial.n->dtype);
  if (initial.im) impl_->vars.push_back(initial.im->dtype);
  mark(*impl_, kVarMark, v.index, static_cast<int>(v.dtype));
  v.set(initial);
  return v;
}

Val Var::get() const {
  Nest::Impl& impl = nest->impl();
  const DType part = real_part_of(dtype);
  Expr* re = impl.add(Op::kVar, part, {}, index);
  return {re, is_complex(dtype) ? impl.add(Op::kVar, part, {}, index + 1) : nullptr};
}

void Var::set(Val v) const {
  Nest::Impl& impl = nest->impl();
  MYCEL_CHECK(v.dtype() == dtype, "{}: a {} variable is set to a {}", impl.name,
              mycel::name_of(dtype), mycel::name_of(v.dtype()));
  auto put = [&](int at, Expr* part) {
    impl.use(part);
    Stmt* s = impl.append(Stmt::kSet);
    s->index = at;
    s->a = part;
    mark(impl, kSetMark, at, part->id);
  };
  put(index, v.n);
  if (v.im) put(index + 1, v.im);
}

const std::string& Nest::name() const { return impl_->name; }
const std::vector<Nest::BufferInfo>& Nest::buffers() const { return impl_->buffers; }
const std::vector<int64_t>& Nest::numbers() const { return impl_->numbers; }
const std::vector<Nest::Stage>& Nest::stages() const { return impl_->stages; }
std::string Nest::structure() const { return impl_->log; }

}  // namespace mycel::loops
