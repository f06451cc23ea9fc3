#include "insight/events/write.h"

#include <fmt/format.h>

#include "insight/events/format.h"
#include "insight/events/protozero.h"
#include "ir/phase.h"

namespace mycel::insight {
namespace {

namespace f = format;
template <typename T>
using Builder = protozero::pbf_builder<T>;

int32_t type_number(DType t) {
  switch (t) {
    case DType::kBool:
      return f::kBool;
    case DType::kInt8:
      return f::kInt8;
    case DType::kInt16:
      return f::kInt16;
    case DType::kInt32:
      return f::kInt32;
    case DType::kInt64:
      return f::kInt64;
    case DType::kUInt8:
      return f::kUInt8;
    case DType::kUInt16:
      return f::kUInt16;
    case DType::kUInt32:
      return f::kUInt32;
    case DType::kUInt64:
      return f::kUInt64;
    case DType::kFloat16:
      return f::kHalf;
    case DType::kBFloat16:
      return f::kBFloat16;
    case DType::kFloat32:
      return f::kFloat;
    case DType::kFloat64:
      return f::kDouble;
    case DType::kComplex64:
      return f::kComplex64;
    case DType::kComplex128:
      return f::kComplex128;
  }
  return 0;
}

std::string begin(double when, int64_t step) {
  std::string out;
  Builder<f::Event> event(out);
  event.add_double(f::Event::kWallTime, when);
  if (step != 0) event.add_int64(f::Event::kStep, step);
  return out;
}

// A record with one value, whose content `fill` writes.
template <typename F>
std::string with_value(const Place& at, F&& fill) {
  std::string out = begin(at.when, at.step);
  Builder<f::Event> event(out);
  Builder<f::Summary> summary(event, f::Event::kSummary);
  Builder<f::SummaryValue> value(summary, f::Summary::kValue);
  value.add_string(f::SummaryValue::kTag, at.tag);
  fill(value);
  return out;
}

void add_plugin(Builder<f::SummaryValue>& value, const char* name, const std::string& content) {
  Builder<f::Metadata> metadata(value, f::SummaryValue::kMetadata);
  Builder<f::Plugin> plugin(metadata, f::Metadata::kPlugin);
  plugin.add_string(f::Plugin::kName, name);
  if (!content.empty()) plugin.add_bytes(f::Plugin::kContent, content);
}

template <typename Message, typename Tag>
void add_shape(Message& message, Tag tag, const Shape& shape) {
  Builder<f::TensorShape> out(message, tag);
  for (int64_t d : shape) {
    Builder<f::Dim> dim(out, f::TensorShape::kDim);
    dim.add_int64(f::Dim::kSize, d);
  }
}

std::string hparams_event(double when, const char* tag, f::HParams which,
                          const std::string& content) {
  std::string data;
  Builder<f::HParams> message(data);
  message.add_int32(f::HParams::kVersion, 0);
  message.add_bytes(which, content);
  return with_value({when, 0, tag}, [&](auto& value) {
    add_plugin(value, kHParamsPlugin, data);
    // TensorBoard wants some tensor beside the data.
    Builder<f::Tensor> tensor(value, f::SummaryValue::kTensor);
    tensor.add_int32(f::Tensor::kDtype, f::kFloat);
    add_shape(tensor, f::Tensor::kShape, {});
    tensor.add_float(f::Tensor::kFloat, 0);
  });
}

// --- graphs

std::string node_name(const std::string& scope, const ir::Node& n) {
  const std::string own = n.is_param() ? (n.name.empty() ? "input" : n.name) : n.op->name;
  return fmt::format("{}{}_{}", scope, own, n.id);
}

void add_attr(Builder<f::NodeDef>& node, const char* key, const std::string& value) {
  Builder<f::MapEntry> entry(node, f::NodeDef::kAttr);
  entry.add_string(f::MapEntry::kKey, key);
  entry.add_bytes(f::MapEntry::kValue, value);
}

void add_types(Builder<f::NodeDef>& node, const ir::Node& n) {
  if (n.types.empty()) return;
  std::string type, shapes;
  Builder<f::AttrValue>(type).add_int32(f::AttrValue::kType, type_number(n.types[0].dtype));
  add_attr(node, "T", type);
  {
    Builder<f::AttrValue> value(shapes);
    Builder<f::AttrList> list(value, f::AttrValue::kList);
    for (const ir::Type& t : n.types) add_shape(list, f::AttrList::kShape, t.shape);
  }
  add_attr(node, "_output_shapes", shapes);
  if (ir::has_line(n.loc)) {
    std::string where;
    Builder<f::AttrValue>(where).add_bytes(f::AttrValue::kString, ir::loc_text(n.loc));
    add_attr(node, "where", where);
  }
}

void add_nodes(Builder<f::GraphDef>& out, const ir::Graph& g, const std::string& scope) {
  for (const ir::Node& n : g.nodes()) {
    const std::string name = node_name(scope, n);
    {
      Builder<f::NodeDef> node(out, f::GraphDef::kNode);
      node.add_string(f::NodeDef::kName, name);
      node.add_string(f::NodeDef::kOp, n.is_param() ? "Placeholder" : n.op->name);
      for (const ir::Value& v : n.inputs) {
        if (!v) continue;
        std::string from = node_name(scope, *v.node);
        if (v.index) from += fmt::format(":{}", v.index);
        node.add_string(f::NodeDef::kInput, from);
      }
      add_types(node, n);
    }
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      const ir::Attr& a = n.attrs[i];
      if (a.is<ir::GraphPtr>() && a.graph())
        add_nodes(out, *a.graph(), fmt::format("{}/{}/", name, a.graph()->name()));
    }
  }
}

}  // namespace

std::string first_event(double when) {
  std::string out = begin(when, 0);
  Builder<f::Event> event(out);
  event.add_string(f::Event::kFileVersion, "brain.Event:2");
  Builder<f::SourceMetadata> source(event, f::Event::kSourceMetadata);
  source.add_string(f::SourceMetadata::kWriter, "mycel.insight");
  return out;
}

std::string scalar_event(const Place& at, double value) {
  return with_value(
      at, [&](auto& v) { v.add_float(f::SummaryValue::kSimpleValue, static_cast<float>(value)); });
}

std::string histogram_event(const Place& at, const Distribution& d) {
  return with_value(at, [&](auto& v) {
    Builder<f::Histogram> h(v, f::SummaryValue::kHistogram);
    h.add_double(f::Histogram::kMin, d.min);
    h.add_double(f::Histogram::kMax, d.max);
    h.add_double(f::Histogram::kCount, d.count);
    h.add_double(f::Histogram::kSum, d.sum);
    h.add_double(f::Histogram::kSumSquares, d.sum_squares);
    h.add_packed_double(f::Histogram::kLimits, d.limits.begin(), d.limits.end());
    h.add_packed_double(f::Histogram::kBuckets, d.buckets.begin(), d.buckets.end());
  });
}

std::string picture_event(const Place& at, const Picture& p) {
  return with_value(at, [&](auto& v) {
    Builder<f::Image> image(v, f::SummaryValue::kImage);
    image.add_int32(f::Image::kHeight, static_cast<int32_t>(p.height));
    image.add_int32(f::Image::kWidth, static_cast<int32_t>(p.width));
    image.add_int32(f::Image::kColorspace, p.channels);
    image.add_bytes(f::Image::kEncoded, p.png);
  });
}

std::string tensor_event(const Place& at, const Tensor& t) {
  return with_value(at, [&](auto& v) {
    add_plugin(v, kTensorPlugin, {});
    Builder<f::Tensor> tensor(v, f::SummaryValue::kTensor);
    tensor.add_int32(f::Tensor::kDtype, type_number(t.dtype()));
    add_shape(tensor, f::Tensor::kShape, t.shape());
    tensor.add_bytes(f::Tensor::kContent, static_cast<const char*>(t.raw()), t.bytes());
  });
}

std::string text_event(const Place& at, const std::string& text, const char* plugin) {
  return with_value(at, [&](auto& v) {
    add_plugin(v, plugin, {});
    Builder<f::Tensor> tensor(v, f::SummaryValue::kTensor);
    tensor.add_int32(f::Tensor::kDtype, f::kString);
    add_shape(tensor, f::Tensor::kShape, {1});
    tensor.add_bytes(f::Tensor::kString, text);
  });
}

std::string graph_event(double when, const ir::Graph& graph) {
  std::string def;
  {
    Builder<f::GraphDef> out(def);
    add_nodes(out, graph, "");
    Builder<f::Versions> versions(out, f::GraphDef::kVersions);
    versions.add_int32(f::Versions::kProducer, 22);
  }
  std::string out = begin(when, 0);
  Builder<f::Event>(out).add_bytes(f::Event::kGraphDef, def);
  return out;
}

std::string session_start_event(double when, const HParams& params, const std::string& group) {
  std::string data;
  Builder<f::SessionStart> start(data);
  for (const auto& [name, value] : params) {
    Builder<f::MapEntry> entry(start, f::SessionStart::kHParams);
    entry.add_string(f::MapEntry::kKey, name);
    Builder<f::AnyValue> any(entry, f::MapEntry::kValue);
    if (const auto* number = std::get_if<double>(&value)) {
      any.add_double(f::AnyValue::kNumber, *number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      any.add_string(f::AnyValue::kString, *text);
    } else {
      any.add_bool(f::AnyValue::kBool, std::get<bool>(value));
    }
  }
  if (!group.empty()) start.add_string(f::SessionStart::kGroup, group);
  start.add_double(f::SessionStart::kTime, when);
  return hparams_event(when, "_hparams_/session_start_info", f::HParams::kSessionStart, data);
}

std::string session_end_event(double when, bool success) {
  std::string data;
  Builder<f::SessionEnd> end(data);
  end.add_int32(f::SessionEnd::kStatus, success ? 1 : 2);
  end.add_double(f::SessionEnd::kTime, when);
  return hparams_event(when, "_hparams_/session_end_info", f::HParams::kSessionEnd, data);
}

}  // namespace mycel::insight
