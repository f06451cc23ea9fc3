#include "autodiff/batch_rules.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace mycel::autodiff {
namespace {

using ir::Attr;
using ir::Batching;
using ir::Value;

using Labels = std::vector<std::string>;

Labels words(std::string_view s) {
  Labels out;
  std::string word;
  for (char c : s) {
    if (c == ' ') {
      if (!word.empty()) out.push_back(word);
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) out.push_back(word);
  return out;
}

// Splits at commas outside of parentheses.
std::vector<std::string> parts(std::string_view s) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (char c : s) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

// "n c, o c -> n o : sum(c), whole(axis)" taken apart.
struct Line {
  std::vector<Labels> in, out;
  struct Note {
    std::string name;
    Labels args;
  };
  std::vector<Note> notes;
  bool tells = false;
};

Line read(std::string_view s) {
  Line line;
  size_t arrow = s.find("->");
  if (arrow == std::string_view::npos || arrow == 0) return line;
  size_t colon = s.find(" : ", arrow);
  for (const std::string& p : parts(s.substr(0, arrow))) line.in.push_back(words(p));
  std::string_view right = s.substr(arrow + 2, colon == s.npos ? s.npos : colon - arrow - 2);
  for (const std::string& p : parts(right)) line.out.push_back(words(p));
  if (colon != s.npos) {
    for (const std::string& p : parts(s.substr(colon + 3))) {
      size_t open = p.find('(');
      Line::Note note;
      note.name = words(p.substr(0, open)).empty() ? "" : words(p.substr(0, open))[0];
      if (open != std::string::npos) {
        for (const std::string& a : parts(p.substr(open + 1, p.find(')') - open - 1))) {
          if (!words(a).empty()) note.args.push_back(words(a)[0]);
        }
      }
      line.notes.push_back(note);
    }
  }
  line.tells = true;
  return line;
}

bool by_formula(Batching& b) {
  int rank = 0;
  for (const ir::Type& t : b.node.types) rank = std::max(rank, t.shape.rank());
  for (int i = 0; i < b.inputs(); ++i) rank = std::max(rank, b.shape(i).rank());
  std::vector<Value> in;
  for (int i = 0; i < b.inputs(); ++i) in.push_back(b.aligned(i, rank));
  return b.same(in, b.node.attrs);
}

// An axis attribute: positions count from behind the batch.
bool move_axes(Batching& b, const Line::Note& note, const std::string& name, ir::Attrs* attrs) {
  int rank = std::max(1, b.shape(0).rank());  // a number counts as a list of one
  int at = b.node.op->attr_index(name);
  if (at < 0) return false;
  const Attr& a = b.node.attrs[static_cast<size_t>(at)];
  auto moved = [&](int64_t axis) { return (axis < 0 ? axis + rank : axis) + 1; };
  if (a.is<int64_t>()) {
    attrs->set(static_cast<size_t>(at), Attr(moved(a.integer())));
    return true;
  }
  Attr::Ints axes;
  bool all = a.none() || (a.is<Attr::Ints>() && a.ints().empty());
  if (note.name == "permuted") {
    axes.push_back(0);
    for (int d = 0; d < rank; ++d) axes.push_back(all ? rank - d : moved(a.ints()[d]));
  } else if (all) {
    if (note.name != "reduce" || b.node.op->attrs[at].kind != ir::AttrKind::kInts) return false;
    for (int d = 1; d <= rank; ++d) axes.push_back(d);
  } else {
    if (!a.is<Attr::Ints>()) return false;
    for (int64_t axis : a.ints()) axes.push_back(moved(axis));
  }
  attrs->set(static_cast<size_t>(at), Attr(axes));
  return true;
}

bool dots_first(const Labels& l) { return !l.empty() && l[0] == "..."; }

bool by_dots(Batching& b, const Line& line) {
  ir::Attrs attrs = b.node.attrs;
  bool axis = false;
  for (const Line::Note& note : line.notes) {
    if (note.args.empty() || b.node.op->attr_index(note.args[0]) < 0) continue;
    if (!move_axes(b, note, note.args[0], &attrs)) return false;
    axis = true;
  }
  for (const Labels& l : line.out) {
    if (!dots_first(l)) return false;
  }
  auto labels = [&](int i) -> const Labels& {
    return line.in[std::min<size_t>(static_cast<size_t>(i), line.in.size() - 1)];
  };
  std::vector<Value> in;
  if (axis) {
    bool numbers = b.shape(0).rank() == 0;
    for (int i = 0; i < b.inputs(); ++i) {
      if (!b.has(i)) {
        in.emplace_back();
        continue;
      }
      if (!dots_first(labels(i)) || labels(i).size() != 1) return false;
      if (numbers && b.shape(i).rank() > 0) return false;
      in.push_back(numbers ? b.reshape(b.spread(i), Shape{b.size, 1}) : b.spread(i));
    }
    b.same(in, attrs);
    for (size_t j = 0; numbers && j < b.results.size(); ++j) {
      Shape s = b.with_batch(b.out_shape(static_cast<int>(j)));
      if (!s.known()) return false;
      b.results[j] = b.reshape(b.results[j], s);
    }
    return true;
  }
  int dots = 0;
  for (int i = 0; i < b.inputs(); ++i) {
    if (!b.has(i)) continue;
    if (b.batched(i) && !dots_first(labels(i))) return false;
    int named = static_cast<int>(labels(i).size()) - dots_first(labels(i));
    if (b.shape(i).rank() < named) return false;
    if (dots_first(labels(i))) dots = std::max(dots, b.shape(i).rank() - named);
  }
  for (int i = 0; i < b.inputs(); ++i) {
    int named = static_cast<int>(labels(i).size()) - dots_first(labels(i));
    in.push_back(!b.has(i) ? Value() : b.aligned(i, dots + named));
  }
  return b.same(in, attrs);
}

bool contains(const Labels& l, const std::string& label) {
  return std::find(l.begin(), l.end(), label) != l.end();
}

// [batch, n, …] becomes [batch * n, …] and back.
bool by_leading_label(Batching& b, const Line& line) {
  std::string label;
  for (int i = 0; i < b.inputs(); ++i) {
    if (!b.has(i)) continue;
    if (static_cast<size_t>(i) >= line.in.size()) return false;
    const Labels& l = line.in[i];
    if (!b.batched(i)) continue;
    if (l.empty() || (!label.empty() && l[0] != label)) return false;
    if (static_cast<int>(l.size()) != b.shape(i).rank() || !b.shape(i).known()) return false;
    label = l[0];
  }
  for (int i = 0; i < b.inputs(); ++i) {
    if (b.has(i) && !b.batched(i) && contains(line.in[i], label)) return false;
  }
  if (b.node.types.size() > line.out.size() && line.out.size() != 1) return false;
  for (const Labels& l : line.out) {
    if (l.empty() || l[0] != label) return false;
  }
  for (const Line::Note& note : line.notes) {
    if (contains(note.args, label)) return false;
  }
  auto merged = [&](const Shape& s) {
    Shape out{b.size * s[0]};
    for (int d = 1; d < s.rank(); ++d) out.push_back(s[d]);
    return out;
  };
  std::vector<Value> in;
  for (int i = 0; i < b.inputs(); ++i) {
    in.push_back(b.batched(i) ? b.reshape(b.x(i), merged(b.shape(i))) : b.x(i));
  }
  for (const ir::Type& t : b.node.types) {
    if (!t.shape.known() || t.shape.rank() == 0) return false;
  }
  b.same(in, b.node.attrs);
  for (size_t j = 0; j < b.results.size(); ++j) {
    b.results[j] = b.reshape(b.results[j], b.with_batch(b.out_shape(static_cast<int>(j))));
  }
  return true;
}

}  // namespace

bool batch_by_record(Batching& b) {
  const ir::OpDef& def = b.node.op->def;
  if (def.scalar.set()) return by_formula(b);
  Line line = read(def.shard);
  if (!line.tells || b.inputs() == 0) return false;
  for (const Labels& l : line.in) {
    if (dots_first(l)) return by_dots(b, line);
  }
  return by_leading_label(b, line);
}

}  // namespace mycel::autodiff
