// The one symbol that libmycel looks up, and the server behind it.
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>

#include "base/error.h"
#include "base/log.h"
#include "lite/serve/http/metrics.h"
#include "lite/serve/library.h"
#include "lite/serve/protocol.h"

namespace mycel::lite {
namespace {

// Signals end the server: the handler may do no more than set this.
volatile std::sig_atomic_t g_ended = 0;

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

// Signals are looked at, and the handlers put back at the end.
class Signals {
 public:
  Signals() {
    g_ended = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { g_ended = 1; };
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~Signals() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
  }

 private:
  struct sigaction old_int_{}, old_term_{};
};

class Server {
 public:
  explicit Server(const ServeOptions& o)
      : options_(o),
        name_(o.name.empty() ? std::filesystem::path(o.model).stem().string() : o.name),
        model_(std::make_shared<runtime::Model>(runtime::Model::load(o.model))),
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
    int port = options_.port;
    const bool bound = port ? http_.bind_to_port(options_.host.c_str(), port)
                            : (port = http_.bind_to_any_port(options_.host.c_str())) > 0;
    if (!bound) {
      fail(ErrorKind::kOs,
           "port {} of {} cannot be had: another program may use it; --port 0 takes any that is "
           "free",
           options_.port, options_.host);
    }
    const Signals signals;
    std::thread ender([this] { end(); });
    const bool v6 = options_.host.find(':') != std::string::npos;
    ready(fmt::format("http://{}{}{}:{}", v6 ? "[" : "", options_.host, v6 ? "]" : "", port));
    http_.listen_after_bind();
    served_ = true;
    g_ended = 1;
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
    // Without the library's SO_REUSEPORT, which lets two servers share a port unseen.
    http_.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
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
    answer(r, g_ended ? 503 : 200, g_ended ? "{\"ready\":false}" : "{\"ready\":true}");
  }

  void infer(const httplib::Request& q, httplib::Response* r) {
    const auto start = std::chrono::steady_clock::now();
    ++busy_;
    try {
      if (g_ended) fail(ErrorKind::kRuntime, "the server is ending");
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
    if (g_ended) r->set_header("Connection", "close");
    metrics_.answered(
        r->status, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    --busy_;
  }

  // After a signal: what was taken is answered, then connections are closed.
  void end() {
    using namespace std::chrono_literals;
    while (!g_ended) std::this_thread::sleep_for(20ms);
    // Clients that keep sending see 503 meanwhile, and balancers that this server is not ready.
    for (int i = 0; i < 10 || busy_ > 0; ++i) std::this_thread::sleep_for(20ms);
    while (!served_) {
      http_.stop();
      std::this_thread::sleep_for(20ms);
    }
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
