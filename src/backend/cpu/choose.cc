#include <unordered_map>

#include <fmt/format.h>

#include "backend/cpu/kernel.h"
#include "backend/cpu/nest_kernel.h"
#include "base/error.h"

namespace mycel::cpu {
namespace {

std::unordered_map<std::string, std::vector<const KernelDef*>>& table() {
  static auto* t = new std::unordered_map<std::string, std::vector<const KernelDef*>>;
  return *t;
}

std::span<const KernelDef* const> listed(const Problem& p) {
  ensure_kernels();
  auto it = table().find(p.op.name);
  if (it == table().end()) return {};
  return it->second;
}

bool has_nest(const Problem& p) { return p.op.def.loops || p.op.def.scalar.set(); }

Chosen prepare(const Problem& p, const KernelDef& k) {
  Chosen c;
  if (k.host) {
    c.host = &k;
  } else {
    c.prepared = k.prepare(p);
  }
  return c;
}

std::string refusal(const Problem& p, const KernelDef& k) { return k.refuses ? k.refuses(p) : ""; }

}  // namespace

void register_kernels(std::span<const KernelDef> kernels) {
  for (const KernelDef& k : kernels) {
    MYCEL_CHECK((k.prepare != nullptr) != (k.host != nullptr),
                "kernel {} of {}: set prepare or host", k.name, k.op);
    table()[k.op].push_back(&k);
  }
}

bool has_listed_kernel(const Problem& p) {
  for (const KernelDef* k : listed(p)) {
    if (refusal(p, *k).empty()) return true;
  }
  return false;
}

Chosen choose(const Problem& p) {
  std::string refusals;
  for (const KernelDef* k : listed(p)) {
    std::string why = refusal(p, *k);
    if (why.empty()) return prepare(p, *k);
    refusals += fmt::format("\n  {}: {}", k->name, why);
  }
  if (has_nest(p)) return {prepare_nest(p), nullptr};
  if (p.op.def.composite()) return {};
  throw UserError(ErrorKind::kUnsupported,
                  fmt::format("{}: no CPU kernel accepts these operands{}", p.op.name, refusals));
}

Chosen choose_named(const Problem& p, const std::string& kernel) {
  if (kernel == "loops") return {prepare_nest(p), nullptr};
  if (kernel == "interpreter") return {prepare_interpreted_nest(p), nullptr};
  for (const KernelDef* k : listed(p)) {
    if (kernel == k->name && refusal(p, *k).empty()) return prepare(p, *k);
  }
  value_error("{}: no kernel named '{}' accepts this problem", p.op.name, kernel);
}

std::vector<std::string> accepting(const Problem& p) {
  std::vector<std::string> names;
  for (const KernelDef* k : listed(p)) {
    if (refusal(p, *k).empty()) names.emplace_back(k->name);
  }
  if (has_nest(p)) {
    names.emplace_back("loops");
    names.emplace_back("interpreter");
  }
  return names;
}

}  // namespace mycel::cpu
