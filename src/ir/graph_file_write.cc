#include <bit>
#include <cstring>
#include <map>
#include <unordered_map>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/file_io.h"
#include "ir/function.h"
#include "ir/graph_file.h"
#include "ir/graph_file_generated.h"
#include "ir/graph_file_layout.h"
#include "ir/phase.h"
#include "mycel/version.h"

namespace mycel::ir {
namespace {

namespace fb = flatbuffers;
using Offsets = std::vector<fb::Offset<file::Node>>;

// FlatBuffers positions have 31 bits.
constexpr size_t kMaxGraphBytes = (size_t{1} << 31) - (size_t{1} << 24);

class Encoder {
 public:
  std::string encode_graph_section(const GraphFile& f) {
    text("");
    for (const auto& [name, tensor] : f.weights) weight(name, tensor);
    size_t weights = tensors_.size();
    auto graph = encode(*f.graph);
    std::vector<fb::Offset<file::Function>> functions;
    for (size_t i = 0; i < functions_.size(); ++i)  // encoding a body may find more
      functions.push_back(encode(*functions_[i]));
    std::vector<uint32_t> weight_positions(weights);
    for (size_t i = 0; i < weights; ++i) weight_positions[i] = static_cast<uint32_t>(i);
    auto producer = b_.CreateString(fmt::format("mycel {}", version()));
    std::vector<fb::Offset<fb::String>> texts;
    for (const std::string& t : texts_) texts.push_back(b_.CreateString(t));
    auto root =
        file::CreateFile(b_, producer, b_.CreateVector(texts), b_.CreateVector(types_),
                         b_.CreateVector(tensor_tables_), graph, static_cast<uint32_t>(f.inputs),
                         b_.CreateVector(weight_positions), b_.CreateVector(functions));
    file::FinishFileBuffer(b_, root);
    return {reinterpret_cast<const char*>(b_.GetBufferPointer()), b_.GetSize()};
  }

  // In the order of their offsets.
  const Tensors& tensors() const { return tensors_; }
  uint64_t tensors_bytes() const { return tensors_bytes_; }

 private:
  uint32_t text(const std::string& s) {
    auto [it, fresh] = text_index_.emplace(s, static_cast<uint32_t>(texts_.size()));
    if (fresh) texts_.push_back(s);
    return it->second;
  }

  uint32_t type(const Type& t) {
    auto [it, fresh] = type_index_.emplace(t.str(), static_cast<uint32_t>(types_.size()));
    if (fresh) {
      std::vector<int64_t> dims(t.shape.begin(), t.shape.end());
      uint32_t dtype = text(std::string(name_of(t.dtype)));
      types_.push_back(file::CreateTypeDirect(b_, dtype, t.kind == Type::Kind::kStack, &dims));
    }
    return it->second;
  }

  uint32_t add_tensor(const std::string& name, const Tensor& t) {
    uint64_t offset = aligned(tensors_bytes_);
    tensors_bytes_ = offset + t.bytes();
    tensor_tables_.push_back(
        file::CreateTensor(b_, text(name), type({t.dtype(), t.shape()}), offset));
    tensors_.push_back(t);
    return static_cast<uint32_t>(tensors_.size() - 1);
  }

  void weight(const std::string& name, const Tensor& t) { add_tensor(name, t); }

  uint32_t constant(const Tensor& t) {
    auto it = constants_.find(t.impl().get());
    if (it != constants_.end()) return it->second;
    return constants_[t.impl().get()] = add_tensor("", t);
  }

  uint32_t function(const FunctionPtr& f) {
    auto [it, fresh] = function_index_.emplace(f.get(), static_cast<uint32_t>(functions_.size()));
    if (fresh) functions_.push_back(f);
    return it->second;
  }

  fb::Offset<file::Function> encode(const Function& f) {
    MYCEL_CHECK(f.body, "function {} has no body", f.name);
    std::vector<uint32_t> params, results;
    for (const Type& t : f.params) params.push_back(type(t));
    for (const Type& t : f.results) results.push_back(type(t));
    return file::CreateFunctionDirect(b_, text(f.name), &params, &results, encode(*f.body));
  }

  fb::Offset<file::Attr> attr(const Node& n, size_t i) {
    const Attr& a = n.attrs[i];
    const std::string& name = n.op->attrs[i].name;
    uint32_t key = text(name);
    using file::AttrKind;
    auto number = [&](AttrKind kind, int64_t v) { return file::CreateAttr(b_, key, kind, v); };
    if (a.none()) return number(AttrKind::None, 0);
    if (a.is<bool>()) return number(AttrKind::Bool, a.boolean());
    if (a.is<int64_t>()) return number(AttrKind::Int, a.integer());
    if (a.is<double>()) return number(AttrKind::Float, std::bit_cast<int64_t>(a.real()));
    if (a.is<std::string>()) return number(AttrKind::String, text(a.string()));
    if (a.is<DType>()) return number(AttrKind::DType, text(std::string(name_of(a.dtype()))));
    if (a.is<Attr::Ints>()) {
      return file::CreateAttrDirect(b_, key, AttrKind::Ints, 0, &a.ints());
    }
    if (a.is<Attr::Floats>()) {
      return file::CreateAttrDirect(b_, key, AttrKind::Floats, 0, nullptr, &a.floats());
    }
    if (a.is<Tensor>()) return number(AttrKind::Tensor, constant(a.tensor()));
    if (a.is<FunctionPtr>()) return number(AttrKind::Function, function(a.function()));
    if (a.is<GraphPtr>()) {
      auto region = encode(*a.graph());
      return file::CreateAttr(b_, key, AttrKind::Region, 0, 0, 0, region);
    }
    throw UserError(
        ErrorKind::kValue,
        fmt::format(
            "{}: attribute '{}' is a function of the host program, which a file cannot hold",
            n.op->name, name),
        has_line(n.loc) ? "At " + loc_text(n.loc) : "");
  }

  fb::Offset<file::Node> node(const Node& n, const std::vector<int32_t>& first) {
    std::vector<int32_t> inputs;
    for (const Value& v : n.inputs) {
      inputs.push_back(v ? first[v.node->id] + static_cast<int32_t>(v.index) : -1);
    }
    std::vector<fb::Offset<file::Attr>> attrs;
    for (size_t i = 0; i < n.attrs.size(); ++i) attrs.push_back(attr(n, i));
    std::vector<uint32_t> types;
    for (const Type& t : n.types) types.push_back(type(t));
    if (b_.GetSize() > kMaxGraphBytes)
      value_error("a graph of more than 2 GB, without its tensors");
    return file::CreateNodeDirect(b_, text(n.op->name), &inputs, &attrs, &types,
                                  text(loc_text(n.loc)));
  }

  fb::Offset<file::Graph> encode(const Graph& g) {
    std::vector<int32_t> first(g.size());
    int32_t next = 0;
    std::vector<fb::Offset<file::Param>> params;
    for (const Value& p : g.params()) {
      first[p.node->id] = next++;
      params.push_back(file::CreateParam(b_, text(p.node->name), type(p.type())));
    }
    Offsets nodes;
    for (const Node& n : g.nodes()) {
      if (n.is_param()) continue;
      first[n.id] = next;
      next += static_cast<int32_t>(n.types.size());
      nodes.push_back(node(n, first));
    }
    std::vector<uint32_t> results;
    for (const Value& v : g.results()) {
      results.push_back(static_cast<uint32_t>(first[v.node->id]) + v.index);
    }
    return file::CreateGraphDirect(b_, text(g.name()), &params, &nodes, &results);
  }

  fb::FlatBufferBuilder b_{1 << 16};
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> text_index_, type_index_;
  std::vector<fb::Offset<file::Type>> types_;
  std::vector<fb::Offset<file::Tensor>> tensor_tables_;
  Tensors tensors_;
  std::map<const TensorImpl*, uint32_t> constants_;
  std::vector<FunctionPtr> functions_;  // in order of appearance
  std::map<const Function*, uint32_t> function_index_;
  uint64_t tensors_bytes_ = 0;
};

// Hands out the file in pieces, in order. The head is known last but written first, so the sums are
// taken in a walk of their own.
template <typename Write>
void lay_out(const GraphFile& f, Write write) {
  Encoder encoder;
  std::string graph = encoder.encode_graph_section(f);
  GraphFileHead head{};
  std::memcpy(head.magic, kGraphFileMagic, sizeof head.magic);
  head.version = kGraphFileVersion;
  head.graph_bytes = graph.size();
  head.tensors_offset = aligned(sizeof head + graph.size());
  head.tensors_bytes = encoder.tensors_bytes();
  graph.resize(head.tensors_offset - sizeof head, '\0');
  head.graph_sum = XXH3_64bits(graph.data(), graph.size());
  XXH3_state_t sum;
  XXH3_64bits_reset(&sum);
  auto each_piece = [&](auto&& take) {
    static const char kZeros[kTensorAlignment] = {};
    uint64_t at = 0;
    for (const Tensor& t : encoder.tensors()) {
      take(kZeros, aligned(at) - at);
      at = aligned(at);
      if (t.bytes()) take(t.raw(), t.bytes());
      at += t.bytes();
    }
  };
  each_piece([&](const void* data, size_t n) { XXH3_64bits_update(&sum, data, n); });
  head.tensors_sum = XXH3_64bits_digest(&sum);
  head.head_sum = XXH3_64bits(&head, offsetof(GraphFileHead, head_sum));
  write(&head, sizeof head);
  write(graph.data(), graph.size());
  each_piece(write);
}

}  // namespace

void write_graph_file(const std::string& path, const GraphFile& f) {
  AtomicFile out(path);
  lay_out(f, [&](const void* data, size_t n) { out.write(data, n); });
  out.commit();
}

std::string encode_graph_file(const GraphFile& f) {
  std::string out;
  lay_out(f, [&](const void* data, size_t n) { out.append(static_cast<const char*>(data), n); });
  return out;
}

}  // namespace mycel::ir
