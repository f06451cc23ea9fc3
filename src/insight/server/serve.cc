#include "insight/server/serve.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <httplib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/serving.h"
#include "insight/index.h"
#include "insight/server/answers.h"
#include "insight/server/guard.h"
#include "insight/server/pages.h"

namespace mycel::insight::server {
namespace {

constexpr int kMostListeners = 16;  // browsers that wait for changes; each takes a thread
constexpr int kThreads = 8 + kMostListeners;

std::string random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    fail(ErrorKind::kOs, "no random numbers for a token");
  std::string out;
  for (unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

std::string token_of(const httplib::Request& q) {
  if (q.has_param("token")) return q.get_param_value("token");
  const std::string bearer = q.get_header_value("Authorization"), kBearer = "Bearer ";
  if (bearer.starts_with(kBearer)) return bearer.substr(kBearer.size());
  const std::string cookies = q.get_header_value("Cookie"), kOurs = "mycel_token=";
  const size_t at = cookies.find(kOurs);
  if (at == cookies.npos) return "";
  const size_t begin = at + kOurs.size();
  return cookies.substr(begin, cookies.find(';', begin) - begin);
}

void refuse(httplib::Response* r, int status, const std::string& why) {
  r->status = status;
  r->set_content(why + "\n", "text/plain; charset=utf-8");
}

// As it is: where a browser takes Brotli, httplib would pack two megabytes for 20 seconds.
template <typename Body>
void send(httplib::Response* r, std::shared_ptr<Body> body, const std::string& type) {
  r->set_content_provider(body->size(), type,
                          [body](size_t at, size_t length, httplib::DataSink& sink) {
                            return sink.write(body->data() + at, length);
                          });
}

class Server {
 public:
  explicit Server(const ServerOptions& o)
      : options_(o), index_(open_index(o.folder, {.database = o.database})), token_(o.token) {
    if (token_.empty() && !is_loopback(o.host)) token_ = random_token();
  }

  void run(const std::function<void(const std::string&)>& ready) {
    set_up();
    const int port = bind_alone(http_, options_.host, options_.port);
    const EndSignals signals;
    std::thread follower([this] { follow(); });
    ready(fmt::format("{}/{}", http_address(options_.host, port),
                      token_.empty() ? "" : "?token=" + token_));
    http_.listen_after_bind();
    served_ = true;
    EndSignals::end();
    stop_listeners();
    follower.join();
  }

 private:
  void set_up() {
    http_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    http_.set_payload_max_length(1 << 16);
    http_.set_keep_alive_max_count(1000);
    http_.set_default_headers(
        {{"X-Content-Type-Options", "nosniff"},
         {"Referrer-Policy", "no-referrer"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Cross-Origin-Opener-Policy", "same-origin"},
         {"Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
          "img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; "
          "form-action 'none'; frame-ancestors 'none'"}});
    http_.set_pre_routing_handler([this](const httplib::Request& q, httplib::Response& r) {
      return admit(q, &r) ? httplib::Server::HandlerResponse::Unhandled
                          : httplib::Server::HandlerResponse::Handled;
    });
    http_.Post("/api/debug", [this](const auto& q, auto& r) { command(q, &r); });
    http_.Get("/api/changes", [this](const auto&, auto& r) { changes(&r); });
    http_.Get(R"(/api/([a-z]+))", [this](const auto& q, auto& r) { ask(q, &r); });
    http_.Get(".*", [](const auto& q, auto& r) { page(q, &r); });
    http_.set_exception_handler([](const auto&, auto& r, std::exception_ptr) {
      refuse(&r, 500, "an error inside the server");
    });
  }

  bool admit(const httplib::Request& q, httplib::Response* r) {
    const bool command = q.method == "POST" && q.path == "/api/debug";
    if (q.method != "GET" && q.method != "HEAD" && !command) {
      refuse(r, 405, "only GET is answered");
      return false;
    }
    // A page of another site cannot set this header without asking first, and is refused then.
    if (command && (q.get_header_value("X-Mycel") != "1" ||
                    q.get_header_value("Content-Type") != "application/json")) {
      refuse(r, 403, "commands come from the page: X-Mycel: 1 and application/json are missing");
      return false;
    }
    const std::string why =
        refusal({q.get_header_value("Host"), q.get_header_value("Origin"),
                 q.get_header_value("Sec-Fetch-Site"), token_of(q), q.path.starts_with("/api/")},
                token_);
    if (!why.empty()) {
      refuse(r, 403, why);
      return false;
    }
    if (!token_.empty() && q.has_param("token"))
      r->set_header("Set-Cookie",
                    fmt::format("mycel_token={}; HttpOnly; SameSite=Strict; Path=/", token_));
    return true;
  }

  void ask(const httplib::Request& q, httplib::Response* r) {
    const auto& all = questions();
    auto found = all.find(q.matches[1]);
    if (found == all.end()) return refuse(r, 404, "there is no such question");
    tell(r, [&] { return found->second(*index_, {q.params.begin(), q.params.end()}); });
  }

  void command(const httplib::Request& q, httplib::Response* r) {
    tell(r, [&] { return debug_command(*index_, q.body); });
  }

  template <typename F>
  static void tell(httplib::Response* r, F&& f) {
    try {
      Answer a = f();
      r->set_header("Cache-Control", "no-store");
      if (!a.file_name.empty())
        r->set_header("Content-Disposition", fmt::format("attachment; filename={}", a.file_name));
      send(r, std::make_shared<const std::string>(std::move(a.body)), a.type);
    } catch (const UserError& e) {
      const bool absent = e.kind() == ErrorKind::kKey, wrong = e.kind() == ErrorKind::kValue;
      refuse(r, absent ? 404 : wrong ? 400 : 500, e.message());
    }
  }

  static void page(const httplib::Request& q, httplib::Response* r) {
    const std::string path = q.path == "/" ? "/index.html" : q.path;
    for (const Page& p : pages()) {
      if (p.path != path) continue;
      send(r, std::make_shared<const std::string_view>(p.body), std::string(p.type));
      // Files under assets/ carry a hash of their content in their names.
      r->set_header("Cache-Control",
                    path.starts_with("/assets/") ? "max-age=31536000, immutable" : "no-cache");
      return;
    }
    refuse(r, 404, "there is no such page");
  }

  // Server-sent events: the index's version whenever it has changed.
  void changes(httplib::Response* r) {
    if (listeners_.fetch_add(1) >= kMostListeners) {
      --listeners_;
      return refuse(r, 503, "too many pages are open");
    }
    r->set_header("Cache-Control", "no-store");
    auto told = std::make_shared<int64_t>(-1);
    r->set_chunked_content_provider(
        "text/event-stream",
        [this, told](size_t, httplib::DataSink& sink) {
          std::unique_lock lock(mutex_);
          changed_.wait_for(lock, std::chrono::seconds(10),
                            [&] { return stopped_ || index_->version() != *told; });
          if (stopped_) {
            sink.done();
            return true;
          }
          const int64_t now = index_->version();
          const std::string text =
              now == *told ? ": still here\n\n" : fmt::format("data: {}\n\n", now);
          *told = now;
          lock.unlock();
          return sink.write(text.data(), text.size());
        },
        [this](bool) { --listeners_; });
  }

  void follow() {
    const auto pause = std::chrono::duration<double>(options_.update_seconds);
    auto due = std::chrono::steady_clock::now();
    while (!EndSignals::ended()) {
      if (std::chrono::steady_clock::now() >= due) {
        try {
          index_->update();
        } catch (const std::exception& e) {
          log(Level::kError, "user", fmt::format("insight: {}", e.what()));
        }
        changed_.notify_all();
        due = std::chrono::steady_clock::now() +
              std::chrono::duration_cast<std::chrono::steady_clock::duration>(pause);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    stop_listeners();
    stop_serving(http_, served_);
  }

  void stop_listeners() {
    std::unique_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  const ServerOptions options_;
  std::unique_ptr<Index> index_;
  std::string token_;
  httplib::Server http_;
  std::atomic<int> listeners_ = 0;
  std::atomic<bool> served_ = false;  // serving has ended
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
};

}  // namespace

void run(const ServerOptions& options, const std::function<void(const std::string&)>& ready) {
  Server(options).run(ready);
}

}  // namespace mycel::insight::server
