// A pipeline of data as JSON for the Data graph page: a tree of operators from the last one down to
// the sources, with the rows that each has made and the time it took.
#pragma once

#include <string>

#include "data/dataset.h"

namespace mycel::insight {

// {"op", "rows", "made", "ns", "own_ns", "columns", "inputs": [...]}; rows an epoch, -1: not known;
// own_ns is the time without that of the inputs.
std::string dataset_json(const data::Dataset& dataset);

}  // namespace mycel::insight
