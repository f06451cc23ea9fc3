// protobuf's classes for GraphDefs, included in this one place.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include "interop/tensorflow/graph_def.pb.h"
#pragma GCC diagnostic pop

namespace mycel::interop::tensorflow {

namespace pb = mycel::tensorflow_pb;

}  // namespace mycel::interop::tensorflow
