// What a program on a bare Cortex-M needs besides its own code: vectors, the start of the C
// environment, the memory map. For Arm's MPS2 boards (AN386, AN500), as QEMU emulates them; printf
// and exit go through semihosting.
#pragma once

#include <string>

namespace mycel::lite {

std::string board_startup();
std::string board_memory();

}  // namespace mycel::lite
