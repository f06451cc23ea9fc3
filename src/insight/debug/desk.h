// Answers to questions about the values on a shelf, as JSON. Bounded: whatever is asked, an answer
// has at most some thousand numbers.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "insight/debug/watch.h"

namespace mycel::insight::debug {

// {"ask": "steps"}: {"steps"}.
// {"ask": "tree", "step", "scope"}: groups and entries right below the scope.
// {"ask": "search", "step", "text", "role"}: entries whose names hold the text; at most 200.
// {"ask": "tensor", "step", "name", "slice", "row", "column"}: statistics, histogram, heat map and
//     a window of numbers of a slice such as "0,:,:", the same of the step before, and what
//     differs.
// {"ask": "check", "watchpoints"}: hits of watchpoints on everything that is there.
// ValueError and KeyError say what is wrong with a question.
nlohmann::ordered_json answer_of(Shelf& shelf, const nlohmann::ordered_json& question);

}  // namespace mycel::insight::debug
