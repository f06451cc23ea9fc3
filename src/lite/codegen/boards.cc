#include "lite/codegen/boards.h"

namespace mycel::lite {

std::string board_startup() {
  return R"(/* Vectors and the way to main. Written by `mycel codegen`. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern uint32_t stack_top, data_start, data_end, data_stored, bss_start, bss_end;
extern int main(void);
extern void initialise_monitor_handles(void);

void reset(void) {
  *(volatile uint32_t*)0xe000ed88 |= 0xf << 20; /* the floating-point unit on */
  __asm volatile("dsb\n isb");
  memcpy(&data_start, &data_stored, (size_t)((char*)&data_end - (char*)&data_start));
  memset(&bss_start, 0, (size_t)((char*)&bss_end - (char*)&bss_start));
  initialise_monitor_handles();
  exit(main());
}
/* A fault ends the program with a failure. */
static void fault(void) { _Exit(2); }
void _init(void) {}
void _fini(void) {}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))&stack_top, reset, fault, fault, fault, fault, fault,
};
)";
}

std::string board_memory() {
  return R"(/* MPS2: 4 MB for code and constants, 4 MB for data. Written by `mycel codegen`. */
MEMORY {
  ROM (rx) : ORIGIN = 0x00000000, LENGTH = 4M
  RAM (rw) : ORIGIN = 0x20000000, LENGTH = 4M
}
ENTRY(reset)
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > ROM
  .ARM.exidx : { *(.ARM.exidx*) *(.ARM.extab*) } > ROM
  .data : { data_start = .; *(.data*) . = ALIGN(4); data_end = .; } > RAM AT > ROM
  data_stored = LOADADDR(.data);
  .bss (NOLOAD) : { bss_start = .; *(.bss*) *(COMMON) . = ALIGN(8); bss_end = .; } > RAM
  end = .;
  __end__ = .;
  stack_top = ORIGIN(RAM) + LENGTH(RAM);
}
)";
}

}  // namespace mycel::lite
