#include "base/log.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/error.h"

namespace mycel {
namespace {

constexpr const char* kLevels[] = {"debug", "info", "warning", "error", "off"};
constexpr const char* kNumbers[] = {"0", "1", "2", "3", "4"};
constexpr spdlog::level::level_enum kSpdLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                    spdlog::level::warn, spdlog::level::err,
                                                    spdlog::level::off};

Level parse_level(const char* variable, const char* text, const char* const* names) {
  std::string allowed;
  for (int i = 0; i < 5; ++i) {
    if (std::strcmp(text, names[i]) == 0) return static_cast<Level>(i);
    allowed += (i > 0 ? ", " : "") + std::string(names[i]);
  }
  value_error("{}={} in the environment: expected one of {}", variable, text, allowed);
}

std::vector<std::string> split_channels(std::string_view list) {
  std::vector<std::string> channels;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) channels.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return channels;
}

bool shows_anything(const LogSettings& s) {
  return s.user != Level::kOff || (s.level != Level::kOff && (s.all || !s.channels.empty()));
}

struct State {
  State() {
    settings = read_log_settings([](const char* name) -> const char* { return getenv(name); });
    on = shows_anything(settings);
  }
  std::atomic<bool> on{false};  // the cheap answer
  std::mutex mutex;             // guards the settings
  LogSettings settings;
};

// Never destroyed: destructors of static objects may still log.
State& state() {
  static State* const s = new State;
  return *s;
}

}  // namespace

LogSettings read_log_settings(const std::function<const char*(const char*)>& lookup) {
  LogSettings s;
  const auto given = [&](const char* name) {
    const char* text = lookup(name);
    return text && *text ? text : nullptr;
  };
  const char* level = given("MYCEL_LOG_LEVEL");
  const char* number = given("GLOG_v");
  if (level)
    s.level = parse_level("MYCEL_LOG_LEVEL", level, kLevels);
  else if (number)
    s.level = parse_level("GLOG_v", number, kNumbers);
  if (level || number) s.user = s.level;
  const char* channels = given("MYCEL_LOG");
  if (channels) s.channels = split_channels(channels);
  s.all = channels ? std::strcmp(channels, "all") == 0 : level || number;
  return s;
}

void set_log(LogSettings settings) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.settings = std::move(settings);
  s.on = shows_anything(s.settings);
}

LogSettings log_settings() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.settings;
}

bool log_enabled(std::string_view channel, Level level) {
  State& s = state();
  if (!s.on.load(std::memory_order_relaxed)) return false;
  std::lock_guard lock(s.mutex);
  if (level == Level::kOff) return false;
  if (channel == "user") return level >= s.settings.user;
  if (level < s.settings.level) return false;
  if (s.settings.all) return true;
  for (const std::string& name : s.settings.channels) {
    if (name == channel) return true;
  }
  return false;
}

void log(Level level, std::string_view channel, std::string_view text) {
  if (!log_enabled(channel, level)) return;
  // Not in spdlog's registry, which a program of the user may share with us.
  static spdlog::logger* const logger = [] {
    auto* l = new spdlog::logger("mycel", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    l->set_pattern("%H:%M:%S.%e %l %v");
    l->set_level(spdlog::level::trace);
    l->flush_on(spdlog::level::trace);
    return l;
  }();
  logger->log(kSpdLevels[static_cast<int>(level)], "{}: {}", channel, text);
}

}  // namespace mycel
