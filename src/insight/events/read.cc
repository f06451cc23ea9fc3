#include "insight/events/read.h"

#include <algorithm>

#include "insight/events/format.h"
#include "insight/events/protozero.h"

namespace mycel::insight {
namespace {

namespace f = format;
template <typename T>
using Message = protozero::pbf_message<T>;

std::string_view text(protozero::data_view v) { return {v.data(), v.size()}; }

bool dtype_of_number(int32_t number, DType* out) {
  switch (number) {
    case f::kBool:
      *out = DType::kBool;
      return true;
    case f::kInt8:
      *out = DType::kInt8;
      return true;
    case f::kInt16:
      *out = DType::kInt16;
      return true;
    case f::kInt32:
      *out = DType::kInt32;
      return true;
    case f::kInt64:
      *out = DType::kInt64;
      return true;
    case f::kUInt8:
      *out = DType::kUInt8;
      return true;
    case f::kUInt16:
      *out = DType::kUInt16;
      return true;
    case f::kUInt32:
      *out = DType::kUInt32;
      return true;
    case f::kUInt64:
      *out = DType::kUInt64;
      return true;
    case f::kHalf:
      *out = DType::kFloat16;
      return true;
    case f::kBFloat16:
      *out = DType::kBFloat16;
      return true;
    case f::kFloat:
      *out = DType::kFloat32;
      return true;
    case f::kDouble:
      *out = DType::kFloat64;
      return true;
    case f::kComplex64:
      *out = DType::kComplex64;
      return true;
    case f::kComplex128:
      *out = DType::kComplex128;
      return true;
    default:
      return false;
  }
}

Distribution read_histogram(Message<f::Histogram> m) {
  Distribution d;
  while (m.next()) {
    switch (m.tag()) {
      case f::Histogram::kMin:
        d.min = m.get_double();
        break;
      case f::Histogram::kMax:
        d.max = m.get_double();
        break;
      case f::Histogram::kCount:
        d.count = m.get_double();
        break;
      case f::Histogram::kSum:
        d.sum = m.get_double();
        break;
      case f::Histogram::kSumSquares:
        d.sum_squares = m.get_double();
        break;
      case f::Histogram::kLimits:
        for (double v : m.get_packed_double()) d.limits.push_back(v);
        break;
      case f::Histogram::kBuckets:
        for (double v : m.get_packed_double()) d.buckets.push_back(v);
        break;
      default:
        m.skip();
    }
  }
  const size_t n = std::min(d.limits.size(), d.buckets.size());
  d.limits.resize(n);
  d.buckets.resize(n);
  return d;
}

void read_image(Message<f::Image> m, Recorded* r) {
  r->kind = Kind::kImage;
  while (m.next()) {
    switch (m.tag()) {
      case f::Image::kHeight:
        r->height = m.get_int32();
        break;
      case f::Image::kWidth:
        r->width = m.get_int32();
        break;
      case f::Image::kEncoded:
        r->content = text(m.get_view());
        break;
      default:
        m.skip();
    }
  }
}

struct ReadTensor {
  int32_t type = 0;
  std::vector<int64_t> shape;
  std::string_view content;
  std::vector<std::string_view> strings;
  std::vector<double> numbers;
};

ReadTensor read_tensor(Message<f::Tensor> m) {
  ReadTensor t;
  while (m.next()) {
    switch (m.tag()) {
      case f::Tensor::kDtype:
        t.type = m.get_int32();
        break;
      case f::Tensor::kShape: {
        Message<f::TensorShape> shape = m.get_message();
        while (shape.next(f::TensorShape::kDim)) {
          Message<f::Dim> dim = shape.get_message();
          int64_t size = 0;
          while (dim.next()) {
            if (dim.tag() == f::Dim::kSize) {
              size = dim.get_int64();
            } else {
              dim.skip();
            }
          }
          t.shape.push_back(size);
        }
        break;
      }
      case f::Tensor::kContent:
        t.content = text(m.get_view());
        break;
      case f::Tensor::kString:
        t.strings.push_back(text(m.get_view()));
        break;
      case f::Tensor::kFloat:
        if (m.wire_type() == protozero::pbf_wire_type::length_delimited) {
          for (float v : m.get_packed_float()) t.numbers.push_back(v);
        } else {
          t.numbers.push_back(m.get_float());
        }
        break;
      case f::Tensor::kDouble:
        if (m.wire_type() == protozero::pbf_wire_type::length_delimited) {
          for (double v : m.get_packed_double()) t.numbers.push_back(v);
        } else {
          t.numbers.push_back(m.get_double());
        }
        break;
      default:
        m.skip();
    }
  }
  return t;
}

HParam read_any(Message<f::AnyValue> m) {
  HParam out = 0.0;
  while (m.next()) {
    switch (m.tag()) {
      case f::AnyValue::kNumber:
        out = m.get_double();
        break;
      case f::AnyValue::kString:
        out = std::string(text(m.get_view()));
        break;
      case f::AnyValue::kBool:
        out = m.get_bool();
        break;
      default:
        m.skip();
    }
  }
  return out;
}

void read_session(Message<f::SessionStart> m, Recorded* r) {
  while (m.next()) {
    if (m.tag() != f::SessionStart::kHParams) {
      m.skip();
      continue;
    }
    Message<f::MapEntry> entry = m.get_message();
    std::string name;
    HParam value = 0.0;
    while (entry.next()) {
      switch (entry.tag()) {
        case f::MapEntry::kKey:
          name = entry.get_string();
          break;
        case f::MapEntry::kValue:
          value = read_any(entry.get_message());
          break;
        default:
          entry.skip();
      }
    }
    r->params[name] = value;
  }
}

// Whether the plug-in's data say something about the parameters of the run.
bool read_hparams(std::string_view content, Recorded* r) {
  Message<f::HParams> m(protozero::data_view(content.data(), content.size()));
  bool found = false;
  while (m.next()) {
    if (m.tag() == f::HParams::kSessionStart) {
      read_session(m.get_message(), r);
      found = true;
    } else {
      m.skip();
    }
  }
  return found;
}

struct ReadPlugin {
  std::string_view name, content;
};

ReadPlugin read_metadata(Message<f::Metadata> m) {
  ReadPlugin out;
  while (m.next()) {
    if (m.tag() != f::Metadata::kPlugin) {
      m.skip();
      continue;
    }
    Message<f::Plugin> p = m.get_message();
    while (p.next()) {
      switch (p.tag()) {
        case f::Plugin::kName:
          out.name = text(p.get_view());
          break;
        case f::Plugin::kContent:
          out.content = text(p.get_view());
          break;
        default:
          p.skip();
      }
    }
  }
  return out;
}

// A value that comes as a tensor, by its plug-in. False when it is of none that is known.
bool place_tensor(const ReadTensor& t, const ReadPlugin& plugin, Recorded* r) {
  if (plugin.name == kHParamsPlugin) {
    r->kind = Kind::kHParams;
    return read_hparams(plugin.content, r);
  }
  if (t.type == f::kString) {
    if (t.strings.empty()) return false;
    r->kind = plugin.name == kRecordPlugin ? Kind::kRecord : Kind::kText;
    r->content = t.strings[0];
    if (plugin.name == "images" && t.strings.size() > 2) {  // width, height, then files
      r->kind = Kind::kImage;
      r->content = t.strings[2];
    }
    return true;
  }
  if (!dtype_of_number(t.type, &r->dtype)) return false;
  r->shape = t.shape;
  r->content = t.content;
  if (plugin.name == "scalars") {
    r->kind = Kind::kScalar;
    if (!t.numbers.empty()) {
      r->scalar = t.numbers[0];
    } else if (t.content.size() >= size_of(r->dtype)) {
      r->scalar = element_as_double(t.content.data(), r->dtype, 0);
    } else {
      return false;
    }
    return true;
  }
  if (t.content.empty() && !t.numbers.empty()) return false;
  r->kind = Kind::kTensor;
  return true;
}

void read_value(Message<f::SummaryValue> m, Recorded r,
                const std::function<void(const Recorded&)>& give) {
  bool known = false, has_tensor = false;
  ReadTensor tensor;
  ReadPlugin plugin;
  while (m.next()) {
    switch (m.tag()) {
      case f::SummaryValue::kTag:
        r.tag = text(m.get_view());
        break;
      case f::SummaryValue::kSimpleValue:
        r.kind = Kind::kScalar;
        r.scalar = static_cast<double>(m.get_float());
        known = true;
        break;
      case f::SummaryValue::kImage:
        read_image(m.get_message(), &r);
        known = true;
        break;
      case f::SummaryValue::kHistogram:
        r.kind = Kind::kHistogram;
        r.distribution = read_histogram(m.get_message());
        known = true;
        break;
      case f::SummaryValue::kTensor:
        tensor = read_tensor(m.get_message());
        has_tensor = true;
        break;
      case f::SummaryValue::kMetadata:
        plugin = read_metadata(m.get_message());
        break;
      default:
        m.skip();
    }
  }
  if (!known && has_tensor) known = place_tensor(tensor, plugin, &r);
  if (known) give(r);
}

}  // namespace

const char* name_of(Kind kind) {
  static constexpr const char* kNames[kKindCount] = {"scalar", "histogram", "image",   "tensor",
                                                     "text",   "record",    "hparams", "graph"};
  return kNames[static_cast<int>(kind)];
}

bool read_event(std::string_view record, const std::function<void(const Recorded&)>& give) {
  try {
    Message<f::Event> m(protozero::data_view(record.data(), record.size()));
    Recorded r;
    std::vector<protozero::data_view> summaries;
    while (m.next()) {
      switch (m.tag()) {
        case f::Event::kWallTime:
          r.when = m.get_double();
          break;
        case f::Event::kStep:
          r.step = m.get_int64();
          break;
        case f::Event::kSummary:
          summaries.push_back(m.get_view());
          break;
        case f::Event::kGraphDef:
          r.kind = Kind::kGraph;
          r.content = text(m.get_view());
          break;
        default:
          m.skip();
      }
    }
    if (r.kind == Kind::kGraph) {
      give(r);
      return true;
    }
    for (protozero::data_view s : summaries) {
      Message<f::Summary> summary(s);
      while (summary.next()) {
        if (summary.tag() == f::Summary::kValue) {
          read_value(summary.get_message(), r, give);
        } else {
          summary.skip();
        }
      }
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace mycel::insight
