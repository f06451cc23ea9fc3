// Tells who watches when cells that are computed in C++ run, on this thread: for tables of layers.
#pragma once

#include "nn/cell.h"

namespace mycel::nn {

class CellWatch {
 public:
  virtual ~CellWatch() = default;
  virtual void enter(const Cell& cell) = 0;
  virtual void leave(const Cell& cell, const Tensors& results) = 0;
};

// Null when nobody does.
CellWatch* cell_watch();
void set_cell_watch(CellWatch* watch);

}  // namespace mycel::nn
