// How much memory this process may use: the machine's, or less inside a container. Linux hands out
// more than it has and kills later, so the allocator asks here before it takes a large block.
#pragma once

#include <cstdint>
#include <string>

namespace mycel {

// Physical memory, or the limit of the control group when that is smaller. Read once.
uint64_t memory_limit();
// What could be taken now without the system having to kill somebody; re-read at every call (about
// 20 us).
uint64_t memory_available();

// "512 bytes", "1.50 KiB", "3.20 GiB"; takes a double so that sizes beyond 64 bits have a text too.
std::string human_bytes(double bytes);

}  // namespace mycel
