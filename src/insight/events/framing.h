// The frame around each record of an event file (TFRecord): its length, a checksum of that, the
// bytes, a checksum of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mycel::insight {

void append_record(std::string_view record, std::string* out);

// Records out of bytes that arrive in pieces, as from a file that is being written.
class RecordSplitter {
 public:
  void add(std::string_view bytes);
  // The next whole record, valid until the next call of add; nothing when more bytes are needed, or
  // after a damaged length, behind which no record can be found.
  std::optional<std::string_view> next();
  // Records whose own checksum was wrong: they were left out.
  int64_t damaged() const { return damaged_; }
  // Whether a length was damaged: the rest of the file is lost.
  bool lost() const { return lost_; }
  // Bytes of the records given or left out so far, frames included.
  uint64_t position() const { return position_; }

 private:
  std::string buffer_;
  size_t at_ = 0;
  uint64_t position_ = 0;
  int64_t damaged_ = 0;
  bool lost_ = false;
};

}  // namespace mycel::insight
