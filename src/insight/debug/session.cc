#include "insight/debug/session.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "insight/debug/desk.h"
#include "ir/scope.h"
#include "nn/activation.h"
#include "runtime/trace.h"

namespace mycel::insight::debug {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostHits = 10000;      // that are kept and recorded
constexpr size_t kMostSource = 1 << 20;  // bytes of one source file

Tensor copy_of(const Tensor& t) {
  Tensor out = Tensor::empty(t.dtype(), t.shape());
  std::memcpy(out.mutable_raw(), t.raw(), t.bytes());
  return out;
}

// "fused(mul, add)" is one name; what a name may not hold is taken out.
std::string plain(std::string name) {
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < 32) c = '_';
  }
  return name;
}

std::string simplified(const std::string& name) {
  std::string out;
  for (char c : name) {
    if (c != '_') out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  }
  return out;
}

int64_t whole_number(std::string_view text, const std::string& all) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 0)
    value_error("steps to dump are written as \"all\" or \"0|5-8|12\", got '{}'", all);
  return n;
}

}  // namespace

std::vector<std::pair<int64_t, int64_t>> steps_named(const std::string& text) {
  std::vector<std::pair<int64_t, int64_t>> out;
  if (text == "all") return out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('|', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, end - at);
    const size_t dash = part.find('-');
    const int64_t first = whole_number(part.substr(0, dash), text);
    const int64_t last = dash == part.npos ? first : whole_number(part.substr(dash + 1), text);
    if (last < first) value_error("steps to dump: {}-{} ends before it begins", first, last);
    out.emplace_back(first, last);
    at = end + 1;
  }
  return out;
}

bool DumpPlan::wants(int64_t step) const {
  return on && (steps.empty() || std::any_of(steps.begin(), steps.end(), [&](const auto& r) {
                  return step >= r.first && step <= r.second;
                }));
}

// Both steps; under the session's lock.
class Session::Memory final : public Shelf {
 public:
  explicit Memory(const Session& s) : s_(s) {}
  std::vector<int64_t> steps() override {
    std::vector<int64_t> out;
    for (const Step* step : {&s_.before_, &s_.now_}) {
      if (step->number >= 0 && (step->entries.size() || step == &s_.now_))
        out.push_back(step->number);
    }
    return out;
  }
  std::vector<Entry> entries(int64_t step) override {
    const Step* found = of(step);
    return found ? found->entries : std::vector<Entry>();
  }
  std::optional<Entry> find(int64_t step, const std::string& name) override {
    const Step* found = of(step);
    if (!found) return {};
    auto place = found->places.find(name);
    if (place == found->places.end()) return {};
    return found->entries[place->second];
  }

 private:
  const Step* of(int64_t step) const {
    return step == s_.now_.number ? &s_.now_ : step == s_.before_.number ? &s_.before_ : nullptr;
  }
  const Session& s_;
};

Session::Session(SessionOptions options) : options_(std::move(options)) {
  if (options_.pause != "start" && options_.pause != "hit" && options_.pause != "never")
    value_error("Debugger: 'pause' must be start, hit or never, got '{}'", options_.pause);
  for (const Watchpoint& w : options_.watchpoints) watches_.add(w);
  for (const std::string& name : nn::activation_names()) activations_.insert(simplified(name));
  const std::string folder = options_.folder + "/debug";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::kOs, "'{}' cannot be made: {}", folder, error.message());
  RecorderOptions recording;
  recording.prefix = "debug";
  recorder_ = std::make_unique<Recorder>(options_.folder, recording);
  Json facts = {{"process", getpid()}, {"pause", options_.pause}};
  facts["watchpoints"] = Json::array();
  for (const Watchpoint& w : watches_.all()) facts["watchpoints"].push_back(to_json(w));
  recorder_->record("debug/session", facts.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (options_.dump.on) {
    if (options_.dump.folder.empty()) options_.dump.folder = folder + "/dump";
    dump_ = std::make_unique<DumpWriter>(options_.dump.folder, options_.dump.what);
  }
  if (options_.online) {
    listener_ = std::make_unique<Listener>(folder, [this](const std::string& question) {
      Json out;
      try {
        const Json q = Json::parse(question, nullptr, false);
        out = answer(q);
      } catch (const UserError& e) {
        out = {{"error", e.message()}, {"absent", e.kind() == ErrorKind::kKey}};
      } catch (const std::exception& e) {
        out = {{"error", e.what()}};
      }
      return out.dump(-1, ' ', false, Json::error_handler_t::replace);
    });
  }
}

Session::~Session() {
  try {
    close();
  } catch (const std::exception& e) {
    log(Level::kError, "user", fmt::format("debugger: {}", e.what()));
  }
}

void Session::close() {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    paused_ = false;
    wake_.notify_all();
  }
  listener_.reset();
  if (dump_) dump_->end_step();
  dump_.reset();
  recorder_->close();
}

void Session::describe_scope(const std::string& scope, const std::string& cls) {
  std::lock_guard lock(mutex_);
  classes_[scope] = simplified(cls);
}

void Session::attach() { runtime::attach_tap(shared_from_this()); }
void Session::detach() { runtime::attach_tap(nullptr); }

void Session::begin_step(int64_t step) {
  std::unique_lock lock(mutex_);
  if (closed_) return;
  thread_ = std::this_thread::get_id();
  for (const Entry& e : now_.entries) seen_.insert(e.name);
  before_ = std::move(now_);
  now_ = Step();
  now_.number = step;
  counts_.clear();
  writers_.clear();
  finite_.clear();
  stepping_ = true;
  ++version_;
  if (!started_ && options_.pause == "start") wait(lock, "start");
  started_ = true;
  if (go_ == Go::kPause) wait(lock, "asked");
  runtime::watch_with_tap(true);
}

std::string Session::name_of(const runtime::Seen& seen, const std::string& scope) {
  const std::string& op = seen.op->name;
  const std::string stem = scope.empty() ? plain(op) : scope + "/" + plain(op);
  std::string name;
  if (seen.node) {
    std::string& known = node_names_[seen.node];
    // A node of a program that is gone may have left its address to another one.
    if (!known.starts_with(stem + "-")) known = fmt::format("{}-{}", stem, node_counts_[stem]++);
    name = known;
  } else {
    // Results of one op come one after the other.
    int64_t& count = counts_[stem];
    name = fmt::format("{}-{}", stem, seen.result == 0 ? count++ : std::max<int64_t>(count - 1, 0));
  }
  return seen.result == 0 ? name : fmt::format("{}:{}", name, seen.result);
}

bool Session::is_activation(const runtime::Seen& seen, const std::string& scope) const {
  if (scope.starts_with(ir::kGradientScope)) return false;
  if (activations_.count(simplified(seen.op->name))) return true;
  auto cls = classes_.find(scope);
  return cls != classes_.end() && activations_.count(cls->second);
}

void Session::computed(const runtime::Seen& seen, const Tensor& value) {
  if (std::this_thread::get_id() != thread_) return;
  if (seen.op->def.side_effect && seen.op->holds_code) return;  // calls of the host compute nothing
  std::unique_lock lock(mutex_);
  if (closed_ || !stepping_) return;
  Entry e;
  e.scope = ir::loc_scope(seen.at);
  e.at = ir::loc_text(seen.at);
  e.op = seen.op->name;
  e.name = name_of(seen, e.scope);
  e.role = is_activation(seen, e.scope) ? Role::kActivation : Role::kTensor;
  for (const Tensor& t : seen.operands) {
    if (!t || !t.concrete() || t.is_stack()) continue;
    auto writer = writers_.find(t.raw());
    if (writer != writers_.end()) e.inputs.push_back(writer->second);
    auto known = finite_.find(t.raw());
    if (known != finite_.end()) {
      e.operands_finite &= known->second;
    } else if (t.raw() != value.raw() && (is_float(t.dtype()) || is_complex(t.dtype()))) {
      e.operands_finite &= statistics_of(t).not_finite() == 0;
    }
  }
  const bool hits_nan = is_float(value.dtype()) || is_complex(value.dtype());
  if (hits_nan) e.statistics = statistics_of(value);
  finite_[value.raw()] = !e.statistics || e.statistics->not_finite() == 0;
  writers_[value.raw()] = e.name;
  lock.unlock();
  take(std::move(e), value, seen.node != nullptr);
}

void Session::named(const std::string& kind, const std::string& name, ir::Loc at,
                    const Tensor& value) {
  if (std::this_thread::get_id() != thread_) return;
  Entry e;
  e.at = ir::loc_text(at);
  e.scope = ir::loc_scope(at);
  e.operands_finite = false;  // it is no op's result: overflow begins elsewhere
  {
    std::lock_guard lock(mutex_);
    if (closed_ || !stepping_) return;
    if (auto writer = writers_.find(value.raw()); writer != writers_.end()) {
      const Entry& by = now_.entries[now_.places[writer->second]];
      e.inputs = {by.name};
      if (e.at.empty()) e.at = by.at;
      if (e.scope.empty()) e.scope = by.scope;
    }
  }
  e.role = kind == "gradient" ? Role::kGradient : Role::kTensor;
  e.name = (kind == "gradient" ? "ParameterGradients/" : "Named/") + name;
  take(std::move(e), value, true);
}

void Session::parameter(const std::string& name, const Tensor& value, bool trainable) {
  const Tensor t = runtime::concrete(value, "Debugger");
  Entry e;
  e.role = trainable ? Role::kWeight : Role::kState;
  e.name = (trainable ? "Parameters/" : "States/") + name;
  e.operands_finite = false;
  runtime::watch_with_tap(false);
  take(std::move(e), t, false);
}

void Session::loss(const Tensor& value) {
  Entry e;
  e.role = Role::kLoss;
  e.name = "Loss";
  e.operands_finite = false;
  runtime::watch_with_tap(false);
  take(std::move(e), runtime::concrete(value, "Debugger"), false);
}

// Keeps the value and looks at it. `borrowed`: its memory is used again.
void Session::take(Entry e, const Tensor& value, bool borrowed) {
  std::unique_lock lock(mutex_);
  if (closed_ || !stepping_) return;
  e.dtype = value.dtype();
  e.shape = value.shape();
  e.step = now_.number;
  const bool room = now_.bytes + value.bytes() <= options_.keep_bytes;
  if (!room && !std::exchange(dropped_, true))
    log(Level::kWarning, "user",
        fmt::format("debugger: values of step {} beyond {} bytes are looked at but not kept",
                    e.step, options_.keep_bytes));
  e.value = !borrowed && !value.impl()->storage->foreign() ? value : room ? copy_of(value) : value;
  note_source(e.at);
  Tensor before;
  bool compares = false;
  std::vector<Hit> hits;
  const bool wanted = watches_.wanted(e, &compares);
  if (auto again = now_.places.find(e.name); again != now_.places.end()) {
    e.order = now_.entries[again->second].order;
    e.visits = now_.entries[again->second].visits + 1;
  } else {
    e.order = static_cast<int64_t>(now_.entries.size());
  }
  if (wanted) {
    if (compares) {
      auto was = before_.places.find(e.name);
      if (was != before_.places.end()) before = before_.entries[was->second].value;
    }
    hits = watches_.look(e, before, !seen_.count(e.name));
  }
  if (!room) {
    dump(e);
    e.value = Tensor();
  }
  now_.bytes += room ? value.bytes() : 0;
  const Entry brief = {e.name, e.role, e.op, e.at, e.scope, {}, e.dtype, e.shape, e.step, e.order};
  if (e.visits > 1) {
    Entry& slot = now_.entries[now_.places[e.name]];
    now_.bytes -= slot.value ? slot.value.bytes() : 0;
    slot = std::move(e);
  } else {
    now_.places.emplace(e.name, now_.entries.size());
    now_.entries.push_back(std::move(e));
  }
  ++version_;
  bool pausing = false;
  for (const Hit& h : hits) {
    note_hit(h);
    for (const Watchpoint& w : watches_.all()) pausing |= w.id == h.watchpoint && w.pauses;
  }
  at_name_ = brief.name;
  if (pausing && options_.pause != "never") {
    wait(lock, fmt::format("hit: {} at {}", hits[0].condition, brief.name));
  } else if (go_ == Go::kPause) {
    wait(lock, "asked");
  } else if (go_ == Go::kNode && (until_.empty() || matches(until_, brief))) {
    wait(lock, "node");
  }
}

void Session::dump(const Entry& e) {
  if (!dump_ || !e.value || !options_.dump.wants(e.step)) return;
  const auto& scopes = options_.dump.scopes;
  if (scopes.empty() || std::any_of(scopes.begin(), scopes.end(),
                                    [&](const std::string& s) { return matches(s, e); }))
    dump_->write(e);
}

void Session::note_source(const std::string& at) {
  if (!options_.source || at.empty()) return;
  const size_t colon = at.find(':');  // "net.py:41 in Net.construct"
  const std::string path = at.substr(0, colon);
  if (path.empty() || !sources_.try_emplace(path).second) return;
  std::string text;
  try {
    text = options_.source(path);
  } catch (const std::exception&) {
    return;  // the line is shown without its text
  }
  if (text.empty() || text.size() > kMostSource) return;
  sources_[path] = text;
  recorder_->record(
      "debug/source/" + path,
      Json{{"path", path}, {"text", text}}.dump(-1, ' ', false, Json::error_handler_t::replace),
      now_.number);
}

void Session::note_hit(const Hit& h) {
  ++hit_count_;
  if (hits_.size() >= kMostHits) return;
  hits_.push_back(h);
  recorder_->record("debug/hit", to_json(h).dump(-1, ' ', false, Json::error_handler_t::replace),
                    h.step);
}

void Session::end_step() {
  runtime::watch_with_tap(false);
  std::unique_lock lock(mutex_);
  if (closed_ || !stepping_) return;
  stepping_ = false;
  // Those that were kept are dumped now: loops may have gone by several times.
  for (const Entry& e : now_.entries) dump(e);
  if (dump_) dump_->end_step();
  ++version_;
  if (go_ == Go::kStep && --steps_left_ <= 0) wait(lock, "step");
}

void Session::wait(std::unique_lock<std::mutex>& lock, const std::string& why) {
  if (!options_.online) return;
  paused_ = true;
  why_ = why;
  go_ = Go::kOn;
  ++version_;
  log(Level::kWarning, "user",
      fmt::format("debugger: waits at step {} ({}); `mycel insight {}` goes on", now_.number, why,
                  options_.folder));
  while (paused_) {
    wake_.wait_for(lock, std::chrono::milliseconds(100));
    if (!paused_ || !options_.waiting) continue;
    lock.unlock();
    try {
      options_.waiting();
    } catch (...) {
      lock.lock();
      paused_ = false;
      ++version_;
      throw;
    }
    lock.lock();
  }
  ++version_;
}

std::vector<Hit> Session::hits() const {
  std::lock_guard lock(mutex_);
  return hits_;
}

Json Session::state() const {
  Json watchpoints = Json::array(), hits = Json::array();
  for (const Watchpoint& w : watches_.all()) watchpoints.push_back(to_json(w));
  constexpr size_t kShown = 200;
  for (size_t i = hits_.size() > kShown ? hits_.size() - kShown : 0; i < hits_.size(); ++i)
    hits.push_back(to_json(hits_[i]));
  Json steps = Json::array();
  for (const Step* s : {&before_, &now_}) {
    if (s->number >= 0) steps.push_back(s->number);
  }
  return {{"live", true},
          {"process", getpid()},
          {"step", now_.number},
          {"paused", paused_},
          {"why", why_},
          {"at", at_name_},
          {"steps", steps},
          {"version", version_},
          {"values", now_.entries.size()},
          {"bytes", now_.bytes},
          {"watchpoints", watchpoints},
          {"hits", hits},
          {"hit_count", hit_count_},
          {"inside", stepping_}};
}

Json Session::command(const std::string& ask, const Json& q) {
  if (ask == "go") {
    const std::string how = q.value("how", "on");
    if (how == "step") {
      const auto steps = q.contains("steps") && q["steps"].is_number_integer()
                             ? q["steps"].get<int64_t>()
                             : int64_t{1};
      if (steps < 1) value_error("'steps' must be at least 1");
      steps_left_ = steps;
      go_ = Go::kStep;
    } else if (how == "node") {
      until_ = q.contains("until") && q["until"].is_string() ? q["until"].get<std::string>() : "";
      go_ = Go::kNode;
    } else if (how == "on") {
      go_ = Go::kOn;
    } else {
      value_error("'how' must be on, step or node, got '{}'", how.substr(0, 40));
    }
    paused_ = false;
    wake_.notify_all();
  } else if (ask == "pause") {
    if (!paused_) go_ = Go::kPause;
  } else if (ask == "watch") {
    if (!q.contains("watchpoint")) value_error("'watchpoint' is missing");
    return {{"id", watches_.add(watchpoint_of(q["watchpoint"]))}};
  } else {
    if (!q.contains("id") || !q["id"].is_number_integer()) value_error("'id' must be a number");
    watches_.remove(q["id"].get<int64_t>());
  }
  return {{"done", true}};
}

Json Session::answer(const Json& q) {
  if (!q.is_object() || !q.contains("ask") || !q["ask"].is_string())
    value_error("a question is an object with 'ask'");
  const std::string ask = q["ask"].get<std::string>();
  std::lock_guard lock(mutex_);
  if (ask == "state") return state();
  if (ask == "source") {
    const auto found = sources_.find(
        q.contains("path") && q["path"].is_string() ? q["path"].get<std::string>() : "");
    return {{"text", found == sources_.end() ? "" : found->second}};
  }
  if (ask == "go" || ask == "pause" || ask == "watch" || ask == "unwatch") {
    ++version_;
    return command(ask, q);
  }
  Memory memory(*this);
  return answer_of(memory, q);
}

}  // namespace mycel::insight::debug
