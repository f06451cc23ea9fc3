#include "backend/cpu/onednn/matmul.h"

#include <algorithm>

#include "backend/cpu/onednn/recipe.h"
#include "backend/cpu/onednn/unsuited.h"

namespace mycel::cpu::onednn {
namespace {

using dnnl::memory;
using Dims = memory::dims;

// One operand as a batch of matrices: extents of the batch dimensions, rows, columns, and the
// strides of the last two. Batches are dense.
struct Side {
  Dims batch;
  int64_t rows = 1, cols = 1;
  int64_t row_stride = 1, col_stride = 1;
};

// `vector_is_row`: how a 1-D operand is read. A transposed side is the same memory with swapped
// strides.
Side side_of(const Shape& s, bool transposed, bool vector_is_row) {
  Side side;
  if (s.rank() == 1) {
    (vector_is_row ? side.cols : side.rows) = s[0];
    side.row_stride = vector_is_row ? s[0] : 1;
    return side;
  }
  side.batch.assign(s.begin(), s.end() - 2);
  side.rows = s[-2];
  side.cols = s[-1];
  side.row_stride = s[-1];
  if (transposed) {
    std::swap(side.rows, side.cols);
    std::swap(side.row_stride, side.col_stride);
  }
  return side;
}

int64_t product(const Dims& d) {
  int64_t n = 1;
  for (int64_t v : d) n *= v;
  return n;
}

void pad_batch(Side& s, size_t rank) { s.batch.insert(s.batch.begin(), rank - s.batch.size(), 1); }

// Fewer batch dimensions where that changes nothing: a single matrix on the right joins the rows of
// the left side; equal batches become one dimension.
void collapse(Side& a, Side& b, Side& y) {
  size_t rank = std::max(a.batch.size(), b.batch.size());
  for (Side* s : {&a, &b, &y}) pad_batch(*s, rank);
  if (product(y.batch) == 1) {
    for (Side* s : {&a, &b, &y}) s->batch.clear();
  } else if (product(b.batch) == 1 && a.col_stride == 1 && a.row_stride == a.cols) {
    a.rows *= product(a.batch);
    y.rows = a.rows;
    for (Side* s : {&a, &b, &y}) s->batch.clear();
  } else if (a.batch == b.batch) {
    for (Side* s : {&a, &b, &y}) s->batch = {product(s->batch)};
  }
}

memory::desc desc_of(const Side& s, memory::data_type type) {
  Dims dims = s.batch, strides(s.batch.size());
  int64_t stride = s.rows * s.cols;
  for (size_t d = strides.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  dims.insert(dims.end(), {s.rows, s.cols});
  strides.insert(strides.end(), {s.row_stride, s.col_stride});
  return {dims, type, strides};
}

// Which of oneDNN's ways computes a product of two large matrices fastest. The default reads b
// where it lies unless it is transposed or its rows are a power of two apart; with other strides it
// loses up to two thirds of its speed to conflicts in the caches. Measured on AVX-512 with 2
// threads, GFLOP/s of 1024 x 3072 x 768: default 137, b reordered 261, gemm 299; 768 x 3072 x 1024
// with a transposed: 121, 238, 274; but 2048 x 512 x 2048 with a transposed: 210, 229, 108.
enum class Way { kDefault, kReordered, kGemm };

Way way_of(const Side& a, const Side& b, const Side& y, memory::data_type type) {
  constexpr int64_t kLarge = 64, kConflict = 2048;  // columns; floats between rows
  bool large = y.batch.empty() && std::min({y.rows, y.cols, a.cols}) >= kLarge;
  if (!large || type != memory::data_type::f32 || b.row_stride == 1) return Way::kDefault;
  bool transposed = a.col_stride != 1;
  return transposed && a.col_stride % kConflict == 0 ? Way::kReordered : Way::kGemm;
}

// Walks on to oneDNN's gemm, which packs both operands; false where there is none.
bool skip_to_gemm(dnnl::matmul::primitive_desc& pd) {
  while (std::string(pd.impl_info_str()).find("gemm:") != 0) {
    if (!pd.next_impl()) return false;
  }
  return true;
}

// One product: buffer 0 is a, 1 is b, 2 the bias where there is one.
struct Descs {
  memory::desc a, b, bias, y;

  dnnl::matmul::primitive_desc make(const dnnl::primitive_attr& attr) const {
    return {engine(), a, b, bias, y, attr};
  }
  // The same with b in the layout that oneDNN likes best.
  Descs with_any_b() const {
    Descs d = *this;
    d.b = {b.get_dims(), b.get_data_type(), memory::format_tag::any};
    return d;
  }
};

// What `pd` computes; b is given as `d` says and reordered where `pd` wants it otherwise.
std::shared_ptr<const Program> program_of(const dnnl::matmul::primitive_desc& pd, const Descs& d,
                                          int y_buffer) {
  auto program = std::make_shared<Program>();
  int b = program->reordered(program->operand(d.b, 1), pd.weights_desc());
  std::vector<std::pair<int, int>> args = {{DNNL_ARG_SRC, program->operand(d.a, 0)},
                                           {DNNL_ARG_WEIGHTS, b},
                                           {DNNL_ARG_DST, program->operand(d.y, y_buffer)}};
  if (!d.bias.is_zero()) args.emplace_back(DNNL_ARG_BIAS, program->operand(d.bias, 2));
  program->add(dnnl::matmul(pd), pd, std::move(args));
  program->set_implementation(pd.impl_info_str());
  return program;
}

// Whether a right side that may be stored in any way is best stored row by row and left to oneDNN's
// gemm, which packs it again each time, in caches. Measured with AVX-512 and 2 threads, GFLOP/s of
// 128 rows, gemm and blocked: 768 x 768 289, 274; 3072 x 768 300, 279; 768 x 2304 282, 273; but
// with rows a multiple of the page apart, 768 x 3072 258, 276.
bool gemm_likes_rows(const Descs& d) {
  constexpr int64_t kLarge = 64, kPage = 1024;  // floats
  const Dims y = d.y.get_dims(), b = d.b.get_dims();
  if (y.size() != 2 || d.y.get_data_type() != memory::data_type::f32) return false;
  return std::min({y[0], y[1], b[0]}) >= kLarge && y[1] % kPage != 0;
}

// The product with its right side, which stays the same, in the layout that oneDNN likes best.
PackedOperand packed_right(Descs d, int y_buffer) {
  memory::desc given = d.b;
  if (gemm_likes_rows(d)) {
    d.b = {given.get_dims(), given.get_data_type(), memory::format_tag::ab};
    dnnl::matmul::primitive_desc gemm = d.make(user_scratchpad());
    if (d.b == given) return {};
    if (skip_to_gemm(gemm))
      return {d.b.get_size(), reorder(given, d.b), program_of(gemm, d, y_buffer)};
    d.b = given;
  }
  dnnl::matmul::primitive_desc pd = d.with_any_b().make(user_scratchpad());
  d.b = pd.weights_desc();
  if (d.b == given || !skip_reference(pd)) return {};
  return {d.b.get_size(), reorder(given, d.b), program_of(pd, d, y_buffer)};
}

// y = a b (+ bias along the columns); `y_buffer` is the position of the result among the buffers.
Recipe product_recipe(Side a, Side b, Side y, memory::data_type type, bool bias, int y_buffer) {
  collapse(a, b, y);
  Descs d{desc_of(a, type), desc_of(b, type), {}, desc_of(y, type)};
  if (bias) {
    Dims dims(d.y.get_ndims(), 1), strides(d.y.get_ndims(), y.cols);
    dims.back() = y.cols;
    strides.back() = 1;
    d.bias = memory::desc(dims, type, strides);
  }
  const Way way = way_of(a, b, y, type);
  const Descs wanted = way == Way::kReordered ? d.with_any_b() : d;
  dnnl::matmul::primitive_desc pd = wanted.make(user_scratchpad());
  if (way == Way::kGemm && !skip_to_gemm(pd)) pd = wanted.make(user_scratchpad());
  if (!skip_reference(pd)) return refuse("oneDNN has only its reference matmul for these shapes");
  Recipe recipe;
  recipe.program = program_of(pd, d, y_buffer);
  if (y.batch.empty()) {
    recipe.packs = 1;
    recipe.packed = [d, y_buffer] { return packed_right(d, y_buffer); };
  }
  return recipe;
}

struct Product {
  Side a, b, y;
  DType dtype;
  bool bias = false;
  int y_buffer;
};

Product matmul_of(const Problem& p) {
  const Shape &sa = p.in[0]->shape, &sb = p.in[1]->shape;
  Product m{side_of(sa, p.view().boolean("transpose_a"), true),
            side_of(sb, p.view().boolean("transpose_b"), false),
            {},
            p.out[0].dtype,
            false,
            static_cast<int>(p.in.size())};
  m.y.rows = m.a.rows;
  m.y.cols = m.y.row_stride = m.b.cols;
  int matrix_dims = (sa.rank() > 1) + (sb.rank() > 1);
  m.y.batch.assign(p.out[0].shape.begin(), p.out[0].shape.end() - matrix_dims);
  return m;
}

Product dense_of(const Problem& p) {
  return {side_of(p.in[0]->shape, false, true),
          side_of(p.in[1]->shape, true, false),
          side_of(p.out[0].shape, false, true),
          p.out[0].dtype,
          p.has(2),
          static_cast<int>(p.in.size())};
}

Recipe recipe_of_product(const Product& m) {
  Key key(kMatmulRecipe);
  for (const Side* s : {&m.a, &m.b, &m.y}) {
    key.add(s->batch).add(s->rows).add(s->cols).add(s->row_stride);
  }
  key.add(static_cast<int64_t>(m.dtype)).add(m.bias).add(m.y_buffer);
  double flops = 2.0 * static_cast<double>(m.a.cols) * static_cast<double>(m.y.rows * m.y.cols);
  for (int64_t n : m.y.batch) flops *= static_cast<double>(n);
  return recipe_of(key, flops, [&] {
    return product_recipe(m.a, m.b, m.y, data_type_of(m.dtype), m.bias, m.y_buffer);
  });
}

}  // namespace

std::shared_ptr<const Prepared> tile_product(const Tile& t) {
  Key key(kTileRecipe);
  for (int64_t n : {t.rows, t.cols, t.depth, t.a_row, t.a_col, t.b_row, t.b_col, t.y_row})
    key.add(n);
  key.add(t.add);
  Recipe recipe = recipe_of(key, 0, [&] {
    const auto type = memory::data_type::f32;
    const Descs d{{{t.rows, t.depth}, type, Dims{t.a_row, t.a_col}},
                  {{t.depth, t.cols}, type, Dims{t.b_row, t.b_col}},
                  {},
                  {{t.rows, t.cols}, type, Dims{t.y_row, 1}}};
    dnnl::primitive_attr attr = user_scratchpad();
    if (t.add) {
      dnnl::post_ops sum;
      sum.append_sum(1.0f);
      attr.set_post_ops(sum);
    }
    return Recipe{program_of(d.make(attr), d, 2), ""};
  });
  return kernel_of(std::move(recipe));
}

std::string matmul_refuses(const Problem& p) {
  std::string why = unsuited(p);
  return why.empty() ? recipe_of_product(matmul_of(p)).refusal : why;
}
std::unique_ptr<Prepared> matmul(const Problem& p) {
  return kernel_of(recipe_of_product(matmul_of(p)));
}
std::string dense_refuses(const Problem& p) {
  std::string why = unsuited(p);
  return why.empty() ? recipe_of_product(dense_of(p)).refusal : why;
}
std::unique_ptr<Prepared> dense(const Problem& p) {
  return kernel_of(recipe_of_product(dense_of(p)));
}

}  // namespace mycel::cpu::onednn
