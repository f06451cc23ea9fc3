// The line between a process that is being debugged and `mycel insight`: a socket in the run's own
// folder that only its user may open. One question a connection, JSON both ways.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace mycel::insight::debug {

inline const std::string kSocketName = "control.sock";

// Answers questions on a thread of its own until it goes.
class Listener {
 public:
  using Answer = std::function<std::string(const std::string& question)>;
  // UserError kOs when the socket cannot be made in `folder`.
  Listener(const std::string& folder, Answer answer);
  Listener(const Listener&) = delete;
  ~Listener();

 private:
  void run();
  void serve(int connection);
  std::string folder_;
  Answer answer_;
  int folder_fd_ = -1, socket_ = -1;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

// Asks the process whose folder lies below `root`. "" when none listens there, or it is another
// user's.
std::string ask_process(const std::string& root, const std::string& relative,
                        const std::string& question);

}  // namespace mycel::insight::debug
