// MYCEL_DUMP_KERNELS=dir: writes what a kernel looked like on its way down (nest text, LLVM IR
// before and after optimisation, assembly), one set of files per compiled kernel, named by kernel
// and a running number.
#pragma once

#include <string>

#include "loops/nest.h"

namespace mycel::loops {

class Dump {
 public:
  // Writes the text of the nest when dumping is on.
  explicit Dump(const Nest& nest);
  explicit operator bool() const { return !stem_.empty(); }
  void write(const char* extension, const std::string& content) const;

 private:
  std::string stem_;
};

}  // namespace mycel::loops
