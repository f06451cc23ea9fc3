// The members of a tar one after the other, of a file that is read by position or of a stream that
// is unpacked on the way: places only grow.
#pragma once

#include <cstdint>
#include <string>

namespace mycel::data {

class TarInput {
 public:
  virtual ~TarInput() = default;
  virtual const std::string& name() const = 0;
  // Whether there is nothing from `at` on.
  virtual bool ends(uint64_t at) = 0;
  // Exactly n bytes from `at`; OsError when there are fewer.
  virtual std::string text(uint64_t at, uint64_t n) = 0;
  // How many bytes there are, as far as that is known.
  virtual uint64_t most() const { return uint64_t{1} << 62; }
};

struct TarMember {
  std::string path;               // of a folder: with '/' at the end
  uint64_t offset = 0, size = 0;  // of its content
};

class TarReader {
 public:
  explicit TarReader(TarInput* in) : in_(*in) {}
  // False at the end. OsError naming the file and the byte when it is no tar.
  bool next(TarMember* member);

 private:
  TarInput& in_;
  uint64_t at_ = 0;
};

}  // namespace mycel::data
