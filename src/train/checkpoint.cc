#include "train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "mycel/ops.h"
#include "runtime/trace.h"

namespace mycel::train {
namespace {

constexpr const char* kProgress = "mycel.progress";  // "epoch position step seed counter"
constexpr const char* kState = "mycel.run.";         // in front of the entries of Progress::state
constexpr const char* kExtra = "mycel.extra";        // names, one a line

std::string format_progress(const Progress& p) {
  return fmt::format("{} {} {} {} {}", p.epoch, p.position, p.step, p.random.seed,
                     p.random.counter);
}

Progress parse_progress(const std::string& text, const std::string& file) {
  uint64_t numbers[5] = {};
  const char* at = text.data();
  const char* end = at + text.size();
  for (int i = 0; i < 5; ++i) {
    auto [next, error] = std::from_chars(at, end, numbers[i]);
    bool last = i == 4;
    if (error != std::errc() || (last ? next != end : next == end || *next != ' ')) {
      value_error("{}: the state of the training run is malformed: '{}'", file, text);
    }
    at = last ? next : next + 1;
  }
  for (int i = 0; i < 3; ++i) {
    if (numbers[i] > INT64_MAX)
      value_error("{}: the state of the training run is malformed: '{}'", file, text);
  }
  return {static_cast<int64_t>(numbers[0]),
          static_cast<int64_t>(numbers[1]),
          static_cast<int64_t>(numbers[2]),
          {numbers[3], numbers[4]}};
}

// Moves the entries of a run's state out of `tensors`.
NamedTensors take_state(NamedTensors& tensors) {
  NamedTensors state, rest;
  std::string prefix = kState;
  for (auto& [name, tensor] : tensors) {
    bool of_run = name.compare(0, prefix.size(), prefix) == 0;
    (of_run ? state : rest).emplace_back(of_run ? name.substr(prefix.size()) : name, tensor);
  }
  tensors = std::move(rest);
  return state;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t from = 0; from < text.size();) {
    size_t to = std::min(text.find('\n', from), text.size());
    out.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

bool same_kind(DType a, DType b) {
  return a == b || (is_float(a) && is_float(b)) || (is_int(a) && is_int(b)) ||
         (is_complex(a) && is_complex(b));
}

// "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::vector<std::string> head(names.begin(), names.begin() + std::min(kShown, names.size()));
  std::string out = fmt::format("{}", fmt::join(head, ", "));
  return names.size() > kShown ? fmt::format("{} and {} more", out, names.size() - kShown) : out;
}

using Index = std::unordered_map<std::string, const Tensor*>;

// What stands in front of the names in the file: the prefix with which every parameter has an
// entry, or "".
std::string common_prefix(const std::vector<nn::Parameter>& into, const Index& entries) {
  if (into.empty()) return "";
  const std::string tail = "." + into[0]->name;
  for (const auto& [name, tensor] : entries) {
    if (name.size() <= tail.size() ||
        name.compare(name.size() - tail.size(), tail.size(), tail) != 0)
      continue;
    std::string prefix = name.substr(0, name.size() - tail.size() + 1);
    auto found = [&](const nn::Parameter& p) { return entries.count(prefix + p->name) > 0; };
    if (std::all_of(into.begin(), into.end(), found)) return prefix;
  }
  return "";
}

// The value that `p` takes from its entry.
Tensor fitted(const nn::Parameter& p, const std::string& entry, const Tensor& value,
              const Loaded& from, bool strict) {
  const Tensor& now = p->value;
  if (!(value.shape() == now.shape())) {
    value_error("{}: entry '{}' has shape {}; parameter '{}' has shape {}", from.file, entry,
                value.shape().str(), p->name, now.shape().str());
  }
  if (value.dtype() == now.dtype()) return value;
  if (strict || !same_kind(value.dtype(), now.dtype())) {
    value_error("{}: entry '{}' is {}; parameter '{}' is {}{}", from.file, entry,
                name_of(value.dtype()), p->name, name_of(now.dtype()),
                strict ? ", and strict_load asks for the same type" : "");
  }
  return ops::cast(value, now.dtype());
}

void refuse_unmatched(const Loaded& from, const std::vector<std::string>& missing,
                      const std::vector<std::string>& unused) {
  if (missing.empty() && unused.empty()) return;
  std::string text;
  if (!missing.empty()) text = fmt::format("there is no entry for parameters {}", listed(missing));
  if (!unused.empty()) {
    text += fmt::format("{}there is no parameter for entries {}", text.empty() ? "" : "; ",
                        listed(unused));
  }
  throw UserError(ErrorKind::kValue, from.file + ": " + text, "partial=True loads what matches.");
}

}  // namespace

NamedTensors entries_of(const std::vector<nn::Parameter>& parameters) {
  NamedTensors out;
  for (const nn::Parameter& p : parameters)
    out.emplace_back(p->name, runtime::concrete(p->value, "save_checkpoint"));
  return out;
}

void save_checkpoint(const std::string& path, const NamedTensors& tensors,
                     const SaveOptions& options) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    if (!names.insert(name).second) {
      throw UserError(ErrorKind::kValue, fmt::format("{}: two entries are named '{}'", path, name),
                      "net.update_parameters_name() names parameters by their paths.");
    }
  }
  Checkpoint file{tensors, options.metadata};
  if (options.progress) {
    file.metadata[kProgress] = format_progress(*options.progress);
    for (const auto& [name, tensor] : options.progress->state)
      file.tensors.emplace_back(kState + name, tensor);
  }
  if (!options.extra.empty())
    file.metadata[kExtra] = fmt::format("{}", fmt::join(options.extra, "\n"));
  save_safetensors(path, file);
}

Loaded load_checkpoint(const std::string& path) {
  Checkpoint file = load_safetensors(path);
  Loaded out;
  out.file = path;
  out.tensors = std::move(file.tensors);
  out.metadata = std::move(file.metadata);
  if (auto node = out.metadata.extract(kProgress)) {
    out.progress = parse_progress(node.mapped(), path);
    out.progress->state = take_state(out.tensors);
  }
  if (auto node = out.metadata.extract(kExtra)) out.extra = lines_of(node.mapped());
  return out;
}

std::vector<std::string> load_parameters(const std::vector<nn::Parameter>& into, const Loaded& from,
                                         const LoadOptions& options) {
  Index entries;
  for (const auto& [name, tensor] : from.tensors) entries.emplace(name, &tensor);
  auto known = [&](const nn::Parameter& p) { return entries.count(p->name) > 0; };
  std::string prefix;
  if (!options.strict && std::none_of(into.begin(), into.end(), known))
    prefix = common_prefix(into, entries);
  std::vector<std::string> missing, unused;
  std::set<std::string> used(from.extra.begin(), from.extra.end());
  std::vector<std::pair<nn::Parameter, Tensor>> changes;
  for (const nn::Parameter& p : into) {
    auto it = entries.find(prefix + p->name);
    if (it == entries.end()) {
      missing.push_back(p->name);
      continue;
    }
    used.insert(it->first);
    changes.emplace_back(p, fitted(p, it->first, *it->second, from, options.strict));
  }
  for (const auto& [name, tensor] : from.tensors) {
    if (!used.count(name)) unused.push_back(name);
  }
  if (!options.partial) refuse_unmatched(from, missing, unused);
  for (auto& [p, value] : changes) p->value = std::move(value);
  return missing;
}

}  // namespace mycel::train
