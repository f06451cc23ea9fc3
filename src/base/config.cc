#include "base/config.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace mycel {
namespace {

// The setting's index in `names` (`count` of them); `fallback` when the variable is unset or empty.
int choice(const char* variable, const char* text, const char* const* names, int count,
           int fallback) {
  if (!text || !*text) return fallback;
  std::string allowed;
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(text, names[i]) == 0) return i;
    allowed += (i > 0 ? " or " : "") + std::string(names[i]);
  }
  const std::string near = did_you_mean(text, names, static_cast<size_t>(count));
  throw UserError(ErrorKind::kValue,
                  fmt::format("{}={} in the environment: expected {}", variable, text, allowed),
                  near.empty() ? "" : fmt::format("Did you mean '{}'?", near));
}

// The changeable copy of what the environment said.
struct Live {
  explicit Live(const Config& c) : mode(c.mode), debug(c.debug), deterministic(c.deterministic) {}
  std::atomic<Mode> mode;
  std::atomic<bool> debug;
  std::atomic<bool> deterministic;
};

Live& live() {
  static Live settings(read_config([](const char* name) -> const char* { return getenv(name); }));
  return settings;
}

}  // namespace

Config read_config(const std::function<const char*(const char*)>& lookup) {
  constexpr const char* kModes[] = {"graph", "eager"};
  constexpr const char* kSwitch[] = {"0", "1"};
  Config c;
  c.mode = static_cast<Mode>(choice("MYCEL_MODE", lookup("MYCEL_MODE"), kModes, 2, 0));
  c.debug = choice("MYCEL_DEBUG", lookup("MYCEL_DEBUG"), kSwitch, 2, 0) == 1;
  c.deterministic =
      choice("MYCEL_DETERMINISTIC", lookup("MYCEL_DETERMINISTIC"), kSwitch, 2, 0) == 1;
  return c;
}

Mode mode() { return live().mode.load(std::memory_order_relaxed); }
bool debug() { return live().debug.load(std::memory_order_relaxed); }
bool deterministic() { return live().deterministic.load(std::memory_order_relaxed); }

void set_mode(Mode mode) { live().mode.store(mode, std::memory_order_relaxed); }
void set_deterministic(bool on) { live().deterministic.store(on, std::memory_order_relaxed); }

}  // namespace mycel
