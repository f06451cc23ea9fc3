// `mycel insight`: serves the pages and their data. Bound to this machine's own address it answers
// requests of this machine's browser alone (Host and Origin are checked); bound elsewhere it asks
// for a token.
#pragma once

#include <functional>
#include <string>

namespace mycel::insight {

struct ServerOptions {
  std::string folder;  // with event files, in it or below
  std::string host = "127.0.0.1";
  int port = 8080;            // 0: any that is free
  std::string token;          // "" elsewhere than on this machine: made at random
  std::string database;       // as IndexOptions
  double update_seconds = 1;  // between looks at the files
};

// Runs until the process gets SIGINT or SIGTERM. `ready` gets the address to open, with the token.
// OSError when the port cannot be had.
void serve(const ServerOptions& options, const std::function<void(const std::string& url)>& ready);

}  // namespace mycel::insight
