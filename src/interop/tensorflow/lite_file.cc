// Reads TFLite files: the FlatBuffer is verified whole before a field of it is read; then every
// index and shape in it is checked.
#include <cstring>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "interop/tensorflow/graph.h"
#include "interop/tensorflow/lite_attributes.h"
#include "interop/tensorflow/record.h"

namespace mycel::interop::tensorflow {
namespace {

constexpr int kMaxDepth = 32;
constexpr uint32_t kMaxTables = 4'000'000;

// The first table that is damaged: what it is and where.
class Damage {
 public:
  Damage(const uint8_t* data, size_t size) : data_(data), v_(data, size, kMaxDepth, kMaxTables) {}

  std::string where() {
    const auto* m = flatbuffers::GetRoot<fb::Model>(data_);
    if (!v_.Verify<uint8_t>(offset(m))) return fmt::format("the root points to byte {}", offset(m));
    if (!starts(m)) return "the model";
    if (!lists(m, fb::Model::VT_SUBGRAPHS, m->subgraphs())) return "the list of subgraphs";
    if (m->subgraphs()) {
      for (uint32_t i = 0; i < m->subgraphs()->size(); ++i) {
        if (auto s = subgraph(*m->subgraphs()->Get(i)); !s.empty())
          return fmt::format("subgraph {}{}", i, s);
      }
    }
    if (auto s = each(m, fb::Model::VT_BUFFERS, m->buffers(), "buffer"); !s.empty()) return s;
    if (auto s = each(m, fb::Model::VT_OPERATOR_CODES, m->operator_codes(), "operator code");
        !s.empty())
      return s;
    return "the model's description";
  }

 private:
  size_t offset(const void* p) const {
    return static_cast<size_t>(static_cast<const uint8_t*>(p) - data_);
  }
  template <typename T>
  bool starts(const T* t) {
    // A table starts with the distance to its field table.
    if (!v_.Verify<int32_t>(offset(t))) return false;
    flatbuffers::Verifier fresh = v_;
    return fresh.VerifyTableStart(reinterpret_cast<const uint8_t*>(t));
  }
  template <typename P, typename T>
  bool lists(const P* parent, flatbuffers::voffset_t field, const flatbuffers::Vector<T>* list) {
    auto table = reinterpret_cast<const flatbuffers::Table*>(parent);
    const auto at = table->GetOptionalFieldOffset(field);
    return !at || (v_.VerifyOffset(offset(table) + at) && v_.VerifyVector(list));
  }
  template <typename P, typename T>
  std::string each(const P* parent, flatbuffers::voffset_t field,
                   const flatbuffers::Vector<flatbuffers::Offset<T>>* list, const char* what) {
    if (!lists(parent, field, list)) return fmt::format("the list of each {}", what);
    if (!list) return "";
    for (uint32_t i = 0; i < list->size(); ++i) {
      flatbuffers::Verifier fresh = v_;
      const size_t slot = offset(list->Data()) + i * sizeof(uint32_t);
      if (!v_.VerifyOffset(slot) || !list->Get(i)->Verify(fresh))
        return fmt::format("{} {}, whose place stands at byte {}", what, i, slot);
    }
    return "";
  }
  std::string subgraph(const fb::SubGraph& g) {
    if (!starts(&g)) return fmt::format(" at byte {}", offset(&g));
    if (auto s = each(&g, fb::SubGraph::VT_TENSORS, g.tensors(), "tensor"); !s.empty())
      return ", " + s;
    if (auto s = each(&g, fb::SubGraph::VT_OPERATORS, g.operators(), "operator"); !s.empty())
      return ", " + s;
    flatbuffers::Verifier fresh = v_;
    return g.Verify(fresh) ? "" : ", its inputs, outputs or name";
  }

  const uint8_t* data_;
  flatbuffers::Verifier v_;
};

class Reader {
 public:
  Reader(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  File read() {
    if (size_ < 8 || !flatbuffers::BufferHasIdentifier(data_, fb::ModelIdentifier()))
      value_error("TFLite: the identifier TFL3 does not stand at byte 4 of the {} bytes", size_);
    flatbuffers::Verifier verifier(data_, size_, kMaxDepth, kMaxTables);
    if (!verifier.VerifyBuffer<fb::Model>(fb::ModelIdentifier()))
      value_error("TFLite: damaged: {}", Damage(data_, size_).where());
    model_ = flatbuffers::GetRoot<fb::Model>(data_);
    if (model_->version() != 3)
      fail(ErrorKind::kUnsupported, "TFLite: version {} of the schema; 3 is read",
           model_->version());
    if (!model_->subgraphs() || model_->subgraphs()->size() == 0)
      value_error("TFLite: the model holds no subgraph");
    File file;
    file.lite = true;
    for (uint32_t i = 0; i < model_->subgraphs()->size(); ++i) {
      where_ = fmt::format("TFLite: subgraph {}", i);
      file.graphs.push_back(graph(*model_->subgraphs()->Get(i)));
    }
    return file;
  }

 private:
  static std::string text(const flatbuffers::String* s) { return s ? s->str() : ""; }

  Graph graph(const fb::SubGraph& from) {
    Graph g;
    g.name = text(from.name());
    if (from.tensors()) {
      for (uint32_t i = 0; i < from.tensors()->size(); ++i)
        g.slots.push_back(slot(*from.tensors()->Get(i), i));
    }
    std::vector<bool> made(g.slots.size(), false);
    for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<bool>(g.slots[i].constant);
    g.inputs = indices(from.inputs(), g, "input");
    for (int i : g.inputs) made[static_cast<size_t>(i)] = true;
    if (from.operators()) {
      for (uint32_t i = 0; i < from.operators()->size(); ++i)
        g.nodes.push_back(node(*from.operators()->Get(i), static_cast<int>(i), g, made));
    }
    g.outputs = indices(from.outputs(), g, "output");
    for (int i : g.outputs) {
      if (!made[static_cast<size_t>(i)])
        value_error("{}: nothing gives its output '{}'", where_,
                    g.slots[static_cast<size_t>(i)].name);
    }
    return g;
  }

  std::vector<int> indices(const flatbuffers::Vector<int32_t>* v, const Graph& g,
                           const char* what) {
    std::vector<int> out;
    if (!v) return out;
    for (int32_t i : *v) {
      if (i < 0 || static_cast<size_t>(i) >= g.slots.size())
        value_error("{}: {} {} is tensor {} of {}", where_, what, out.size(), i, g.slots.size());
      out.push_back(i);
    }
    return out;
  }

  Slot slot(const fb::Tensor& t, uint32_t at) {
    Slot s;
    s.name = text(t.name());
    const std::string owner = fmt::format("{}, tensor {} '{}'", where_, at, s.name);
    if (t.sparsity()) fail(ErrorKind::kUnsupported, "{}: sparse tensors are not read", owner);
    // Types that Mycel has not are refused where something reads or makes them.
    s.typed = true;
    s.dtype = dtype_of_code(t.type(), owner);
    const auto* dims = t.shape();
    const auto* open = t.shape_signature();
    s.ranked = (dims && dims->size() > 0) || t.has_rank();
    Shape stored;
    if (dims) {
      if (dims->size() > kMaxRank)
        value_error("{}: {} dims; at most {} are allowed", owner, dims->size(), kMaxRank);
      for (int32_t d : *dims) {
        if (d < -1) value_error("{}: a dim is {}", owner, d);
        stored.push_back(d);
      }
    }
    s.shape = stored;
    if (open && open->size() == static_cast<uint32_t>(stored.rank())) {
      for (uint32_t d = 0; d < open->size(); ++d) {
        if (open->Get(d) < 0) s.shape.set(static_cast<int>(d), kUnknownDim);
      }
    }
    if (t.quantization()) s.quantization = quantization(*t.quantization(), stored.rank(), owner);
    s.constant = constant(t, s.dtype, stored, owner);
    if (!s.constant && t.is_variable()) {
      if (!stored.known() || stored.size() > static_cast<int64_t>(size_) * 16 + (1 << 20))
        value_error("{}: a variable of shape {}", owner, stored.str());
      s.constant = Tensor::zeros(s.dtype, stored);
    }
    return s;
  }

  Quantization quantization(const fb::QuantizationParameters& q, int rank,
                            const std::string& owner) {
    Quantization out;
    if (!q.scale() || q.scale()->size() == 0) return out;
    if (q.details_type() != 0)
      fail(ErrorKind::kUnsupported, "{}: quantization details of kind {} are not read", owner,
           q.details_type());
    out.scale.assign(q.scale()->begin(), q.scale()->end());
    if (q.zero_point()) out.zero.assign(q.zero_point()->begin(), q.zero_point()->end());
    if (out.zero.empty()) out.zero.assign(1, 0);
    if (out.zero.size() == 1) out.zero.resize(out.scale.size(), out.zero[0]);
    if (out.zero.size() != out.scale.size())
      value_error("{}: {} scales, {} zero points", owner, out.scale.size(), out.zero.size());
    out.axis = q.quantized_dimension();
    if (out.by_channel() && (out.axis < 0 || out.axis >= rank))
      value_error("{}: quantized along dim {} of {}", owner, out.axis, rank);
    return out;
  }

  std::span<const uint8_t> bytes_of(uint32_t buffer, const std::string& owner) const {
    const uint32_t count = model_->buffers() ? model_->buffers()->size() : 0;
    if (buffer >= count) {
      if (buffer == 0) return {};
      value_error("{}: buffer {} of {}", owner, buffer, count);
    }
    const fb::Buffer& b = *model_->buffers()->Get(buffer);
    if (b.offset() > 1) {  // of files above 2 GB: behind the FlatBuffer
      if (b.offset() > size_ || b.size() > size_ - b.offset())
        value_error("{}: bytes {} to {} + {} of {}", owner, b.offset(), b.offset(), b.size(),
                    size_);
      return {data_ + b.offset(), static_cast<size_t>(b.size())};
    }
    if (!b.data()) return {};
    return {b.data()->data(), b.data()->size()};
  }

  // Tensors that share a buffer share its copy here.
  Tensor constant(const fb::Tensor& t, DType dtype, const Shape& shape, const std::string& owner) {
    std::span<const uint8_t> bytes = bytes_of(t.buffer(), owner);
    if (bytes.empty()) return {};
    if (!shape.known()) value_error("{}: a constant of shape {}", owner, shape.str());
    const bool nibbles = t.type() == 17;  // INT4, two a byte, the lower one first
    const int64_t n = shape.size();
    const uint64_t want =
        nibbles ? (static_cast<uint64_t>(n) + 1) / 2 : static_cast<uint64_t>(n) * size_of(dtype);
    // Shape::size has refused what overflows; the product with the element's size may still do.
    if (static_cast<uint64_t>(n) > size_ * 2 || want != bytes.size())
      value_error("{}: its shape {} needs {} bytes, its buffer has {}", owner, shape.str(), want,
                  bytes.size());
    Tensor& flat = flat_[{t.buffer(), t.type()}];
    if (!flat) {
      copied_ += static_cast<size_t>(n) * size_of(dtype);
      if (copied_ > 4 * size_ + (1 << 16))
        value_error("{}: its buffer is read as too many types", owner);
      flat = Tensor::empty(dtype, Shape{n});
      if (nibbles)
        unpack(bytes, flat);
      else if (n)
        std::memcpy(flat.mutable_raw(), bytes.data(), bytes.size());
    }
    return flat.view(shape);
  }
  static void unpack(std::span<const uint8_t> bytes, Tensor& to) {
    auto out = to.mutable_data<int8_t>();
    for (size_t i = 0; i < out.size(); ++i) {
      const int v = (bytes[i / 2] >> (i % 2 * 4)) & 15;
      out[i] = static_cast<int8_t>(v < 8 ? v : v - 16);
    }
  }

  Node node(const fb::Operator& from, int at, const Graph& g, std::vector<bool>& made) {
    Node n;
    n.at = at;
    const uint32_t codes = model_->operator_codes() ? model_->operator_codes()->size() : 0;
    if (from.opcode_index() >= codes)
      value_error("{}, operator {}: code {} of {}", where_, at, from.opcode_index(), codes);
    const fb::OperatorCode& code = *model_->operator_codes()->Get(from.opcode_index());
    // Codes below 127 stood in the older field.
    const int op = std::max<int>(code.deprecated_builtin_code(), code.builtin_code());
    const Record* r = find_lite_record(op);
    if (!r) {
      std::string name = op == 32 ? fmt::format("custom op '{}'", text(code.custom_code()))
                                  : fmt::format("builtin op {}", lite_name(op));
      fail(ErrorKind::kUnsupported, "{}, operator {}: {} is not supported", where_, at, name);
    }
    n.op = r->lite;
    auto slots = [&](const flatbuffers::Vector<int32_t>* v, bool reads) {
      std::vector<int> out;
      if (!v) return out;
      for (int32_t i : *v) {
        if (i < -1 || i >= static_cast<int>(g.slots.size()))
          value_error("{}, operator {} ({}): tensor {} of {}", where_, at, n.op, i, g.slots.size());
        if (reads && i >= 0 && !made[static_cast<size_t>(i)])
          value_error("{}, operator {} ({}): nothing before it gives tensor {} '{}'", where_, at,
                      n.op, i, g.slots[static_cast<size_t>(i)].name);
        out.push_back(i);
      }
      return out;
    };
    n.in = slots(from.inputs(), true);
    n.out = slots(from.outputs(), false);
    for (int o : n.out) {
      if (o < 0) continue;
      made[static_cast<size_t>(o)] = true;
      if (n.name.empty()) n.name = g.slots[static_cast<size_t>(o)].name;
    }
    try {
      read_attributes(from, n);
    } catch (UserError& e) {
      e.prefix(fmt::format("{}, operator {}: ", where_, at));
      throw;
    }
    for (const auto& [key, index] : n.graphs) {
      if (index <= 0 || index >= static_cast<int>(model_->subgraphs()->size()))
        value_error("{}, operator {} ({}): {} is subgraph {} of {}", where_, at, n.op, key, index,
                    model_->subgraphs()->size());
    }
    return n;
  }

  const uint8_t* data_;
  size_t size_;
  const fb::Model* model_ = nullptr;
  std::string where_;
  std::map<std::pair<uint32_t, int>, Tensor> flat_;
  size_t copied_ = 0;
};

}  // namespace

File read_lite(std::string_view bytes) {
  auto data = reinterpret_cast<const uint8_t*>(bytes.data());
  // The verifier wants the alignment that fields have in the file.
  std::vector<uint64_t> aligned;
  if (reinterpret_cast<uintptr_t>(data) % 16 != 0) {
    aligned.resize(bytes.size() / 8 + 3);
    auto start = reinterpret_cast<uint8_t*>(aligned.data());
    start += (16 - reinterpret_cast<uintptr_t>(start) % 16) % 16;
    if (!bytes.empty()) std::memcpy(start, data, bytes.size());
    data = start;
  }
  return Reader(data, bytes.size()).read();
}

}  // namespace mycel::interop::tensorflow
