// Log lines for people who ask for them. Silent by default; the environment switches it on:
//   MYCEL_LOG=compile,data     channels to show, or "all"
//   MYCEL_LOG_LEVEL=debug|info|warning|error|off    what to show of them (info); alone: of all
//   GLOG_v=0|1|2|3|4           the same in numbers (debug, info, warning, error, off)
// The channel "user", what programs log themselves, needs no MYCEL_LOG: it shows warnings and
// errors, or what the level says.
// Ask log_enabled before composing a text: switched off, it costs one load.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mycel {

enum class Level { kDebug, kInfo, kWarning, kError, kOff };

struct LogSettings {
  bool all = false;                   // every channel
  std::vector<std::string> channels;  // otherwise these
  Level level = Level::kInfo;         // the least that is shown
  Level user = Level::kWarning;       // the same of the channel "user"
};

// Reads settings through `lookup` (variable name to its text, or null). ValueError on a bad value.
LogSettings read_log_settings(const std::function<const char*(const char*)>& lookup);

// Replaces the settings that came from the environment.
void set_log(LogSettings settings);
LogSettings log_settings();

bool log_enabled(std::string_view channel, Level level = Level::kInfo);
// One line on standard error, if the channel and level are enabled.
void log(Level level, std::string_view channel, std::string_view text);

}  // namespace mycel
