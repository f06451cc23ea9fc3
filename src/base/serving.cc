#include "base/serving.h"

#include <fmt/format.h>

namespace mycel {
namespace {

volatile std::sig_atomic_t g_ended = 0;  // all that a handler may touch

}  // namespace

EndSignals::EndSignals() {
  g_ended = 0;
  struct sigaction action{};
  action.sa_handler = [](int) { g_ended = 1; };
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
}
EndSignals::~EndSignals() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
}

bool EndSignals::ended() { return g_ended != 0; }
void EndSignals::end() { g_ended = 1; }

std::string http_address(const std::string& host, int port) {
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

}  // namespace mycel
