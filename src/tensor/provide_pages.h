// Has the system provide the pages of a large buffer now, with all threads at once, spread over
// them. For memory that is about to be written anyway: met one by one by kernels, some of which run
// on one thread, first pages cost up to seconds where the machine is a virtual one.
#pragma once

#include <cstddef>

namespace mycel {

// What the buffer holds stays. Does nothing where the system cannot, for small buffers, and
// for those that have their pages (a look at two of them).
void provide_pages(void* data, size_t bytes);

}  // namespace mycel
