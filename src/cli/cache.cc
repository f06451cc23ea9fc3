#include "loops/cache.h"

#include <fmt/format.h>

#include "cli/command.h"

namespace mycel::cli {
namespace {

void info() {
  namespace cache = loops::cache;
  std::string folder = cache::directory();
  if (folder.empty()) {
    fmt::print("the cache of compiled kernels is off\n");
    return;
  }
  fmt::print("{}: {:.1f} of at most {} MB\n", folder,
             static_cast<double>(cache::size_bytes()) / (1 << 20), cache::limit_bytes() >> 20);
}

}  // namespace

void add_cache(CLI::App& app) {
  CLI::App* cache = app.add_subcommand("cache", "The compiled kernels kept on disk");
  cache->require_subcommand(1);
  cache->add_subcommand("info", "Where they are and how much they take")->callback(info);
  cache->add_subcommand("clear", "Remove them all")->callback([] {
    loops::cache::clear();
    info();
  });
}

}  // namespace mycel::cli
