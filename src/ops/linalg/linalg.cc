#include "ops/linalg/linalg.h"

#include "ops/all_ops.h"
#include "ops/linalg/rooms.h"

namespace mycel::ops {

void register_linalg() {
  register_cholesky();
  register_triangular();
  register_lu();
  register_solve();
  register_determinant();
  register_qr();
  register_reflectors();
  register_svd();
  register_pinv();
  register_eigen();
  register_matrix_functions();
}

}  // namespace mycel::ops
