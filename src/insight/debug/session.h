// A program that is being debugged: sees every value of its steps (runtime/tap.h), compares them
// with watchpoints, dumps them, and stops the program where it was asked to. Pages and terminals
// talk to it through control.h. Used by the callbacks of C++ (debugger.h) and Python.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "insight/debug/control.h"
#include "insight/debug/dump.h"
#include "insight/debug/watch.h"
#include "insight/recorder.h"
#include "runtime/tap.h"

namespace mycel::insight::debug {

// Which steps are written to files.
struct DumpPlan {
  bool on = false;
  std::vector<std::pair<int64_t, int64_t>> steps;  // first and last; empty: all
  std::vector<std::string> scopes;                 // patterns; empty: everything
  DumpWriter::What what = DumpWriter::What::kValues;
  std::string folder;  // "": <run>/debug/dump
  bool wants(int64_t step) const;
};
// "0|5-8|all"; ValueError otherwise.
std::vector<std::pair<int64_t, int64_t>> steps_named(const std::string& text);

struct SessionOptions {
  std::string folder;           // of the run
  std::string pause = "never";  // "start": before the first step, and at hits; "hit"; "never"
  bool online = true;           // listens for pages
  size_t keep_bytes = size_t{2} << 30;  // of values of one step; further ones are not kept
  DumpPlan dump;
  std::vector<Watchpoint> watchpoints;
  // Called some ten times a second while the program waits; may throw to end it (Ctrl-C).
  std::function<void()> waiting;
  // Gives the text of a file of the program, when a value's line names it for the first time.
  std::function<std::string(const std::string& path)> source;
};

class Session final : public runtime::Tap, public std::enable_shared_from_this<Session> {
 public:
  // ValueError for options that do not fit; UserError kOs when the folder cannot be written.
  explicit Session(SessionOptions options);
  ~Session() override;

  // The class of the cell at a scope: tells activation functions.
  void describe_scope(const std::string& scope, const std::string& cls);
  // From here on values of this thread are shown, and compiled programs keep them visible.
  void attach();
  void detach();
  void begin_step(int64_t step);
  // Called between the program's last op of a step and end_step.
  void parameter(const std::string& name, const Tensor& value, bool trainable);
  void loss(const Tensor& value);
  void end_step();
  // Ends recording and dumping. Further calls do nothing.
  void close();

  void computed(const runtime::Seen& seen, const Tensor& value) override;
  void named(const std::string& kind, const std::string& name, ir::Loc at,
             const Tensor& value) override;

  // A question of desk.h, or one of: state; go {"how": "on" | "step" | "node", "steps", "until"};
  // pause; watch {"watchpoint"}; unwatch {"id"}. Any thread.
  nlohmann::ordered_json answer(const nlohmann::ordered_json& question);
  std::vector<Hit> hits() const;

 private:
  struct Step {
    int64_t number = -1;
    std::vector<Entry> entries;
    std::unordered_map<std::string, size_t> places;
    size_t bytes = 0;
  };
  class Memory;  // the two steps that are held, as a shelf
  enum class Go { kOn, kStep, kNode, kPause };

  std::string name_of(const runtime::Seen& seen, const std::string& scope);
  bool is_activation(const runtime::Seen& seen, const std::string& scope) const;
  void take(Entry e, const Tensor& value, bool borrowed);
  void note_source(const std::string& at);
  void note_hit(const Hit& h);
  void dump(const Entry& e);
  void wait(std::unique_lock<std::mutex>& lock, const std::string& why);
  nlohmann::ordered_json state() const;
  nlohmann::ordered_json command(const std::string& ask, const nlohmann::ordered_json& q);

  SessionOptions options_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<DumpWriter> dump_;
  std::unique_ptr<Listener> listener_;
  std::thread::id thread_;  // whose values count
  std::set<std::string> activations_;
  std::map<std::string, std::string> classes_;  // by scope

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Watches watches_;
  Step now_, before_;
  std::set<std::string> seen_;  // names of earlier steps
  std::unordered_map<const ir::Node*, std::string> node_names_;
  std::map<std::string, int64_t> counts_;  // of ops by scope and name: in a step, eager ones
  std::map<std::string, int64_t> node_counts_;
  std::unordered_map<const void*, std::string> writers_;  // who wrote what lies at an address
  std::unordered_map<const void*, bool> finite_;
  std::map<std::string, std::string> sources_;  // texts of files by their paths
  std::vector<Hit> hits_;
  int64_t hit_count_ = 0, version_ = 0;
  Go go_ = Go::kOn;
  int64_t steps_left_ = 0;
  std::string until_;
  bool paused_ = false, started_ = false, stepping_ = false, closed_ = false, dropped_ = false;
  std::string why_, at_name_;
};

}  // namespace mycel::insight::debug
