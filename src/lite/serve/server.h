// `mycel serve`: an exported network over HTTP, by the open inference protocol, version 2 (KServe):
//   GET  /v2                              about the server
//   GET  /v2/health/live, /v2/health/ready
//   GET  /v2/models/NAME, /v2/models/NAME/ready
//   POST /v2/models/NAME/infer            JSON in and out
//   GET  /metrics                         counters and times, as Prometheus reads them
// Requests are joined into batches (batcher.h). SIGINT and SIGTERM end it gracefully: what was
// taken is answered, what comes is refused with status 503, and readiness says no.
#pragma once

#include <functional>
#include <string>

#include "lite/serve/batcher.h"

namespace mycel::lite {

struct ServeOptions {
  std::string model, name;  // a file that mycel.export wrote; "" names it after the file
  std::string host = "127.0.0.1";
  int port = 8000;                     // 0: any that is free
  int threads = 64;                    // requests read and answered at a time
  size_t max_body = size_t{64} << 20;  // bytes
  BatchOptions batch;
};

// Runs until the process gets SIGINT or SIGTERM. `ready` gets the server's address. UserError kOs
// when the port cannot be had; what Model::load throws.
void serve(const ServeOptions& options, const std::function<void(const std::string& url)>& ready);

}  // namespace mycel::lite
