// The Trace Event Format, which Perfetto and chrome://tracing open. Times are microseconds.
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "insight/profile/export.h"

namespace mycel::insight::profile {
namespace {

using timeline::Event;
using timeline::Kind;
using timeline::What;

std::string quoted(const std::string& s) {
  return nlohmann::json(s).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The part of each event that is the same every time.
std::string about(const What& w) {
  std::string out = fmt::format("\"name\":{},\"cat\":\"{}\"", quoted(w.name.empty() ? "-" : w.name),
                                name_of(w.kind));
  std::string args;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) args += fmt::format("{}\"{}\":{}", args.empty() ? "" : ",", name, value);
  };
  add("types", w.types.empty() ? "" : quoted(w.types));
  add("implementation", w.implementation.empty() ? "" : quoted(w.implementation));
  add("line", w.where.empty() ? "" : quoted(w.where));
  add("flops", w.flops > 0 ? std::to_string(w.flops) : "");
  add("bytes", w.bytes > 0 ? std::to_string(w.bytes) : "");
  return args.empty() ? out : fmt::format("{},\"args\":{{{}}}", out, args);
}

double us(int64_t ns) { return static_cast<double>(ns) / 1e3; }

}  // namespace

std::string trace_of(const Profile& p) {
  const timeline::Recording& r = p.recording;
  const Analysis a = analyse(p);
  fmt::memory_buffer out;
  const auto put = std::back_inserter(out);
  std::vector<std::string> abouts;
  for (const What& w : r.whats) abouts.push_back(about(w));
  fmt::format_to(put,
                 "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                 "{{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":"
                 "{{\"name\":{}}}}}",
                 quoted(p.machine.command.empty() ? "mycel" : p.machine.command));
  for (size_t t = 0; t < r.tracks.size(); ++t) {
    fmt::format_to(put,
                   ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\",\"args\":"
                   "{{\"name\":{}}}}}",
                   t + 1, quoted(a.threads[t].name));
    fmt::format_to(put,
                   ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{0},\"name\":\"thread_sort_index\","
                   "\"args\":{{\"sort_index\":{0}}}}}",
                   t == a.main_track ? 0 : t + 1);
    for (const Event& e : r.tracks[t].events) {
      const What& w = r.whats[e.what];
      if (w.kind == Kind::kQueue) {
        fmt::format_to(put,
                       ",\n{{\"ph\":\"C\",\"pid\":1,\"name\":{},\"ts\":{:.3f},\"args\":"
                       "{{\"rows\":{}}}}}",
                       quoted(w.name), us(e.start), e.number);
        continue;
      }
      fmt::format_to(put,
                     ",\n{{\"ph\":\"X\",\"pid\":1,\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},{}}}",
                     t + 1, us(e.start), us(e.end - e.start), abouts[e.what]);
    }
  }
  for (size_t i = 0; i < a.memory.when.size(); ++i) {
    fmt::format_to(put,
                   ",\n{{\"ph\":\"C\",\"pid\":1,\"name\":\"memory\",\"ts\":{:.3f},\"args\":"
                   "{{\"bytes\":{}}}}}",
                   us(a.memory.when[i]), a.memory.bytes[i]);
  }
  fmt::format_to(put, "\n]}}\n");
  return fmt::to_string(out);
}

}  // namespace mycel::insight::profile
