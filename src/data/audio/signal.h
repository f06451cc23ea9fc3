// Sound as transforms work on it: rows of samples in double precision, whatever the dtype of the
// tensor; results go back as float64 where float64 came, else as float32 (filters keep float16).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "data/audio/samples.h"
#include "data/transform.h"

namespace mycel::data {

struct Signal {
  Samples x;
  Shape shape;                    // leading dims, samples last
  DType dtype = DType::kFloat32;  // of the result

  int64_t width() const { return shape[-1]; }  // of a row
  int64_t rows() const { return width() ? static_cast<int64_t>(x.size()) / width() : 0; }
  double* row(int64_t r) { return x.data() + r * width(); }
  const double* row(int64_t r) const { return x.data() + r * width(); }
};

enum class Accepts { kNumbers, kFloats };
// ValueError: fewer than `rank` dims, or no elements. TypeError: strings, complex numbers; ints
// where floats are needed.
Signal read_signal(const Value& v, int rank = 1, Accepts accepts = Accepts::kNumbers);
Value to_value(const Signal& s);
// The same rows with another number of samples each; to be filled.
Signal resized(const Signal& s, int64_t width);

// Transforms of each value, read as a Signal of `rank` dims or more.
std::shared_ptr<Transform> each_signal(std::function<Signal(Signal)> f, int rank = 1,
                                       Accepts accepts = Accepts::kNumbers);
// Of each row by itself, in place.
std::shared_ptr<Transform> each_row(std::function<void(double* x, int64_t n)> f,
                                    Accepts accepts = Accepts::kNumbers);
// Of each sample.
std::shared_ptr<Transform> each_sample(std::function<double(double)> f);

void clamp(double* x, int64_t n);  // to [-1, 1]

}  // namespace mycel::data
