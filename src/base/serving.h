// What all servers of Mycel do alike: they have their port to themselves, serve until SIGINT or
// SIGTERM, and are stopped even where the signal comes before they listen. `Http` is the server of
// cpp-httplib, whose header only the folders that wrap it include.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include <sys/socket.h>

#include "base/error.h"

namespace mycel {

// While one lives, SIGINT and SIGTERM do no more than make `ended` true. One at a time.
class EndSignals {
 public:
  EndSignals();
  ~EndSignals();  // puts the handlers back
  EndSignals(const EndSignals&) = delete;

  static bool ended();
  static void end();  // as if a signal had come

 private:
  struct sigaction old_int_, old_term_;
};

// "http://[::1]:8000"
std::string http_address(const std::string& host, int port);

// Binds to `port` (0: any that is free) and gives the one it is. UserError kOs when another program
// has it.
template <typename Http>
int bind_alone(Http& http, const std::string& host, int port) {
  // Without the library's SO_REUSEPORT, which lets two servers share a port unseen.
  http.set_socket_options([](int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const int bound = port == 0                               ? http.bind_to_any_port(host.c_str())
                    : http.bind_to_port(host.c_str(), port) ? port
                                                            : 0;
  if (bound <= 0) {
    fail(ErrorKind::kOs,
         "port {} of {} cannot be had: another program may use it; --port 0 takes any that is free",
         port, host);
  }
  return bound;
}

// Ends serving. A server cannot be stopped before it listens: goes on until `served` says that it
// has come back.
template <typename Http>
void stop_serving(Http& http, const std::atomic<bool>& served) {
  while (!served) {
    http.stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace mycel
