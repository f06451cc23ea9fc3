// Matrices of filters over frequencies, row by row.
#pragma once

#include <string>
#include <vector>

#include "data/audio/signal.h"

namespace mycel::data {

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> x;
  double& at(int64_t r, int64_t c) { return x[static_cast<size_t>(r * columns + c)]; }
  double at(int64_t r, int64_t c) const { return x[static_cast<size_t>(r * columns + c)]; }
};

// (freqs, mels): triangles over the mel scale `type` (HTK, SLANEY), of area 1 by `norm` SLANEY.
Matrix mel_filters(int64_t freqs, double low, double high, int64_t mels, int64_t rate,
                   const std::string& norm, const std::string& type);
// (freqs, filters): triangles over frequency.
Matrix linear_filters(int64_t freqs, double low, double high, int64_t filters, int64_t rate);
// (mels, coefficients): the cosine transform of type 2.
Matrix cosines(int64_t coefficients, int64_t mels, const std::string& norm);
// (..., rows, time) to (..., columns, time). ValueError: not `rows` of them.
Signal times(const Signal& s, const Matrix& m);

}  // namespace mycel::data
