#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "lite/serve/server.h"

namespace mycel::cli {

void add_serve(CLI::App& app) {
  auto o = std::make_shared<lite::ServeOptions>();
  auto milliseconds = std::make_shared<double>(2);
  CLI::App* c =
      app.add_subcommand("serve", "Answer inference requests over HTTP (KServe protocol)");
  c->add_option("MODEL", o->model, "A .mindir, .lite or .onnx file")->required();
  c->add_option("--name", o->name, "Of the model (default: the file's)");
  c->add_option("--host", o->host, "Address to listen at")->capture_default_str();
  c->add_option("--port", o->port, "Port; 0: any that is free")->capture_default_str();
  c->add_option("--threads", o->threads, "Requests read and answered at a time")
      ->capture_default_str();
  c->add_option("--max-body", o->max_body, "Bytes of a request at most")->capture_default_str();
  c->add_option("--max-batch", o->batch.max_rows, "Rows computed at once at most; 1: no batches")
      ->capture_default_str();
  c->add_option("--max-delay-ms", *milliseconds, "How long a request waits for others")
      ->capture_default_str();
  c->add_option("--queue", o->batch.queue, "Requests that may wait")->capture_default_str();
  c->callback([o, milliseconds] {
    o->batch.max_delay_seconds = *milliseconds / 1e3;
    lite::serve(*o, [](const std::string& url) {
      fmt::print("{}\n", url);
      std::fflush(stdout);
    });
  });
}

}  // namespace mycel::cli
