// The shape room against naive loops and numbers from NumPy.
#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "base/threads.h"
#include "ir/graph.h"
#include "runtime/op_calls.h"

namespace mycel {
namespace {

using namespace op_calls;  // NOLINT
using List = std::vector<int64_t>;

// Multi-index of element `i` of a shape.
List position(int64_t i, const Shape& s) {
  List at(static_cast<size_t>(s.rank()));
  for (int d = s.rank(); d-- > 0;) {
    at[static_cast<size_t>(d)] = i % s[d];
    i /= s[d];
  }
  return at;
}
int64_t offset(const List& at, const Shape& s) {
  int64_t o = 0;
  for (int d = 0; d < s.rank(); ++d) o = o * s[d] + at[static_cast<size_t>(d)];
  return o;
}

TEST(Transpose, EveryPermutationOfFourDims) {
  Shape s{3, 37, 5, 34};
  for (DType dtype :
       {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kComplex128}) {
    Tensor x = counting(s, dtype);
    Ints perm{0, 1, 2, 3};
    do {
      Tensor y = run1("transpose", {x}, {perm});
      for (int64_t i = 0; i < y.size(); i += 7) {
        List at = position(i, y.shape()), from(4);
        for (size_t d = 0; d < 4; ++d) from[static_cast<size_t>(perm[d])] = at[d];
        ASSERT_EQ(element_as_int(y.raw(), dtype, i),
                  element_as_int(x.raw(), dtype, offset(from, s)));
      }
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST(Transpose, ThreadsDoNotChangeTheResult) {
  int before = thread_count();
  Tensor x = counting({700, 301, 3});
  set_thread_count(1);
  List one = ints(run1("transpose", {x}, {Ints{1, 2, 0}}));
  set_thread_count(4);
  EXPECT_EQ(ints(run1("transpose", {x}, {Ints{1, 2, 0}})), one);
  set_thread_count(before);
}

TEST(Views, ShareMemory) {
  Tensor x = counting({2, 3, 4});
  EXPECT_EQ(run1("reshape", {x}, {Ints{-1, 6}}).raw(), x.raw());
  EXPECT_EQ(run1("expand_dims", {x}, {1}).raw(), x.raw());
  EXPECT_EQ(run1("flatten", {x}).raw(), x.raw());
  EXPECT_EQ(run1("squeeze", {run1("expand_dims", {x}, {0})}).raw(), x.raw());
  EXPECT_EQ(run1("flatten", {x}).shape(), (Shape{2, 12}));
}

TEST(Reshape, ErrorsNameWhatIsAllowed) {
  Tensor x = counting({2, 3});
  EXPECT_EQ(error_of("reshape", {x}, {Ints{4}}),
            "reshape: 6 elements do not fill shape (4,) (got input float32[2, 3])");
  EXPECT_NE(error_of("reshape", {x}, {Ints{-1, -1}}), "");
  EXPECT_NE(error_of("reshape", {x}, {Ints{-1, 4}}), "");
}

// Python's slices by their definition: every position reached by stepping, kept when inside.
List slice_by_stepping(int64_t begin, int64_t end, int64_t step, int64_t n) {
  List out;
  if (begin < 0) begin += n;
  if (end < 0) end += n;
  begin = step > 0 ? std::max<int64_t>(begin, 0) : std::min(begin, n - 1);
  for (int64_t i = begin; step > 0 ? i < std::min(end, n) : i > std::max<int64_t>(end, -1);
       i += step) {
    if (i >= 0 && i < n) out.push_back(i);
  }
  return out;
}

TEST(Slice, AgreesWithStepping) {
  for (int64_t n : {1, 2, 5}) {
    Tensor x = counting({n}, DType::kInt32);
    for (int64_t begin = -7; begin <= 7; ++begin) {
      for (int64_t end = -7; end <= 7; ++end) {
        for (int64_t step : {-7, -3, -2, -1, 1, 2, 3, 7}) {
          Tensor y = run1("strided_slice", {x}, {Ints{begin}, Ints{end}, Ints{step}});
          ASSERT_EQ(ints(y), slice_by_stepping(begin, end, step, n))
              << begin << ":" << end << ":" << step << " of " << n;
        }
      }
    }
  }
}

TEST(Slice, Masks) {
  Tensor x = counting({2, 3, 4}, DType::kInt32);
  // x[..., None, 1]: ellipsis, new axis, index.
  Tensor y =
      run1("strided_slice", {x}, {Ints{0, 0, 1}, Ints{0, 0, 2}, Ints{1, 1, 1}, 0, 0, 1, 2, 4});
  EXPECT_EQ(y.shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(ints(y), (List{1, 5, 9, 13, 17, 21}));
  // x[-1, :, ::-2]
  y = run1("strided_slice", {x}, {Ints{-1, 0, 0}, Ints{0, 0, 0}, Ints{1, 1, -2}, 6, 6, 0, 0, 1});
  EXPECT_EQ(y.shape(), (Shape{3, 2}));
  EXPECT_EQ(ints(y), (List{15, 13, 19, 17, 23, 21}));
  EXPECT_EQ(error_of("strided_slice", {x}, {Ints{2}, Ints{3}, Ints{1}, 0, 0, 0, 0, 1}),
            "strided_slice: index 2 is outside [-2, 1] of dim 0");
}

TEST(Slice, UpdateWritesTheRegion) {
  Tensor x = counting({3, 4}, DType::kInt32);
  Tensor y = run1("strided_slice_update", {x, of<int32_t>({-1, -2})},
                  {Ints{0, 3}, Ints{3, 0}, Ints{2, -2}});
  EXPECT_EQ(ints(y), (List{0, -2, 2, -1, 4, 5, 6, 7, 8, -2, 10, -1}));
  EXPECT_EQ(ints(x)[1], 1);  // the operand stays as it was
}

TEST(Slice, GradientWritesIntoZeros) {
  Tensor x = counting({5}, DType::kFloat64);
  Tensor g = gradient("strided_slice", {x}, {Ints{4}, Ints{0}, Ints{-2}}, 0, of<double>({1, 2}));
  EXPECT_EQ(reals(g), (std::vector<double>{0, 0, 2, 0, 1}));
}

TEST(Concat, AndSplitAreInverse) {
  for (int axis : {0, 1, 2, -1}) {
    Tensor x = counting({4, 6, 10}, DType::kInt16);
    Tensors parts = run("split_v", {x}, {Ints{1, 0, 3}, 0});
    if (axis != 0) parts = run("split_v", {x}, {axis == 1 ? Ints{1, 0, 5} : Ints{7, 0, 3}, axis});
    EXPECT_EQ(ints(run1("concat", parts, {axis})), ints(x));
  }
  Tensor joined =
      run1("concat", {counting({2, 1}, DType::kInt32), counting({2, 2}, DType::kFloat32)}, {1});
  EXPECT_EQ(joined.dtype(), DType::kFloat32);
  EXPECT_EQ(ints(joined), (List{0, 0, 1, 1, 2, 3}));
}

TEST(Split, SizesAndSections) {
  Tensor x = counting({7}, DType::kInt32);
  auto sizes = [&](const char* op, ir::Attrs attrs) {
    List out;
    for (const Tensor& t : run(op, {x}, std::move(attrs))) out.push_back(t.size());
    return out;
  };
  EXPECT_EQ(sizes("split", {3}), (List{3, 3, 1}));
  EXPECT_EQ(sizes("split", {Ints{2, 5}}), (List{2, 5}));
  EXPECT_EQ(sizes("chunk", {3}), (List{3, 3, 1}));
  EXPECT_EQ(sizes("tensor_split", {3}), (List{3, 2, 2}));
  EXPECT_EQ(sizes("tensor_split", {Ints{2, 6, 3}, 0, true}), (List{2, 4, 0, 4}));
  EXPECT_EQ(sizes("unstack", {}), (List(7, 1)));
}

// numpy.pad(numpy.arange(3), (2, 1), mode)
TEST(Pad, ModesAsNumPy) {
  Tensor x = counting({3}, DType::kInt32);
  std::map<std::string, List> expected = {{"constant", {0, 0, 0, 1, 2, 0}},
                                          {"reflect", {2, 1, 0, 1, 2, 1}},
                                          {"symmetric", {1, 0, 0, 1, 2, 2}},
                                          {"edge", {0, 0, 0, 1, 2, 2}},
                                          {"wrap", {1, 2, 0, 1, 2, 0}}};
  for (auto& [mode, values] : expected)
    EXPECT_EQ(ints(run1("pad", {x}, {Ints{2, 1}, mode})), values) << mode;
  EXPECT_EQ(ints(run1("pad", {x}, {Ints{-1, 2}, "constant", 9.0})), (List{1, 2, 9, 9}));
}

// numpy.pad(numpy.arange(6).reshape(2, 3), ((1, 1), (2, 2)), "reflect")
TEST(Pad, TwoAxes) {
  Tensor y = run1("pad", {counting({2, 3}, DType::kInt32)}, {Ints{2, 2, 1, 1}, "reflect"});
  EXPECT_EQ(ints(y), (List{5, 4, 3, 4, 5, 4, 3, 2, 1, 0, 1, 2, 1, 0,
                           5, 4, 3, 4, 5, 4, 3, 2, 1, 0, 1, 2, 1, 0}));
}

// The gradient of padding counts how often an element was copied.
TEST(Pad, GradientCountsCopies) {
  Tensor x = counting({3}, DType::kFloat64), ones = Tensor::full(DType::kFloat64, {6}, 1);
  auto count = [&](const char* mode) {
    return reals(gradient("pad", {x}, {Ints{2, 1}, mode}, 0, ones));
  };
  EXPECT_EQ(count("constant"), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(count("reflect"), (std::vector<double>{1, 3, 2}));
  EXPECT_EQ(count("symmetric"), (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(count("edge"), (std::vector<double>{3, 1, 2}));
  EXPECT_EQ(count("wrap"), (std::vector<double>{2, 2, 2}));
}

TEST(Repeat, AsNumPy) {
  Tensor x = counting({2, 2}, DType::kInt32);
  EXPECT_EQ(ints(run1("tile", {x}, {Ints{1, 2}})), (List{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(ints(run1("tile", {x}, {Ints{2, 1, 1}})), (List{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(ints(run1("repeat_elements", {x}, {2, 1})), (List{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(ints(run1("repeat_interleave", {x}, {Ints{1, 2}, 0})), (List{0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(ints(run1("repeat_interleave", {x}, {2})), (List{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(ints(run1("broadcast_to", {counting({2, 1}, DType::kInt32)}, {Ints{2, -1, 2}})),
            (List{0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST(Order, AsNumPy) {
  Tensor x = counting({2, 3}, DType::kInt32);
  EXPECT_EQ(ints(run1("flip", {x}, {Ints{0, 1}})), (List{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(ints(run1("fliplr", {x})), (List{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(ints(run1("roll", {x}, {1})), (List{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(ints(run1("roll", {x}, {Ints{1, -1}, Ints{0, 1}})), (List{4, 5, 3, 1, 2, 0}));
  EXPECT_EQ(ints(run1("rot90", {x})), (List{2, 5, 1, 4, 0, 3}));
  EXPECT_EQ(ints(run1("rot90", {x}, {-1})), (List{3, 0, 4, 1, 5, 2}));
  EXPECT_EQ(run1("moveaxis", {counting({2, 3, 4})}, {Ints{0}, Ints{-1}}).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(run1("rollaxis", {counting({2, 3, 4, 5})}, {3, 1}).shape(), (Shape{2, 5, 3, 4}));
  EXPECT_EQ(run1("rollaxis", {counting({2, 3, 4, 5})}, {1, 4}).shape(), (Shape{2, 4, 5, 3}));
}

TEST(Blocks, DepthToSpaceByDefinition) {
  int64_t b = 2, c = 3, h = 2, w = 2;
  Tensor x = counting({1, b * b * c, h, w}, DType::kInt32);
  for (bool depth_first : {true, false}) {
    Tensor y = run1("depth_to_space", {x}, {b, depth_first ? "DCR" : "CRD"});
    ASSERT_EQ(y.shape(), (Shape{1, c, h * b, w * b}));
    for (int64_t k = 0; k < y.size(); ++k) {
      List at = position(k, y.shape());
      int64_t block = at[2] % b * b + at[3] % b;
      int64_t channel = depth_first ? block * c + at[1] : at[1] * b * b + block;
      ASSERT_EQ(ints(y)[static_cast<size_t>(k)],
                offset({0, channel, at[2] / b, at[3] / b}, x.shape()));
    }
    EXPECT_EQ(ints(run1("space_to_depth", {y}, {b, depth_first ? "DCR" : "CRD"})), ints(x));
  }
}

TEST(Sequence, ArangeLinspaceEye) {
  EXPECT_EQ(ints(run1("arange", {}, {5.0, -1.0, -2.0})), (List{5, 3, 1}));
  EXPECT_EQ(run1("arange", {}, {0.0, 1.0, 0.3, DType::kFloat64}).size(), 4);
  EXPECT_EQ(run1("arange", {}, {1.0, 1.0}).size(), 0);
  Tensor y =
      run1("linspace", {Tensor::scalar(DType::kFloat32, 0.1), Tensor::scalar(DType::kFloat32, 0.7)},
           {7});
  EXPECT_EQ(y.data<float>()[0], 0.1f);
  EXPECT_EQ(y.data<float>()[6], 0.7f);
  EXPECT_NEAR(y.data<float>()[3], 0.4f, 1e-7);
  EXPECT_EQ(ints(run1("eye", {}, {2, 3, DType::kInt8})), (List{1, 0, 0, 0, 1, 0}));
}

TEST(Matrix, DiagonalsAndTriangles) {
  Tensor x = counting({3, 4}, DType::kInt32);
  EXPECT_EQ(ints(run1("tril", {x}, {-1})), (List{0, 0, 0, 0, 4, 0, 0, 0, 8, 9, 0, 0}));
  EXPECT_EQ(ints(run1("triu", {x}, {2})), (List{0, 0, 2, 3, 0, 0, 0, 7, 0, 0, 0, 0}));
  EXPECT_EQ(ints(run1("matrix_band_part", {x}, {1, 0})),
            (List{0, 0, 0, 0, 4, 5, 0, 0, 0, 9, 10, 0}));
  EXPECT_EQ(ints(run1("diagonal", {x}, {1})), (List{1, 6, 11}));
  EXPECT_EQ(ints(run1("diagonal", {x}, {-2})), (List{8}));
  EXPECT_EQ(ints(run1("trace", {x})), (List{15}));
  EXPECT_EQ(ints(run1("diag", {of<int32_t>({1, 2})})), (List{1, 0, 0, 2}));
  EXPECT_EQ(ints(run1("diagflat", {of<int32_t>({1, 2})}, {-1})), (List{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(run1("diag_embed", {counting({2, 3})}, {0, 0, 2}).shape(), (Shape{3, 2, 3}));
  // NaN and infinity outside the triangle must not leak into it.
  Tensor bad = of<float>({1, INFINITY, NAN, 2}, {2, 2});
  EXPECT_EQ(reals(run1("tril", {bad}))[1], 0);
}

TEST(Meshgrid, BothIndexings) {
  Tensors xy = run("meshgrid", {counting({2}, DType::kInt32), counting({3}, DType::kInt32)});
  EXPECT_EQ(xy[0].shape(), (Shape{3, 2}));
  EXPECT_EQ(ints(xy[0]), (List{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(ints(xy[1]), (List{0, 0, 1, 1, 2, 2}));
  Tensors ij =
      run("meshgrid", {counting({2}, DType::kInt32), counting({3}, DType::kInt32)}, {"ij"});
  EXPECT_EQ(ints(ij[0]), (List{0, 0, 0, 1, 1, 1}));
}

TEST(Create, FillsEveryDtype) {
  for (int d = 0; d < kDTypeCount; ++d) {
    DType dtype = static_cast<DType>(d);
    Tensor y = run1("full", {}, {Ints{3, 5}, 3.0, dtype});
    for (double v : reals(y)) EXPECT_EQ(v, is_bool(dtype) ? 1 : 3);
    for (double v : reals(run1("zeros_like", {y}))) EXPECT_EQ(v, 0);
  }
}

// Type rules must carry unknown dims through.
TEST(UnknownDims, TypesFollow) {
  ir::Graph g;
  ir::Value x = g.add_param({DType::kFloat32, {kUnknownDim, 3, 4}});
  auto shape = [&](const char* op, std::vector<ir::Value> in, ir::Attrs attrs) {
    return g.add(ir::op_named(op), std::move(in), std::move(attrs))->types[0].shape.str();
  };
  EXPECT_EQ(shape("reshape", {x}, {Ints{-1, 12}}), "(?, 12)");
  EXPECT_EQ(shape("transpose", {x}, {Ints{1, 0, 2}}), "(3, ?, 4)");
  EXPECT_EQ(shape("concat", {x, x}, {0}), "(?, 3, 4)");
  EXPECT_EQ(shape("concat", {x, x}, {1}), "(?, 6, 4)");
  EXPECT_EQ(shape("tile", {x}, {Ints{2, 1, 2}}), "(?, 3, 8)");
  EXPECT_EQ(shape("collapse_dims", {x}, {0, 1}), "(?, 4)");
  EXPECT_EQ(shape("pad_nd", {x}, {Ints{1, 1, 0}, Ints{0, 0, 0}}), "(?, 4, 4)");
  EXPECT_EQ(shape("strided_slice", {x}, {Ints{0, 1}, Ints{2, 3}, Ints{1, 1}}), "(?, 2, 4)");
}

}  // namespace
}  // namespace mycel
