// The registration functions of the files of this room, called by register_linalg.
#pragma once

namespace mycel::ops {

void register_cholesky();
void register_triangular();
void register_lu();
void register_solve();
void register_determinant();
void register_qr();
void register_reflectors();
void register_svd();
void register_pinv();
void register_eigen();
void register_matrix_functions();

}  // namespace mycel::ops
