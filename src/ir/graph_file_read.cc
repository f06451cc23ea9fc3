#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/mapped_file.h"
#include "ir/function.h"
#include "ir/graph_file.h"
#include "ir/graph_file_generated.h"
#include "ir/graph_file_layout.h"
#include "ir/verify.h"

namespace mycel::ir {
namespace {

namespace fb = flatbuffers;

constexpr int kMaxDepth = 64;  // of regions inside regions
constexpr int64_t kMaxDim = int64_t{1} << 40;

template <typename... A>
[[noreturn]] void damaged(fmt::format_string<A...> f, A&&... a) {
  throw UserError(ErrorKind::kValue,
                  "the file is damaged: " + fmt::format(f, std::forward<A>(a)...),
                  "Export the network again, or fetch the file again.");
}

// The list, or an empty one where the field is absent.
template <typename T>
const fb::Vector<T>& list(const fb::Vector<T>* v, const char* what) {
  if (!v) damaged("'{}' is missing", what);
  return *v;
}

// The numbers of a vector. Copied as bytes: in a damaged file they need not lie at a multiple of
// their size, which the verifier of FlatBuffers does not look at.
template <typename T>
std::vector<T> numbers(const fb::Vector<T>& v) {
  std::vector<T> out(v.size());
  if (!out.empty()) std::memcpy(out.data(), v.Data(), out.size() * sizeof(T));
  return out;
}

GraphFileHead read_head(std::span<const std::byte> bytes) {
  if (!is_graph_file(bytes)) {
    throw UserError(
        ErrorKind::kValue, "this is no exported network",
        "Networks are written by mycel.export; checkpoints are read by load_checkpoint.");
  }
  GraphFileHead head;
  if (bytes.size() < sizeof head) damaged("it ends after {} bytes", bytes.size());
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.version > kGraphFileVersion) {
    throw UserError(ErrorKind::kValue,
                    fmt::format("written in version {} of the format; this Mycel reads up to {}",
                                head.version, kGraphFileVersion),
                    "Load it with a newer Mycel, or export it with this one.");
  }
  if (head.head_sum != XXH3_64bits(&head, offsetof(GraphFileHead, head_sum)))
    damaged("the checksum of its first 64 bytes does not fit");
  if (head.version != kGraphFileVersion) damaged("there is no version {}", head.version);
  uint64_t graph_room = bytes.size() - sizeof head;
  if (head.graph_bytes > graph_room || head.tensors_offset > bytes.size() ||
      head.tensors_offset != aligned(sizeof head + head.graph_bytes) ||
      head.tensors_bytes != bytes.size() - head.tensors_offset) {
    damaged("it has {} bytes where {} + {} are announced", bytes.size(), head.tensors_offset,
            head.tensors_bytes);
  }
  return head;
}

class Decoder {
 public:
  Decoder(const file::File& f, std::span<std::byte> tensors, const Ref<RefCounted>& owner)
      : f_(f), tensor_bytes_(tensors), owner_(owner) {}

  GraphFile decode() {
    for (const fb::String* t : list(f_.texts(), "texts")) texts_.push_back(t->str());
    for (const file::Type* t : list(f_.types(), "types")) types_.push_back(type(*t));
    for (const file::Tensor* t : list(f_.tensors(), "tensors")) tensors_.push_back(tensor(*t));
    if (!f_.graph()) damaged("'graph' is missing");
    read_functions();
    GraphFile out;
    if (f_.producer()) out.producer = f_.producer()->str();
    out.graph = graph(*f_.graph(), 0);
    out.inputs = f_.inputs();
    read_weights(out);
    std::string problem = problem_of(*out.graph);
    if (!problem.empty()) damaged("{}", problem);
    return out;
  }

 private:
  const std::string& text(uint64_t i) const {
    if (i >= texts_.size()) damaged("text {} of {}", i, texts_.size());
    return texts_[i];
  }
  const Type& type(uint64_t i) const {
    if (i >= types_.size()) damaged("type {} of {}", i, types_.size());
    return types_[i];
  }
  const Tensor& tensor(uint64_t i) const {
    if (i >= tensors_.size()) damaged("tensor {} of {}", i, tensors_.size());
    return tensors_[i];
  }
  DType dtype(uint64_t i) const {
    DType d;
    if (!parse_dtype(text(i), &d)) damaged("there is no dtype '{}'", text(i));
    return d;
  }

  Type type(const file::Type& t) const {
    std::vector<int64_t> dims;
    if (t.dims()) dims = numbers(*t.dims());
    // Nothing has such dims, and type rules may count on their sums.
    for (int64_t n : dims) {
      if (n > kMaxDim) damaged("a dim of {}", n);
    }
    return {dtype(t.dtype()), Shape(dims), t.stack() ? Type::Kind::kStack : Type::Kind::kTensor};
  }

  Tensor tensor(const file::Tensor& t) const {
    const Type& type = this->type(t.type());
    if (type.kind != Type::Kind::kTensor || !type.shape.known())
      damaged("a tensor of type {}", type.str());
    auto elements = static_cast<uint64_t>(type.shape.size());
    if (t.offset() % kTensorAlignment != 0 || t.offset() > tensor_bytes_.size() ||
        elements > (tensor_bytes_.size() - t.offset()) / size_of(type.dtype)) {
      damaged("a tensor {} at byte {} of {}", type.str(), t.offset(), tensor_bytes_.size());
    }
    if (elements == 0) return Tensor::empty(type.dtype, type.shape);
    return Tensor::wrap(tensor_bytes_.data() + t.offset(), type.dtype, type.shape,
                        [owner = owner_] {});
  }

  Types types(const fb::Vector<uint32_t>* positions, const char* what) const {
    Types out;
    for (uint32_t t : list(positions, what)) out.push_back(type(t));
    return out;
  }

  // All are declared before the first body is read: calls need their types.
  void read_functions() {
    if (!f_.functions()) return;
    for (const file::Function* f : *f_.functions()) {
      functions_.push_back(make_function(text(f->name()), types(f->params(), "params"),
                                         types(f->results(), "results"),
                                         functions_.empty() ? nullptr : functions_[0]));
    }
    for (size_t i = 0; i < functions_.size(); ++i) {
      const file::Function& f = *(*f_.functions())[static_cast<fb::uoffset_t>(i)];
      if (!f.body()) damaged("'body' is missing");
      set_body(functions_[i], graph(*f.body(), 0));
    }
  }

  std::shared_ptr<const Graph> graph(const file::Graph& f, int depth) const {
    if (depth > kMaxDepth) damaged("more than {} regions inside each other", kMaxDepth);
    auto g = std::make_shared<Graph>(text(f.name()));
    std::vector<Value> values;
    auto use = [&](int64_t i) {
      if (i < 0 || i >= static_cast<int64_t>(values.size()))
        damaged("graph '{}' uses value {} of {}", g->name(), i, values.size());
      return values[i];
    };
    for (const file::Param* p : list(f.params(), "params"))
      values.push_back(g->add_param(type(p->type()), text(p->name())));
    for (const file::Node* n : list(f.nodes(), "nodes")) {
      const Op* op = find_op(text(n->op()));
      if (!op) {
        throw UserError(
            ErrorKind::kValue,
            fmt::format("it uses the op '{}', which this Mycel does not have", text(n->op())),
            "Load it with the Mycel that wrote it.");
      }
      std::vector<Value> in;
      for (int32_t i : list(n->inputs(), "inputs")) in.push_back(i == -1 ? Value() : use(i));
      Node* made = g->add_typed(*op, std::move(in), attrs(*op, *n, depth),
                                types(n->types(), "types"), intern_loc(text(n->location())));
      for (uint32_t j = 0; j < made->types.size(); ++j) values.push_back(made->out(j));
    }
    std::vector<Value> results;
    for (uint32_t r : list(f.results(), "results")) results.push_back(use(r));
    g->set_results(std::move(results));
    return g;
  }

  // Attributes that the record got after the file was written have their default.
  Attrs attrs(const Op& op, const file::Node& n, int depth) const {
    std::vector<Attr> given;
    std::vector<bool> set(op.attrs.size(), false);
    for (const AttrSpec& a : op.attrs) given.push_back(a.default_value);
    for (const file::Attr* a : list(n.attrs(), "attrs")) {
      int i = op.attr_index(text(a->name()));
      if (i < 0) damaged("{} has no attribute '{}'", op.name, text(a->name()));
      given[i] = attr(*a, depth);
      set[i] = true;
    }
    for (size_t i = 0; i < set.size(); ++i) {
      if (!set[i] && !op.attrs[i].has_default)
        damaged("attribute '{}' of {} is missing", op.attrs[i].name, op.name);
    }
    return op.complete(Attrs(std::move(given)));
  }

  Attr attr(const file::Attr& a, int depth) const {
    using file::AttrKind;
    auto position = static_cast<uint64_t>(a.integer());
    switch (a.kind()) {
      case AttrKind::None:
        return {};
      case AttrKind::Bool:
        return Attr(a.integer() != 0);
      case AttrKind::Int:
        return Attr(a.integer());
      case AttrKind::Float:
        return Attr(std::bit_cast<double>(a.integer()));
      case AttrKind::String:
        return Attr(text(position));
      case AttrKind::DType:
        return Attr(dtype(position));
      case AttrKind::Tensor:
        return Attr(tensor(position));
      case AttrKind::Ints:
        return Attr(numbers(list(a.integers(), "integers")));
      case AttrKind::Floats:
        return Attr(numbers(list(a.reals(), "reals")));
      case AttrKind::Function:
        if (position >= functions_.size())
          damaged("function {} of {}", position, functions_.size());
        return Attr(functions_[position]);
      case AttrKind::Region:
        if (!a.region()) damaged("'region' is missing");
        return Attr(GraphPtr(graph(*a.region(), depth + 1)));
    }
    damaged("an attribute of kind {}", static_cast<int>(a.kind()));
  }

  void read_weights(GraphFile& out) const {
    const auto& positions = list(f_.weights(), "weights");
    auto params = out.graph->params();
    if (out.inputs > params.size() || params.size() - out.inputs != positions.size()) {
      damaged("a graph of {} parameters with {} inputs and {} weights", params.size(), out.inputs,
              positions.size());
    }
    for (uint32_t i = 0; i < positions.size(); ++i) {
      const Tensor& t = tensor(positions[i]);
      const std::string& name = text((*f_.tensors())[positions[i]]->name());
      const Type& expected = params[out.inputs + i].type();
      if (!(expected == Type(t.dtype(), t.shape()))) {
        damaged("the weight '{}' is {}; the graph takes {}", name, t.describe(), expected.str());
      }
      out.weights.emplace_back(name, t);
    }
  }

  const file::File& f_;
  std::span<std::byte> tensor_bytes_;
  const Ref<RefCounted>& owner_;
  std::vector<std::string> texts_;
  Types types_;
  Tensors tensors_;
  std::vector<FunctionPtr> functions_;
};

GraphFile decode_checked(std::span<std::byte> bytes, const Ref<RefCounted>& owner,
                         bool check_weights) {
  GraphFileHead head = read_head(bytes);
  auto graph = bytes.subspan(sizeof head, head.tensors_offset - sizeof head);
  auto tensors = bytes.subspan(head.tensors_offset);
  if (XXH3_64bits(graph.data(), graph.size()) != head.graph_sum)
    damaged("the checksum of the graph does not fit");
  if (check_weights && XXH3_64bits(tensors.data(), tensors.size()) != head.tensors_sum)
    damaged("the checksum of the weights does not fit");
  // Each table takes 4 bytes or more, each level of regions 3 tables.
  fb::Verifier verifier(reinterpret_cast<const uint8_t*>(graph.data()), head.graph_bytes,
                        3 * kMaxDepth + 8, static_cast<fb::uoffset_t>(head.graph_bytes / 4));
  if (!file::VerifyFileBuffer(verifier)) damaged("the graph section is no FlatBuffer of ours");
  return Decoder(*file::GetFile(graph.data()), tensors, owner).decode();
}

}  // namespace

bool is_graph_file(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof kGraphFileMagic &&
         std::memcmp(bytes.data(), kGraphFileMagic, sizeof kGraphFileMagic) == 0;
}

GraphFile decode_graph_file(std::span<std::byte> bytes, const Ref<RefCounted>& owner,
                            bool check_weights) {
  ensure_ops();
  try {
    return decode_checked(bytes, owner, check_weights);
  } catch (const UserError&) {
    throw;
  } catch (const std::exception& e) {
    // A type rule that took its attributes for sound.
    damaged("{}", e.what());
  }
}

GraphFile read_graph_file(const std::string& path, bool check_weights) {
  auto mapped = MappedFile::open(path);
  try {
    return decode_graph_file(mapped->bytes(), mapped, check_weights);
  } catch (UserError& e) {
    e.prefix(fmt::format("'{}': ", path));
    throw;
  }
}

}  // namespace mycel::ir
