// What this machine can do: measured once (about half a second), then read from the cache folder,
// where the numbers stand by processor and number of threads.
#pragma once

#include "insight/profile/profile.h"

namespace mycel::insight::profile {

Machine this_machine(bool measure_limits);
// Measures again and keeps what is higher: for when a program was faster than the limits, which
// then were measured while other programs ran.
Limits raised(const Machine& machine);
// Measures, whatever the cache says. Nothing else should run meanwhile.
Limits measure_limits();

}  // namespace mycel::insight::profile
