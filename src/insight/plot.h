// Curves of recorded runs as one SVG picture, for notebooks and reports: a chart a scalar, a line a
// run, around it the range where many steps share a place. It is light or dark as its page.
#pragma once

#include <string>
#include <vector>

#include "insight/index.h"

namespace mycel::insight {

struct PlotOptions {
  std::vector<std::string> runs;  // names; empty: all
  std::vector<std::string> tags;  // empty: all scalars
  bool logarithmic = false;
  bool chinese = false;
};

// KeyError for names that there are not, naming those there are.
std::string plot_svg(Index& index, const PlotOptions& options = {});

}  // namespace mycel::insight
