// The graph of a pipeline as text.
#include <algorithm>

#include <fmt/format.h>

#include "data/operators.h"

namespace mycel::data {
namespace {

void add_lines(const Dataset& d, int depth, std::string* out) {
  const int64_t rows = d.work().rows, ns = d.work().ns;
  int64_t own = ns;
  for (const DatasetPtr& input : d.inputs()) own -= input->work().ns;
  const std::string size = d.size() < 0 ? "?" : std::to_string(d.size());
  *out += fmt::format("{:{}}{}: {} rows an epoch", "", 2 * depth, d.describe(), size);
  if (rows > 0) {
    *out += fmt::format(
        "; {} made, {:.1f} us each ({:.1f} us of its own), {:.0f} a second", rows,
        static_cast<double>(ns) / 1e3 / static_cast<double>(rows),
        static_cast<double>(std::max<int64_t>(own, 0)) / 1e3 / static_cast<double>(rows),
        1e9 * static_cast<double>(rows) / static_cast<double>(std::max<int64_t>(ns, 1)));
  }
  *out += '\n';
  for (const DatasetPtr& input : d.inputs()) add_lines(*input, depth + 1, out);
}

}  // namespace

std::string describe(const Dataset& dataset) {
  std::string out;
  add_lines(dataset, 0, &out);
  return out;
}

}  // namespace mycel::data
