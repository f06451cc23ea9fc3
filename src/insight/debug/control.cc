#include "insight/debug/control.h"

#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "insight/debug/dump.h"

namespace mycel::insight::debug {
namespace {

constexpr size_t kMostQuestion = 1 << 20, kMostAnswer = size_t{32} << 20;
constexpr int kSeconds = 20;  // the other side's time for reading or writing

// The address of a socket in an open folder: paths are longer than addresses may be.
sockaddr_un address_in(int folder) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder, kSocketName);
  std::memcpy(a.sun_path, path.c_str(), path.size() + 1);
  return a;
}

void limit_time(int socket) {
  const timeval t{kSeconds, 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
}

// Until the other side has ended its half; false when there is more than `most`, or it fails.
bool read_all(int socket, size_t most, std::string* out) {
  char part[65536];
  for (;;) {
    const ssize_t n = recv(socket, part, sizeof part, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) return true;
    if (out->size() + static_cast<size_t>(n) > most) return false;
    out->append(part, static_cast<size_t>(n));
  }
}

bool write_all(int socket, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = send(socket, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<size_t>(n);
  }
  return shutdown(socket, SHUT_WR) == 0;
}

bool same_user(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid();
}

}  // namespace

Listener::Listener(const std::string& folder, Answer answer)
    : folder_(folder), answer_(std::move(answer)) {
  folder_fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_in(folder_fd_);
  // What a process that was killed left behind.
  struct stat s{};
  if (fstatat(folder_fd_, kSocketName.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(s.st_mode))
    unlinkat(folder_fd_, kSocketName.c_str(), 0);
  const mode_t before = umask(0177);  // nobody else may connect
  const bool bound =
      folder_fd_ >= 0 && socket_ >= 0 &&
      bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int why = errno;
  umask(before);
  if (!bound || listen(socket_, 16) != 0) {
    if (socket_ >= 0) ::close(socket_);
    if (folder_fd_ >= 0) ::close(folder_fd_);
    fail(ErrorKind::kOs, "no socket can be made in '{}': {}", folder, std::strerror(why));
  }
  thread_ = std::thread([this] { run(); });
}

Listener::~Listener() {
  ended_ = true;
  thread_.join();
  unlinkat(folder_fd_, kSocketName.c_str(), 0);
  ::close(socket_);
  ::close(folder_fd_);
}

void Listener::run() {
  while (!ended_) {
    pollfd p{socket_, POLLIN, 0};
    if (poll(&p, 1, 50) <= 0) continue;
    const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    limit_time(connection);
    if (same_user(connection)) serve(connection);
    ::close(connection);
  }
}

void Listener::serve(int connection) {
  std::string question;
  if (read_all(connection, kMostQuestion, &question)) write_all(connection, answer_(question));
}

std::string ask_process(const std::string& root, const std::string& relative,
                        const std::string& question) {
  const int folder = open_below(root, relative, O_RDONLY | O_DIRECTORY);
  if (folder < 0) return "";
  std::string answer;
  struct stat s{};
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_in(folder);
  bool ok = fd >= 0 && fstatat(folder, kSocketName.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISSOCK(s.st_mode) && s.st_uid == geteuid();
  if (ok) {
    limit_time(fd);
    ok = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         same_user(fd) && write_all(fd, question) && read_all(fd, kMostAnswer, &answer);
  }
  if (fd >= 0) ::close(fd);
  ::close(folder);
  return ok ? answer : "";
}

}  // namespace mycel::insight::debug
