// A program outside the tree: it sees only installed headers and libmycel.
#include <cstdio>

#include <base/error.h>
#include <mycel/tensor/shape.h>
#include <mycel/version.h>
#include <tensor/shape.h>

int main() {
  mycel::Shape shape{2, 3};
  if (shape.size() != 6) return 1;
  try {
    mycel::normalize_axis(5, shape.rank(), "consumer");
    return 1;
  } catch (const mycel::UserError& e) {  // thrown in libmycel, caught here
    std::printf("mycel %s, shape %s, error: %s\n", mycel::version(), shape.str().c_str(), e.what());
  }
  return 0;
}
