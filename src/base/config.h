// Settings of the process. Each starts from its environment variable, read and checked at the first
// question, and can be changed later in code (`context.set_context` in Python).
//   MYCEL_MODE=graph|eager        how calls run unless told otherwise; graph
//   MYCEL_DEBUG=0|1               internal errors print their stack; 0
//   MYCEL_DETERMINISTIC=0|1       only kernels whose result does not depend on timing; 0
#pragma once

#include <functional>

namespace mycel {

enum class Mode { kGraph, kEager };

struct Config {
  Mode mode = Mode::kGraph;
  bool debug = false;
  bool deterministic = false;
};

// Reads a Config through `lookup` (variable name to its text, or null when unset). ValueError
// naming the variable, its text and what is allowed.
Config read_config(const std::function<const char*(const char*)>& lookup);

// The settings in force. Throws as read_config does while the environment holds a bad value.
Mode mode();
bool debug();
bool deterministic();

void set_mode(Mode mode);
void set_deterministic(bool on);

}  // namespace mycel
