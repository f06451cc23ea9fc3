// The disk cache of compiled kernels: one file per kernel in MYCEL_CACHE, else
// $XDG_CACHE_HOME/mycel, else
// ~/.cache/mycel; MYCEL_CACHE=off turns it off. Files are written aside and renamed, carry a
// checksum, and the least recently used go when the total passes MYCEL_CACHE_LIMIT_MB (default
// 256). Any number of processes may share a directory; one that cannot be written is the same as
// none.
#pragma once

#include <cstdint>
#include <string>

namespace mycel::loops::cache {

struct Key {
  uint64_t high = 0, low = 0;
  std::string str() const;  // 32 hexadecimal digits
};
// From the nest's structure, the machine and the code of the loops room.
Key key_of(const std::string& structure, const std::string& machine);

// "" when off. The environment is read at each call, which is rare enough.
std::string directory();
int64_t limit_bytes();

// False when absent, truncated or corrupt.
bool read(const Key& key, std::string* object);
void write(const Key& key, const std::string& object);

int64_t size_bytes();  // of all kernel files
void clear();          // removes them
// Removes the least recently used files until at most `bytes` remain.
void trim(int64_t bytes);

}  // namespace mycel::loops::cache
