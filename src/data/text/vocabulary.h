// A vocabulary is a transform that turns tokens into ids. Others (Lookup, WordpieceTokenizer) take
// it as an argument and share its table: nothing of it is copied.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "data/text/words.h"
#include "data/transform.h"

namespace mycel::data {

class Vocabulary final : public Transform {
 public:
  explicit Vocabulary(Words words);
  // Of the strings of each value, int32 of the same shape; -1 where one is unknown.
  void run(Row* values, Philox& draw) const override;
  const Words& words() const { return words_; }
  // "" where there is none; the last token that was added when several have the id.
  std::string_view token(int64_t id) const;

 private:
  Words words_;
  std::unordered_map<int32_t, uint32_t> places_;  // of ids, in words_
};

// The Vocab of an argument; TypeError when it is another transform.
std::shared_ptr<const Vocabulary> vocabulary(const Options& o, std::string_view name);

}  // namespace mycel::data
