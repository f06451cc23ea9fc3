// Advice: what holds a program up, and what to try next. Each rule has a threshold, which stands
// beside it in the list kRules of advice.cc and in docs/insight.md.
#pragma once

#include <string>
#include <vector>

#include "insight/profile/analysis.h"

namespace mycel::insight::profile {

struct Advice {
  std::string rule;     // "input_bound"
  double share = 0;     // of the time that it may be about, 0 to 1
  std::string text;     // what was found, and what to try
  std::string chinese;  // the same
};

// The most promising first; one of rule "balanced" where nothing stands out.
std::vector<Advice> advice_of(const Profile& profile, const Analysis& analysis);

}  // namespace mycel::insight::profile
