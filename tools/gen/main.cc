// mycel_gen <what>: prints one generated file. Links the definitions only, so it runs before any
// kernel is compiled.
#include <cstdio>
#include <cstring>

#include "emit.h"

int main(int argc, char** argv) {
  struct Command {
    const char* name;
    void (*print)();
  };
  const Command commands[] = {{"cpp-ops", mycel::gen::print_cpp_ops},
                              {"pyi", mycel::gen::print_pyi},
                              {"op-pages", mycel::gen::print_op_pages}};
  for (const Command& c : commands) {
    if (argc == 2 && !std::strcmp(argv[1], c.name)) {
      c.print();
      return 0;
    }
  }
  std::fprintf(stderr, "usage: mycel_gen cpp-ops | pyi | op-pages\n");
  return 2;
}
