// The parts of GTZAN without repeated or damaged songs (C. Kereliuk, B. Sturm and J. Larsen, "Deep
// learning and music adversaries", 2015).
#pragma once

#include <string>

namespace mycel::data {

// Whether `name` ("blues.00029") is in "train", "valid" or "test".
bool in_gtzan_part(const std::string& part, const std::string& name);

}  // namespace mycel::data
