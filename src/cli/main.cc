// `mycel <command>`: the contents page.
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/command.h"

namespace mycel::cli {
namespace {

// The command that was meant where the first word is none, as a text, or "".
std::string correction(const CLI::App& app, int argc, char** argv) {
  const CLI::App* level = &app;
  for (int i = 1; i < argc; ++i) {
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* s : level->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(s->get_name());
      if (names.back() == argv[i]) next = s;
    }
    if (next) {
      level = next;
      continue;
    }
    if (names.empty() || argv[i][0] == '-') return "";
    std::vector<const char*> candidates;
    for (const std::string& n : names) candidates.push_back(n.c_str());
    std::string meant = did_you_mean(argv[i], candidates.data(), candidates.size());
    return fmt::format("'{}' is not a command.{} Commands: {}.", argv[i],
                       meant.empty() ? "" : fmt::format(" Did you mean '{}'?", meant),
                       fmt::join(names, ", "));
  }
  return "";
}

int run(int argc, char** argv) {
  CLI::App app("Mycel from the command line", "mycel");
  app.require_subcommand(1);
  add_version(app);
  add_predict(app);
  add_ir(app);
  add_cache(app);
  add_codegen(app);
  add_convert(app);
  add_serve(app);
  add_insight(app);
  add_debug(app);
  add_runs(app);
  if (std::string wrong = correction(app, argc, argv); !wrong.empty()) {
    fmt::print(stderr, "mycel: {}\n", wrong);
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const ExitStatus& e) {
    return e.status;
  } catch (const std::exception& e) {
    fmt::print(stderr, "mycel: {}\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace mycel::cli

int main(int argc, char** argv) { return mycel::cli::run(argc, argv); }
