// Every expected text here was printed by NumPy 2.4, except those of bfloat16, which NumPy lacks.
#include <cmath>
#include <complex>
#include <numeric>

#include <gtest/gtest.h>

#include "tensor/tensor.h"

namespace mycel {
namespace {

struct Case {
  DType dtype;
  Shape shape;
  std::vector<double> values;
  const char* text;
};

Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<double>& values) {
  Tensor t = Tensor::empty(dtype, shape);
  for (size_t i = 0; i < values.size(); ++i) {
    set_element(t.mutable_raw(), dtype, static_cast<int64_t>(i), values[i]);
  }
  return t;
}

TEST(Printing, AsNumPy) {
  const Case kCases[] = {
      {DType::kFloat32, {}, {3.0}, R"(3.0)"},
      {DType::kFloat32, {}, {0.10000000149011612}, R"(0.1)"},
      {DType::kFloat32, {}, {1000000.0}, R"(1e+06)"},
      {DType::kFloat64, {}, {1e+16}, R"(1e+16)"},
      {DType::kFloat64, {}, {0.0001}, R"(0.0001)"},
      {DType::kFloat64, {}, {1e-05}, R"(1e-05)"},
      {DType::kFloat64, {}, {-0.0}, R"(-0.0)"},
      {DType::kFloat64, {}, {NAN}, R"(nan)"},
      {DType::kFloat64, {}, {3.141592653589793}, R"(3.141592653589793)"},
      {DType::kFloat16, {}, {0.0999755859375}, R"(0.1)"},
      {DType::kFloat16, {}, {1000.0}, R"(1e+03)"},
      {DType::kInt64, {}, {-7.0}, R"(-7)"},
      {DType::kBool, {}, {1.0}, R"(True)"},
      {DType::kBool, {2}, {1.0, 0.0}, R"([ True False])"},
      {DType::kFloat32, {0}, {}, R"([])"},
      {DType::kInt32, {2, 0}, {}, R"([])"},
      {DType::kFloat32, {3}, {1.0, 2.5, -3.0}, R"([ 1.   2.5 -3. ])"},
      {DType::kFloat64,
       {3},
       {0.1, 0.25, 0.3333333333333333},
       R"([0.1        0.25       0.33333333])"},
      {DType::kFloat32, {2}, {9.999999747378752e-06, 1.0}, R"([1.e-05 1.e+00])"},
      {DType::kFloat32, {2}, {1000000.0, 1.0}, R"([1.e+06 1.e+00])"},
      {DType::kFloat32, {2}, {999999.0, 1.0}, R"([9.99999e+05 1.00000e+00])"},
      {DType::kFloat64, {2}, {100000000.0, 1.5}, R"([1.0e+08 1.5e+00])"},
      {DType::kFloat64, {2}, {1e-300, 1e+300}, R"([1.e-300 1.e+300])"},
      {DType::kFloat64, {2}, {1.0, 1001.5}, R"([1.0000e+00 1.0015e+03])"},
      {DType::kFloat64, {2}, {0.001, 2.0}, R"([1.e-03 2.e+00])"},
      {DType::kFloat32, {4}, {NAN, 1.5, -INFINITY, INFINITY}, R"([ nan  1.5 -inf  inf])"},
      {DType::kFloat64, {2}, {NAN, NAN}, R"([nan nan])"},
      {DType::kFloat64, {2}, {-INFINITY, 1.0}, R"([-inf   1.])"},
      {DType::kFloat64, {3}, {10000000000.0, NAN, -INFINITY}, R"([1.e+10    nan   -inf])"},
      {DType::kFloat16,
       {3},
       {0.0999755859375, 0.199951171875, 65504.0},
       R"([1.00e-01 2.00e-01 6.55e+04])"},
      {DType::kFloat16, {2}, {0.015625, 1.0}, R"([0.01563 1.     ])"},
      {DType::kFloat16, {2}, {5.960464477539063e-08, 1.0}, R"([6.e-08 1.e+00])"},
      {DType::kInt16,
       {2, 2},
       {1.0, -200.0, 30.0, 4.0},
       R"([[   1 -200]
 [  30    4]])"},
      {DType::kUInt8, {2}, {255.0, 0.0}, R"([255   0])"},
      {DType::kInt32,
       {2, 3, 4},
       {0.0,  1.0,  2.0,  3.0,  4.0,  5.0,  6.0,  7.0,  8.0,  9.0,  10.0, 11.0,
        12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0},
       R"([[[ 0  1  2  3]
  [ 4  5  6  7]
  [ 8  9 10 11]]

 [[12 13 14 15]
  [16 17 18 19]
  [20 21 22 23]]])"},
      {DType::kFloat32,
       {12},
       {0.0, 0.09090909361839294, 0.1818181872367859, 0.27272728085517883, 0.3636363744735718,
        0.4545454680919647, 0.5454545617103577, 0.6363636255264282, 0.7272727489471436,
        0.8181818127632141, 0.9090909361839294, 1.0},
       R"([0.         0.09090909 0.18181819 0.27272728 0.36363637 0.45454547
 0.54545456 0.6363636  0.72727275 0.8181818  0.90909094 1.        ])"},
      {DType::kFloat64, {2}, {1.123456789012, 2.0}, R"([1.12345679 2.        ])"},
      {DType::kFloat64, {2}, {0.00012345, 0.1}, R"([0.00012345 0.1       ])"},
      {DType::kFloat64, {1}, {0.5}, R"([0.5])"},
      {DType::kFloat64, {1, 1}, {-1.5}, R"([[-1.5]])"},
  };
  for (const Case& c : kCases) {
    const Tensor t = tensor_of(c.dtype, c.shape, c.values);
    EXPECT_EQ(t.str(), c.text) << t.describe();
  }
}

TEST(Printing, LargeArraysAreSummarised) {
  std::vector<double> values(2400);
  std::iota(values.begin(), values.end(), 0);
  const std::vector<double> first(values.begin(), values.begin() + 1001);
  EXPECT_EQ(tensor_of(DType::kInt64, {1001}, first).str(), "[   0    1    2 ...  998  999 1000]");
  const std::vector<double> cube(values.begin(), values.begin() + 2000);
  EXPECT_EQ(tensor_of(DType::kInt64, {4, 5, 100}, cube).str(),
            R"([[[   0    1    2 ...   97   98   99]
  [ 100  101  102 ...  197  198  199]
  [ 200  201  202 ...  297  298  299]
  [ 300  301  302 ...  397  398  399]
  [ 400  401  402 ...  497  498  499]]

 [[ 500  501  502 ...  597  598  599]
  [ 600  601  602 ...  697  698  699]
  [ 700  701  702 ...  797  798  799]
  [ 800  801  802 ...  897  898  899]
  [ 900  901  902 ...  997  998  999]]

 [[1000 1001 1002 ... 1097 1098 1099]
  [1100 1101 1102 ... 1197 1198 1199]
  [1200 1201 1202 ... 1297 1298 1299]
  [1300 1301 1302 ... 1397 1398 1399]
  [1400 1401 1402 ... 1497 1498 1499]]

 [[1500 1501 1502 ... 1597 1598 1599]
  [1600 1601 1602 ... 1697 1698 1699]
  [1700 1701 1702 ... 1797 1798 1799]
  [1800 1801 1802 ... 1897 1898 1899]
  [1900 1901 1902 ... 1997 1998 1999]]])");
  for (double& v : values) v /= 8;
  EXPECT_EQ(tensor_of(DType::kFloat32, {40, 60}, values).str(),
            R"([[0.00000e+00 1.25000e-01 2.50000e-01 ... 7.12500e+00 7.25000e+00
  7.37500e+00]
 [7.50000e+00 7.62500e+00 7.75000e+00 ... 1.46250e+01 1.47500e+01
  1.48750e+01]
 [1.50000e+01 1.51250e+01 1.52500e+01 ... 2.21250e+01 2.22500e+01
  2.23750e+01]
 ...
 [2.77500e+02 2.77625e+02 2.77750e+02 ... 2.84625e+02 2.84750e+02
  2.84875e+02]
 [2.85000e+02 2.85125e+02 2.85250e+02 ... 2.92125e+02 2.92250e+02
  2.92375e+02]
 [2.92500e+02 2.92625e+02 2.92750e+02 ... 2.99625e+02 2.99750e+02
  2.99875e+02]])");
}

TEST(Printing, ThousandElementsAreShownInFull) {
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 0);
  const std::string text = tensor_of(DType::kInt64, {1000}, values).str();
  EXPECT_EQ(text.substr(0, 74),
            "[  0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15  16  17\n ");
  EXPECT_EQ(text.find("..."), std::string::npos);
}

TEST(Printing, Complex) {
  using C = std::complex<double>;
  const auto scalar = [](C v) {
    Tensor t = Tensor::empty(DType::kComplex128, {});
    *static_cast<C*>(t.mutable_raw()) = v;
    return t.str();
  };
  EXPECT_EQ(scalar({1, 2}), "(1+2j)");
  EXPECT_EQ(scalar({0, 2}), "2j");
  EXPECT_EQ(scalar({-0.0, 2}), "(-0+2j)");
  EXPECT_EQ(scalar({NAN, INFINITY}), "(nan+infj)");
  EXPECT_EQ(scalar({1e20, 0.1}), "(1e+20+0.1j)");
  EXPECT_EQ(scalar({0, -INFINITY}), "-infj");
  EXPECT_EQ(scalar({1, -0.5}), "(1-0.5j)");
  Tensor t = Tensor::empty(DType::kComplex64, {4});
  auto* v = static_cast<std::complex<float>*>(t.mutable_raw());
  v[0] = {1, 2}, v[1] = {-0.5f, -3.25f}, v[2] = 0, v[3] = {NAN, NAN};
  EXPECT_EQ(t.str(), "[ 1. +2.j   -0.5-3.25j  0. +0.j    nan +nanj]");
  t = Tensor::empty(DType::kComplex128, {2});
  static_cast<C*>(t.mutable_raw())[0] = {1e-10, 1};
  static_cast<C*>(t.mutable_raw())[1] = {1e10, 0};
  EXPECT_EQ(t.str(), "[1.e-10+1.j 1.e+10+0.j]");
}

TEST(Printing, Bfloat16HasItsOwnShortestDigits) {
  EXPECT_EQ(tensor_of(DType::kBFloat16, {}, {0.1}).str(), "0.1");
  EXPECT_EQ(tensor_of(DType::kBFloat16, {3}, {0.1, 1, -2.5}).str(), "[ 0.1  1.  -2.5]");
  EXPECT_EQ(tensor_of(DType::kBFloat16, {2}, {3.140625, 100}).str(), "[  3.14 100.  ]");
}

TEST(Printing, UnsignedBeyondSigned) {
  Tensor t = Tensor::empty(DType::kUInt64, {2});
  t.mutable_data<uint64_t>()[0] = UINT64_MAX;
  t.mutable_data<uint64_t>()[1] = 7;
  EXPECT_EQ(t.str(), "[18446744073709551615                    7]");
}

}  // namespace
}  // namespace mycel
