#include "runtime/compile_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.h"

namespace mycel::runtime {
namespace {

using Part = Signature::Part;
using Kind = Signature::Kind;

const Part* find(const Signature& s, const std::string& name) {
  for (const Part& p : s.parts) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

struct TypeText {
  std::string dtype, shape;
  explicit TypeText(const std::string& s)
      : dtype(s.substr(0, s.find('['))), shape(s.substr(std::min(s.find('['), s.size()))) {}
};

std::string change(const Part& now, const Part& was) {
  auto another = [&](const char* what, const std::string& a, const std::string& b) {
    return fmt::format("{} has another {}: {} instead of {}", now.name, what, a, b);
  };
  if (now.kind != was.kind)
    return fmt::format("{} is {} instead of {}", now.name, now.text, was.text);
  switch (now.kind) {
    case Kind::kTensor: {
      TypeText a(now.text), b(was.text);
      if (a.dtype == b.dtype) return another("shape", a.shape, b.shape);
      if (a.shape == b.shape) return another("dtype", a.dtype, b.dtype);
      return another("dtype and shape", now.text, was.text);
    }
    case Kind::kValue:
      return another("value", now.text, was.text);
    case Kind::kStructure:
      return another("structure", now.text, was.text);
    case Kind::kMode:
      return another("mode", now.text, was.text);
  }
  return "";
}

// What differs, in the order of the parts. Below a structure that differs nothing is compared:
// parts have their name as a prefix.
std::vector<std::string> changes(const Signature& now, const Signature& was) {
  std::vector<std::string> out, roots;
  auto below = [&](const std::string& name) {
    return std::any_of(roots.begin(), roots.end(), [&](const std::string& r) {
      return name.size() > r.size() && name.starts_with(r);
    });
  };
  for (const Part& p : now.parts) {
    const Part* q = find(was, p.name);
    if (below(p.name) || (q && q->kind == p.kind && q->text == p.text)) continue;
    out.push_back(q ? change(p, *q) : fmt::format("{} is new: {}", p.name, p.text));
    if (p.kind == Kind::kStructure || (q && q->kind == Kind::kStructure)) roots.push_back(p.name);
  }
  for (const Part& q : was.parts) {
    if (!below(q.name) && !find(now, q.name))
      out.push_back(fmt::format("{} is not given: {} before", q.name, q.text));
  }
  return out;
}

}  // namespace

std::string reason_to_compile(const Signature& now, std::span<const Signature> before) {
  if (before.empty()) return "first call";
  std::vector<std::string> fewest;
  for (size_t i = before.size(); i-- > 0;) {
    std::vector<std::string> c = changes(now, before[i]);
    if (i + 1 == before.size() || c.size() < fewest.size()) fewest = std::move(c);
  }
  constexpr size_t kShown = 3;
  size_t more = fewest.size() > kShown ? fewest.size() - kShown : 0;
  fewest.resize(fewest.size() - more);
  std::string text = fmt::format("{}", fmt::join(fewest, ", "));
  return more ? fmt::format("{} and {} more", text, more) : text;
}

std::string CompileReport::str() const {
  return fmt::format("{}: program {}: {}; trace {:.3f} s, passes {:.3f} s, kernels {:.3f} s", name,
                     number, reason, trace_seconds, passes_seconds, kernels_seconds);
}

void CompileReport::write() {
  if (written) return;
  written = true;
  log(Level::kInfo, "compile", str());
}

}  // namespace mycel::runtime
