// Model files damaged at random: sound ones of every feature are mutated, mostly with their
// checksums put right again, so that the damage reaches the FlatBuffers verifier, the decoder and
// the type rules. A file must load as a sound graph or end in a UserError.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace mycel::fuzz {

struct Outcome {
  int64_t loaded = 0, refused = 0;
  std::string failure;  // what went wrong first, with the round; "" when nothing did
};

// `accepted` sees every graph that loads. `files`: the bytes of further sound files to damage.
Outcome mutate_graph_files(uint64_t seed, int64_t rounds,
                           const std::function<void(const ir::Graph&)>& accepted = {},
                           const std::vector<std::string>& files = {});

}  // namespace mycel::fuzz
