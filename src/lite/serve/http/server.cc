// The one symbol that libmycel looks up, and the server behind it.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>

#include "base/error.h"
#include "base/log.h"
#include "base/serving.h"
#include "lite/convert.h"
#include "lite/serve/http/metrics.h"
#include "lite/serve/library.h"
#include "lite/serve/protocol.h"

namespace mycel::lite {
namespace {

constexpr const char* kJson = "application/json";

void answer(httplib::Response* r, int status, const std::string& body) {
  r->status = status;
  r->set_content(body, kJson);
}

int status_of(const UserError& e) {
  switch (e.kind()) {
    case ErrorKind::kValue:
    case ErrorKind::kType:
    case ErrorKind::kIndex:
    case ErrorKind::kKey:
      return 400;
    case ErrorKind::kRuntime:
    case ErrorKind::kMemory:
      return 503;
    default:
      return 500;
  }
}

class Server {
 public:
  explicit Server(const ServeOptions& o)
      : options_(o),
        name_(o.name.empty() ? std::filesystem::path(o.model).stem().string() : o.name),
        model_(std::make_shared<runtime::Model>(
            runtime::Model::of(lite::read_network(o.model), o.model))),
        batcher_(model_, o.batch) {
    for (char c : name_) {
      const bool plain =
          std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
      if (!plain)
        value_error("the model's name may have letters, digits, '_', '-' and '.', got '{}'", name_);
    }
    if (o.threads < 1) value_error("at least 1 thread must answer requests, got {}", o.threads);
  }

  void run(const std::function<void(const std::string&)>& ready) {
    set_up();
    const int port = bind_alone(http_, options_.host, options_.port);
    const EndSignals signals;
    std::thread ender([this] { end(); });
    ready(http_address(options_.host, port));
    http_.listen_after_bind();
    served_ = true;
    EndSignals::end();
    ender.join();
    batcher_.close();
  }

 private:
  void set_up() {
    http_.new_task_queue = [n = options_.threads] {
      return new httplib::ThreadPool(static_cast<size_t>(n));
    };
    http_.set_payload_max_length(options_.max_body);
    http_.set_keep_alive_max_count(100'000);
    http_.set_tcp_nodelay(true);
    // Pages of browsers are no clients: another site's script must not reach this machine's models.
    http_.set_pre_routing_handler([](const httplib::Request& q, httplib::Response& r) {
      if (!q.has_header("Origin") && q.get_header_value("Sec-Fetch-Site") != "cross-site") {
        return httplib::Server::HandlerResponse::Unhandled;
      }
      answer(&r, 403, error_answer("requests of web pages are refused"));
      return httplib::Server::HandlerResponse::Handled;
    });
    http_.Get("/v2", [](const auto&, auto& r) { answer(&r, 200, server_metadata()); });
    http_.Get("/v2/health/live", [](const auto&, auto& r) { answer(&r, 200, "{\"live\":true}"); });
    http_.Get("/v2/health/ready", [this](const auto&, auto& r) { tell_ready(&r); });
    http_.Get(R"(/v2/models/([^/]+)/ready)", [this](const auto& q, auto& r) {
      if (known(q, &r)) tell_ready(&r);
    });
    http_.Get(R"(/v2/models/([^/]+))", [this](const auto& q, auto& r) {
      if (known(q, &r)) answer(&r, 200, model_metadata(name_, *model_));
    });
    http_.Post(R"(/v2/models/([^/]+)/infer)", [this](const auto& q, auto& r) {
      if (known(q, &r)) infer(q, &r);
    });
    http_.Get("/metrics", [this](const auto&, auto& r) {
      r.set_content(metrics_.text(name_, batcher_.stats()), "text/plain; version=0.0.4");
    });
    http_.set_error_handler([](const auto& q, auto& r) {
      if (r.body.empty()) {
        answer(&r, r.status,
               error_answer(r.status == 404   ? "there is no " + q.path
                            : r.status == 413 ? "the body is too long"
                                              : "the request cannot be read"));
      }
    });
    http_.set_exception_handler([](const auto&, auto& r, std::exception_ptr) {
      answer(&r, 500, error_answer("an error inside the server"));
    });
  }

  bool known(const httplib::Request& q, httplib::Response* r) const {
    if (q.matches[1] == name_) return true;
    answer(r, 404,
           error_answer(fmt::format("there is no model '{}'; this server has '{}'",
                                    q.matches[1].str(), name_)));
    return false;
  }

  void tell_ready(httplib::Response* r) const {
    const bool ready = !EndSignals::ended();
    answer(r, ready ? 200 : 503, ready ? "{\"ready\":true}" : "{\"ready\":false}");
  }

  void infer(const httplib::Request& q, httplib::Response* r) {
    const auto start = std::chrono::steady_clock::now();
    ++busy_;
    try {
      if (EndSignals::ended()) fail(ErrorKind::kRuntime, "the server is ending");
      InferRequest request = parse_infer(q.body, *model_);
      const Tensors results = batcher_.run(std::move(request.inputs));
      answer(r, 200, infer_answer(name_, request, results));
    } catch (const UserError& e) {
      answer(r, status_of(e), error_answer(e.what()));
      if (r->status == 503) r->set_header("Retry-After", "1");
    } catch (const std::exception& e) {
      log(Level::kError, "user", fmt::format("serve: {}", e.what()));
      answer(r, 500, error_answer("an error inside the server"));
    }
    if (EndSignals::ended()) r->set_header("Connection", "close");
    metrics_.answered(
        r->status, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    --busy_;
  }

  // After a signal: what was taken is answered, then connections are closed.
  void end() {
    using namespace std::chrono_literals;
    while (!EndSignals::ended()) std::this_thread::sleep_for(20ms);
    // Clients that keep sending see 503 meanwhile, and balancers that this server is not ready.
    for (int i = 0; i < 10 || busy_ > 0; ++i) std::this_thread::sleep_for(20ms);
    stop_serving(http_, served_);
  }

  const ServeOptions options_;
  const std::string name_;
  std::shared_ptr<const runtime::Model> model_;
  Batcher batcher_;
  Metrics metrics_;
  httplib::Server http_;
  std::atomic<int> busy_ = 0;
  std::atomic<bool> served_ = false;
};

void run(const ServeOptions& options, const std::function<void(const std::string&)>& ready) {
  Server(options).run(ready);
}

}  // namespace
}  // namespace mycel::lite

extern "C" const mycel::lite::ServeLibrary* mycel_serve() {
  static const mycel::lite::ServeLibrary all = {mycel::lite::run};
  return &all;
}
