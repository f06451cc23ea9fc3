// Printers of what derives from the op records. Each writes one whole file to standard output.
#pragma once

namespace mycel::gen {

void print_cpp_ops();   // mycel/ops.h: one typed C++ function per public op
void print_pyi();       // stub of the extension module's functions
void print_op_pages();  // docs: the op reference in Markdown

}  // namespace mycel::gen
