// Transforms of numbers, whatever they stand for.
#include "data/cast.h"
#include "data/media/rooms.h"

namespace mycel::data {
namespace {

const TransformDef kTypeCast{
    .name = "transforms.TypeCast",
    .doc =
        "The same numbers in another dtype: floats to ints cut towards 0, numbers out of range "
        "wrap around, anything but 0 is True.",
    .args = {"data_type: dtype"},
    .make =
        [](const Options& o) {
          const DType to = o.dtype("data_type");
          return each_value([to](const Value& v) -> Value { return cast(v.tensor(), to); });
        },
};

}  // namespace

TransformDefs general_transforms() { return {&kTypeCast}; }

}  // namespace mycel::data
