// A pipeline of data as JSON for the Data graph page: a tree of operators from the last one down to
// the sources, with the rows that each has made and the time it took.
#pragma once

#include <functional>
#include <string>

#include "data/dataset.h"

namespace mycel::insight {

// {"op", "rows", "made", "ns", "own_ns", "columns", "inputs": [...]}; rows an epoch, -1: not known;
// own_ns is the time without that of the inputs. While a reader makes rows ahead also "queue":
// {"threads", "ahead", "most", "bytes", "rows", "waits", "wait_ns"}. "at": seconds of a clock that
// only runs forward, so that two states give the rates between them.
std::string dataset_json(const data::Dataset& dataset);
// For Recorder::watch: the state of a pipeline; empty while it made no row since the last time.
std::function<std::string()> states_of(data::DatasetPtr dataset);

}  // namespace mycel::insight
