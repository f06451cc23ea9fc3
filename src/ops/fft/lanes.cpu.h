// As many numbers as a vector register of 16 bytes has lanes, for Eigen's kissfft: it takes any
// scalar, and std::complex of one does what its formulas say (the standard promises that for
// float and double only; the libraries of g++ and clang do it for every type).
#pragma once

namespace mycel::ops {

template <typename T>
struct Lanes {
  typedef T Vector __attribute__((vector_size(16)));
  Vector v;

  Lanes() : v{} {}
  explicit Lanes(Vector x) : v(x) {}
  Lanes(double x) : v(Vector{} + static_cast<T>(x)) {}  // NOLINT: kissfft converts numbers
  Lanes(float x) : v(Vector{} + static_cast<T>(x)) {}   // NOLINT
  Lanes(int x) : v(Vector{} + static_cast<T>(x)) {}     // NOLINT

  Lanes operator+(Lanes o) const { return Lanes(v + o.v); }
  Lanes operator-(Lanes o) const { return Lanes(v - o.v); }
  Lanes operator*(Lanes o) const { return Lanes(v * o.v); }
  Lanes operator-() const { return Lanes(-v); }
  Lanes& operator+=(Lanes o) { return *this = *this + o; }
  Lanes& operator-=(Lanes o) { return *this = *this - o; }
  Lanes& operator*=(Lanes o) { return *this = *this * o; }
};

}  // namespace mycel::ops
