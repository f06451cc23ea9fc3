// The messages of TensorBoard's event files as numbers of the wire format of Protocol Buffers
// (https://protobuf.dev/programming-guides/encoding), as far as runs are recorded: tensorflow's
// event.proto, summary.proto, tensor.proto, graph.proto and TensorBoard's plug-in data. Only what
// stands here is written or understood; other fields are skipped.
#pragma once

#include <cstdint>

namespace mycel::insight::format {

enum class Event : uint32_t {
  kWallTime = 1,     // double, seconds since 1970
  kStep = 2,         // int64
  kFileVersion = 3,  // string, in a file's first record
  kGraphDef = 4,     // bytes: a GraphDef
  kSummary = 5,
  kSourceMetadata = 10,
};
enum class SourceMetadata : uint32_t { kWriter = 1 };
enum class Summary : uint32_t { kValue = 1 };
enum class SummaryValue : uint32_t {
  kTag = 1,
  kSimpleValue = 2,  // float
  kImage = 4,
  kHistogram = 5,
  kNodeName = 7,
  kTensor = 8,
  kMetadata = 9,
};
enum class Image : uint32_t { kHeight = 1, kWidth = 2, kColorspace = 3, kEncoded = 4 };
enum class Histogram : uint32_t {
  kMin = 1,
  kMax = 2,
  kCount = 3,
  kSum = 4,
  kSumSquares = 5,
  kLimits = 6,   // right edges of buckets, packed doubles
  kBuckets = 7,  // their counts, packed doubles
};
enum class Tensor : uint32_t {
  kDtype = 1,
  kShape = 2,
  kContent = 4,
  kFloat = 5,
  kDouble = 6,
  kString = 8
};
enum class TensorShape : uint32_t { kDim = 2 };
enum class Dim : uint32_t { kSize = 1 };
enum class Metadata : uint32_t { kPlugin = 1, kDisplayName = 2, kDescription = 3, kDataClass = 4 };
enum class Plugin : uint32_t { kName = 1, kContent = 2 };

enum class GraphDef : uint32_t { kNode = 1, kVersions = 4 };
enum class Versions : uint32_t { kProducer = 1 };
enum class NodeDef : uint32_t { kName = 1, kOp = 2, kInput = 3, kDevice = 4, kAttr = 5 };
enum class MapEntry : uint32_t { kKey = 1, kValue = 2 };
enum class AttrValue : uint32_t {
  kList = 1,
  kString = 2,
  kInt = 3,
  kFloat = 4,
  kBool = 5,
  kType = 6
};
enum class AttrList : uint32_t { kShape = 7 };

// TensorBoard's hyper-parameters.
enum class HParams : uint32_t { kVersion = 1, kExperiment = 2, kSessionStart = 3, kSessionEnd = 4 };
enum class SessionStart : uint32_t { kHParams = 1, kGroup = 4, kTime = 5 };
enum class SessionEnd : uint32_t { kStatus = 1, kTime = 2 };
enum class AnyValue : uint32_t { kNumber = 2, kString = 3, kBool = 4 };  // google.protobuf.Value

// tensorflow/core/framework/types.proto
constexpr int32_t kFloat = 1, kDouble = 2, kInt32 = 3, kUInt8 = 4, kInt16 = 5, kInt8 = 6,
                  kString = 7, kComplex64 = 8, kInt64 = 9, kBool = 10, kBFloat16 = 14, kUInt16 = 17,
                  kComplex128 = 18, kHalf = 19, kUInt32 = 22, kUInt64 = 23;

}  // namespace mycel::insight::format
