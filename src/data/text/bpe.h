// Byte-level byte pair encoding (R. Sennrich et al., 2016, arXiv:1508.07909; A. Radford et al.,
// GPT-2, 2019): text is cut into words, and the bytes of each are joined pair by pair in the order
// of a learnt list. Read from the tokenizer.json of the field, or from vocab.json and merges.txt.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text/pretokenize.h"
#include "data/text/words.h"

namespace mycel::data {

// Pieces of a text with their ids; offsets count bytes of the normalized text.
struct BpePieces {
  std::vector<int32_t> ids;
  std::vector<uint32_t> starts, limits;  // filled when asked for
};

class BytePairs {
 public:
  // ValueError: what is no such tokenizer, or needs something that is not supported, by name.
  static std::shared_ptr<const BytePairs> from_json(const std::string& text);
  static std::shared_ptr<const BytePairs> from_vocab(const std::string& vocab_json,
                                                     const std::string& merges, bool prefix_space);
  BytePairs();
  ~BytePairs();
  // Thread-safe. `special`: whether the tokens around a text that the tokenizer asks for are added.
  void encode(std::string_view text, bool special, bool offsets, BpePieces* out) const;
  // The text of ids; ValueError for an id that is not there.
  std::string decode(const int32_t* ids, size_t n, bool skip_special) const;
  // As the field writes it: bytes as printable characters. "" when there is none.
  std::string_view token(int32_t id) const;
  size_t size() const { return names_.size(); }

 private:
  struct Cache;
  struct Special {
    std::string text;
    int32_t id;
    bool special;
  };
  friend class BpeLoader;

  void encode_segment(std::string_view text, size_t base, bool offsets, BpePieces* out) const;
  void encode_word(std::string_view word, std::vector<int32_t>* out) const;
  void join_pairs(std::string_view word, std::vector<int32_t>* out) const;
  const Special* special_at(std::string_view text, size_t at) const;
  // Rank (upper half) and id (lower half) of what two ids join to; kNoPair when they do not.
  uint64_t pair(int32_t left, int32_t right) const;

  static constexpr uint64_t kNoPair = ~uint64_t{0};
  struct PairSlot {
    uint64_t key, value;
  };
  std::vector<PairSlot> pairs_;  // open addressing
  size_t pair_mask_ = 0;
  std::array<int32_t, 256> bytes_{};       // ids of single bytes
  std::vector<std::string> names_, raw_;   // of ids: as written, as bytes
  Words by_bytes_;                         // ids of whole tokens
  std::vector<Special> specials_;          // longest first
  std::array<bool, 256> special_first_{};  // whether one begins with the byte
  std::vector<int32_t> before_, behind_;   // around a text
  std::string form_ = "NONE";
  bool prefix_space_ = false, ignore_merges_ = false;
  std::shared_ptr<const Pretokenizer> pretokenizer_;
  std::unique_ptr<Cache> cache_;
};

}  // namespace mycel::data
