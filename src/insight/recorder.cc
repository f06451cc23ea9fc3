#include "insight/recorder.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "insight/distribution.h"
#include "insight/events/framing.h"
#include "insight/events/write.h"
#include "runtime/trace.h"

namespace mycel::insight {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || !*name) return "host";
  return name;
}

std::string file_name(const RecorderOptions& o) {
  static std::atomic<int> serial{0};
  return fmt::format("{}.out.tfevents.{}.{}.{}.{}{}", o.prefix, static_cast<int64_t>(now()),
                     host_name(), getpid(), serial++, o.suffix);
}

void check_name(const char* what, const std::string& part) {
  if (part.find('/') != part.npos || part.find('\0') != part.npos)
    value_error("Recorder: the file's {} must be a part of a file's name, got '{}'", what, part);
}

std::string framed(const std::string& event) {
  std::string out;
  append_record(event, &out);
  return out;
}

Tensor values_of(const Tensor& t, const std::string& tag) {
  if (!t) type_error("'{}': there is no tensor", tag);
  return runtime::concrete(t, "summary");
}

}  // namespace

// The queue, the file and the thread between them. What is ready goes before what has yet to be
// made, so that numbers reach the file in time however many pictures wait.
struct Recorder::Writer {
  struct Job {
    std::function<std::string()> make;  // framed bytes
    size_t cost = 0;
  };

  Writer(int fd, std::string path, RecorderOptions options)
      : fd_(fd), path_(std::move(path)), options_(std::move(options)), thread_([this] { run(); }) {}

  ~Writer() { close(); }

  void put(const std::string& event) {
    std::unique_lock lock(mutex_);
    wait_for_room(lock);
    const size_t before = ready_.size();
    append_record(event, &ready_);
    queued(ready_.size() - before);
  }
  void put(size_t cost, std::function<std::string()> make) {
    std::unique_lock lock(mutex_);
    wait_for_room(lock);
    jobs_.push_back({std::move(make), cost});
    queued(cost);
  }

  void watch(const std::string& tag, std::function<std::string()> json) {
    std::unique_lock lock(mutex_);
    watched_.push_back({tag, std::move(json)});
    watch_at_ = {};
    hurry_ = true;
    wake_.notify_one();
  }

  void flush() {
    std::unique_lock lock(mutex_);
    const uint64_t ticket = ++asked_;
    wake_.notify_one();
    room_.wait(lock, [&] { return done_ >= ticket || ended_; });
    report();
  }

  void close() {
    {
      std::unique_lock lock(mutex_);
      if (closing_) return;
      closing_ = true;
      wake_.notify_one();
    }
    thread_.join();
    if (::close(fd_) != 0 && error_.empty()) error_ = std::strerror(errno);
  }
  void report_closed() {
    std::unique_lock lock(mutex_);
    report();
  }
  bool full() const { return full_; }

 private:
  void wait_for_room(std::unique_lock<std::mutex>& lock) {
    if (closing_) fail(ErrorKind::kRuntime, "'{}' is closed: nothing can be recorded", path_);
    room_.wait(lock, [&] { return cost_ <= options_.queue_bytes || ended_; });
  }
  void queued(size_t cost) {
    cost_ += cost;
    if (cost_ > options_.queue_bytes / 8 && !hurry_) {
      hurry_ = true;
      wake_.notify_one();
    }
  }
  void report() {
    if (error_.empty()) return;
    const std::string why = std::exchange(error_, {});
    fail(ErrorKind::kOs, "'{}' cannot be written: {}", path_, why);
  }

  void run() {
    // The program's own threads go first: they wait for each other at every turn.
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
    const auto pause = std::chrono::duration<double>(options_.flush_seconds);
    std::unique_lock lock(mutex_);
    while (!ended_) {
      wake_.wait_for(lock, pause, [&] { return hurry_ || closing_ || asked_ > done_; });
      hurry_ = false;
      const bool last = closing_;
      const uint64_t ticket = asked_;
      const size_t jobs = jobs_.size();
      look(last, lock);
      write_ready(lock);
      make(jobs, lock);
      done_ = ticket;
      ended_ = last && jobs_.empty() && ready_.empty();
      room_.notify_all();
    }
  }

  // What is watched, when it is due. The list only grows.
  void look(bool now_in_any_case, std::unique_lock<std::mutex>& lock) {
    const auto now = std::chrono::steady_clock::now();
    if (now < watch_at_ && !now_in_any_case) return;
    const double age = std::chrono::duration<double>(now - began_).count();
    watch_at_ = now + std::chrono::milliseconds(
                          std::clamp<int64_t>(static_cast<int64_t>(age * 1000 / 200), 2000, 10000));
    for (size_t i = 0; i < watched_.size(); ++i) {
      Watched& w = watched_[i];  // a deque: stays where it is
      lock.unlock();
      std::string json;
      try {
        json = w.json();
      } catch (const std::exception& e) {
        note(e.what());
      }
      lock.lock();
      if (json.empty()) continue;
      const size_t before = ready_.size();
      append_record(text_event({insight::now(), 0, w.tag}, json, kRecordPlugin), &ready_);
      cost_ += ready_.size() - before;
    }
  }

  // Makes and writes the next `count` jobs; in between, what has become ready.
  void make(size_t count, std::unique_lock<std::mutex>& lock) {
    auto written = std::chrono::steady_clock::now();
    for (; count > 0; --count) {
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      std::string out;
      try {
        out = job.make();
      } catch (const std::exception& e) {
        note(e.what());
      }
      write_out(out);
      job.make = {};  // gives its tensor back
      lock.lock();
      cost_ -= job.cost;
      room_.notify_all();
      const auto now = std::chrono::steady_clock::now();
      if (std::chrono::duration<double>(now - written).count() < options_.flush_seconds) continue;
      write_ready(lock);
      written = now;
    }
    write_ready(lock);
  }

  void write_ready(std::unique_lock<std::mutex>& lock) {
    if (ready_.empty()) return;
    std::string out;
    out.swap(ready_);
    lock.unlock();
    write_out(out);
    lock.lock();
    cost_ -= out.size();
    out.clear();
    if (ready_.empty()) ready_.swap(out);  // keeps the memory
    room_.notify_all();
  }

  void write_out(std::string_view out) {
    if (options_.max_file_bytes && written_ + out.size() > options_.max_file_bytes && !full_) {
      full_ = true;
      log(Level::kWarning, "user",
          fmt::format("'{}' would grow above {} bytes: recording ends", path_,
                      options_.max_file_bytes));
    }
    while (!full_ && !out.empty()) {
      const ssize_t n = ::write(fd_, out.data(), out.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return note(std::strerror(errno));
      out.remove_prefix(static_cast<size_t>(n));
      written_ += static_cast<size_t>(n);
    }
  }

  void note(const std::string& why) {
    std::unique_lock lock(mutex_);
    if (error_.empty()) error_ = why;
    log(Level::kError, "user", fmt::format("recording to '{}': {}", path_, why));
  }

  static constexpr int kNice = 10;
  const int fd_;
  const std::string path_;
  const RecorderOptions options_;
  std::mutex mutex_;
  std::condition_variable wake_, room_;
  std::string ready_;  // framed bytes
  std::deque<Job> jobs_;
  struct Watched {
    std::string tag;
    std::function<std::string()> json;
  };
  std::deque<Watched> watched_;
  std::chrono::steady_clock::time_point watch_at_ = {}, began_ = std::chrono::steady_clock::now();
  size_t cost_ = 0;
  uint64_t asked_ = 0, done_ = 0, written_ = 0;
  bool hurry_ = false, closing_ = false, ended_ = false;
  std::atomic<bool> full_ = false;
  std::string error_;
  std::thread thread_;  // last: it uses all of the above
};

Recorder::Recorder(const std::string& folder, RecorderOptions options) {
  check_name("prefix", options.prefix);
  check_name("suffix", options.suffix);
  if (!(options.flush_seconds > 0)) value_error("Recorder: 'flush_seconds' must be positive");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(ErrorKind::kOs, "'{}' cannot be made: {}", folder, error.message());
  path_ = (std::filesystem::absolute(folder) / file_name(options)).lexically_normal().string();
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) fail(ErrorKind::kOs, "'{}' cannot be made: {}", path_, std::strerror(errno));
  writer_ = std::make_unique<Writer>(fd, path_, std::move(options));
  writer_->put(first_event(now()));
}

Recorder::~Recorder() = default;

void Recorder::scalar(const std::string& tag, double value, int64_t step) {
  writer_->put(scalar_event({now(), step, tag}, value));
}

void Recorder::histogram(const std::string& tag, const Tensor& values, int64_t step) {
  Tensor t = values_of(values, tag);
  if (is_complex(t.dtype()))
    type_error("'{}': a histogram is of real numbers, got {}", tag, t.describe());
  const Place at{now(), step, tag};
  writer_->put(t.bytes() + 1024, [t, at] {
    std::string out;
    const Measured m = distribution_of(t);
    append_record(histogram_event(at, m.distribution), &out);
    for (const auto& [name, count] : {std::pair{"nan", m.nan}, std::pair{"inf", m.inf}}) {
      if (count == 0) continue;
      const Place beside{at.when, at.step, fmt::format("{}/{}", at.tag, name)};
      append_record(scalar_event(beside, static_cast<double>(count)), &out);
    }
    return out;
  });
}

void Recorder::image(const std::string& tag, const Tensor& images, int64_t step) {
  Tensor t = values_of(images, tag);
  if (t.rank() != 4 || (t.dim(1) != 1 && t.dim(1) != 3) || t.size() == 0 || is_complex(t.dtype()))
    value_error("'{}': an image has the shape [n, c, h, w] with c = 1 or 3, got {}", tag,
                t.describe());
  const Place at{now(), step, tag};
  writer_->put(t.bytes() + 1024, [t, at] { return framed(picture_event(at, picture_of(t))); });
}

void Recorder::tensor(const std::string& tag, const Tensor& value, int64_t step) {
  Tensor t = values_of(value, tag);
  const Place at{now(), step, tag};
  writer_->put(t.bytes() + 1024, [t, at] { return framed(tensor_event(at, t)); });
}

void Recorder::text(const std::string& tag, const std::string& value, int64_t step) {
  writer_->put(text_event({now(), step, tag}, value, kTextPlugin));
}

void Recorder::graph(const std::string& tag, const ir::Graph& graph) {
  writer_->put(graph_event(now(), graph));
  record("graph/" + tag, graph_json(graph));
}

void Recorder::graph_and_passes(const std::string& tag, std::shared_ptr<const ir::Graph> g) {
  graph(tag, *g);
  const Place at{now(), 0, "graph_passes/" + tag};
  const size_t cost = 1024 + g->size() * 256;
  writer_->put(cost, [g = std::move(g), at] {
    return framed(text_event(at, passes_json(*g), kRecordPlugin));
  });
}

void Recorder::hparams(const HParams& params) {
  writer_->put(session_start_event(now(), params, {}));
}

void Recorder::ended(bool success) { writer_->put(session_end_event(now(), success)); }

void Recorder::record(const std::string& tag, const std::string& json, int64_t step) {
  writer_->put(text_event({now(), step, tag}, json, kRecordPlugin));
}

void Recorder::watch(const std::string& tag, std::function<std::string()> json) {
  writer_->watch(tag, std::move(json));
}

void Recorder::flush() { writer_->flush(); }

void Recorder::close() {
  writer_->close();
  writer_->report_closed();
}

bool Recorder::full() const { return writer_->full(); }

}  // namespace mycel::insight
