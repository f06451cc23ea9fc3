// A table from strings to numbers, for vocabularies: built once, then looked up from many threads.
// Open addressing; all strings lie in one piece of memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mycel::data {

class Words {
 public:
  static constexpr int32_t kNone = -1;

  // False, and no change, when `word` is there already.
  bool add(std::string_view word, int32_t value);
  int32_t find(std::string_view word) const;  // kNone when it is not there
  size_t size() const { return entries_.size(); }
  // In the order they were added.
  std::string_view word(size_t i) const {
    return {text_.data() + entries_[i].start, entries_[i].length};
  }
  int32_t value(size_t i) const { return entries_[i].value; }
  size_t longest() const { return longest_; }  // bytes

 private:
  struct Entry {
    uint64_t hash;
    size_t start, length;
    int32_t value;
  };
  size_t slot_of(std::string_view word, uint64_t hash) const;
  void grow();

  std::string text_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // number of the entry and 1; 0: free. A power of two of them
  size_t longest_ = 0;
};

}  // namespace mycel::data
