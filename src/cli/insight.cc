// The server of the pages on recorded runs.
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "insight/server.h"

namespace mycel::cli {

void add_insight(CLI::App& app) {
  CLI::App* c = app.add_subcommand("insight", "Show recorded runs in a browser");
  auto o = std::make_shared<insight::ServerOptions>();
  c->add_option("DIR", o->folder, "Folder with event files, in it or below")->required();
  c->add_option("--host", o->host,
                "Address to listen at; other than this machine's own it asks for a token")
      ->capture_default_str();
  c->add_option("--port", o->port, "Port; 0: any that is free")->capture_default_str();
  c->add_option("--token", o->token, "Token that a browser has to give");
  c->add_option("--database", o->database, "File of the index (in the cache folder by default)");
  c->callback([o] {
    insight::serve(*o, [](const std::string& url) {
      fmt::print("{}\n", url);
      std::fflush(stdout);
    });
  });
}

}  // namespace mycel::cli
