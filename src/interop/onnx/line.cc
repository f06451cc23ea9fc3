#include "interop/onnx/line.h"

#include <map>

#include "base/error.h"
#include "interop/onnx/expression.h"
#include "runtime/dispatch.h"

namespace mycel::interop::onnx {
namespace {

std::string trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return std::string(s);
}

Line parse_line(const ir::Op& op) {
  Line line;
  line.op = &op;
  std::string_view text = op.def.onnx;
  size_t open = text.find('(');
  line.name = trimmed(text.substr(0, open));
  if (open == std::string_view::npos) return line;
  std::string_view rest = text.substr(open + 1, text.rfind(')') - open - 1);
  while (!rest.empty()) {
    size_t comma = std::min(rest.find(','), rest.size());
    std::string_view item = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    LineAttr a;
    if (size_t eq = item.find('='); eq != std::string_view::npos) {
      a.otherwise = trimmed(item.substr(eq + 1));
      a.has_otherwise = true;
      item = item.substr(0, eq);
      if (a.otherwise.starts_with("'")) {  // always this text
        a.onnx = trimmed(item);
        a.otherwise = a.otherwise.substr(1, a.otherwise.size() - 2);
        line.attrs.push_back(std::move(a));
        continue;
      }
    }
    size_t colon = item.find(':');
    a.onnx = trimmed(item.substr(0, colon));
    a.mycel = colon == std::string_view::npos ? a.onnx : trimmed(item.substr(colon + 1));
    MYCEL_CHECK(op.attr_index(a.mycel) >= 0, "the line \"{}\" of op {} names no attribute '{}'",
                text, op.name, a.mycel);
    line.attrs.push_back(std::move(a));
  }
  return line;
}

struct Lines {
  std::map<const ir::Op*, Line> by_op;
  std::map<std::string, const Line*, std::less<>> by_name;
};

const Lines& lines() {
  static const Lines all = [] {
    ir::ensure_ops();
    Lines l;
    for (const ir::Op* op : ir::all_ops()) {
      if (!*op->def.onnx || is_expression(op->def.onnx)) continue;
      const Line& line = l.by_op[op] = parse_line(*op);
      l.by_name.emplace(line.name, &line);
    }
    return l;
  }();
  return all;
}

const char* type_word(ir::AttrKind k) {
  switch (k) {
    case ir::AttrKind::kBool:
      return "bool";
    case ir::AttrKind::kInt:
      return "int";
    case ir::AttrKind::kInts:
      return "int[]";
    case ir::AttrKind::kString:
      return "str";
    default:
      return "float";
  }
}

ir::Attr attr_of(const LineAttr& a, const ir::AttrSpec& spec, const Call& c) {
  if (!c.has_attr(a.onnx)) {
    if (!a.has_otherwise) c.fail("attribute '{}' is missing", a.onnx);
    return ir::parse_attr("a: " + std::string(type_word(spec.kind)) + " = " + a.otherwise)
        .default_value;
  }
  switch (spec.kind) {
    case ir::AttrKind::kBool:
      return {c.integer(a.onnx) != 0};
    case ir::AttrKind::kInt:
      return {c.integer(a.onnx)};
    case ir::AttrKind::kFloat:
      return {c.real(a.onnx, 0)};
    case ir::AttrKind::kString:
      return {c.text(a.onnx, "")};
    case ir::AttrKind::kInts:
      return {c.ints(a.onnx)};
    default:
      c.fail("attribute '{}' cannot be taken from a line", a.onnx);
  }
}

}  // namespace

const Line* find_line(std::string_view onnx_op) {
  auto it = lines().by_name.find(onnx_op);
  return it == lines().by_name.end() ? nullptr : it->second;
}

const Line* line_of(const ir::Op& op) {
  auto it = lines().by_op.find(&op);
  return it == lines().by_op.end() ? nullptr : &it->second;
}

std::vector<const Line*> all_lines() {
  std::vector<const Line*> out;
  for (const auto& [name, line] : lines().by_name) out.push_back(line);
  return out;
}

Values build_from_line(const Line& line, Call& c) {
  const ir::Op& op = *line.op;
  std::vector<ir::Attr> attrs;
  for (const ir::AttrSpec& spec : op.attrs) attrs.push_back(spec.default_value);
  for (const LineAttr& a : line.attrs) {
    if (a.mycel.empty()) continue;
    auto at = static_cast<size_t>(op.attr_index(a.mycel));
    attrs[at] = attr_of(a, op.attrs[at], c);
  }
  Tensors in;
  for (int i = 0; i < c.inputs(); ++i) in.push_back(c.x_or(i));
  Values out;
  for (Tensor& t : runtime::call(op, in, ir::Attrs(std::move(attrs))))
    out.emplace_back(std::move(t));
  return out;
}

}  // namespace mycel::interop::onnx
