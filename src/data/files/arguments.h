// Arguments that records of sources share, in the places that they have in published signatures:
//
//   .args = with({"dataset_dir: string", "usage: string? = None"}, kRowArgs),
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <vector>

namespace mycel::data {

// Rows with numbers.
inline constexpr auto kRowArgs = std::to_array<const char*>(
    {"num_samples: int? = None", "num_parallel_workers: int? = None", "shuffle: any? = None",
     "sampler: any? = None", "num_shards: int? = None", "shard_id: int? = None",
     "cache: any? = None"});
// Pictures, which may be decoded.
inline constexpr auto kPictureArgs = std::to_array<const char*>(
    {"num_samples: int? = None", "num_parallel_workers: int? = None", "shuffle: any? = None",
     "decode: bool = False", "sampler: any? = None", "num_shards: int? = None",
     "shard_id: int? = None", "cache: any? = None"});
// Texts: shuffled without a word of the user.
inline constexpr auto kTextArgs = std::to_array<const char*>(
    {"num_samples: int? = None", "num_parallel_workers: int? = None", "shuffle: Shuffle? = GLOBAL",
     "num_shards: int? = None", "shard_id: int? = None", "cache: any? = None"});
inline constexpr auto kTextArgsWorkersLast = std::to_array<const char*>(
    {"num_samples: int? = None", "shuffle: Shuffle? = GLOBAL", "num_shards: int? = None",
     "shard_id: int? = None", "num_parallel_workers: int? = None", "cache: any? = None"});

// A record's own arguments, those shared, and what follows them.
inline std::vector<const char*> with(std::initializer_list<const char*> own,
                                     std::span<const char* const> shared,
                                     std::initializer_list<const char*> behind = {}) {
  std::vector<const char*> all(own);
  all.insert(all.end(), shared.begin(), shared.end());
  all.insert(all.end(), behind);
  return all;
}

}  // namespace mycel::data
