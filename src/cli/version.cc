#include "mycel/version.h"

#include <fmt/format.h>

#include "base/threads.h"
#include "cli/command.h"

namespace mycel::cli {

void add_version(CLI::App& app) {
  app.set_version_flag("--version", std::string("mycel ") + version());
  app.add_subcommand("version", "Print the version and the number of threads in use")->callback([] {
    fmt::print("mycel {}, {} threads\n", version(), thread_count());
  });
}

}  // namespace mycel::cli
