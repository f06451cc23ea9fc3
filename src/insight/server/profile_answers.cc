// What the Profiler page asks for. Profiles that were opened last are kept, as long as they are
// small enough together.
#include <algorithm>
#include <charconv>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "insight/profile/export.h"
#include "insight/server/answers.h"

namespace mycel::insight::server {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using OpenedPtr = std::shared_ptr<const profile::Opened>;

constexpr size_t kKept = 3;
constexpr uint64_t kLargest = uint64_t{256} << 20;  // bytes of a file that is read at all

class Cache {
 public:
  OpenedPtr open(const fs::path& path) {
    std::error_code error;
    const auto when = fs::last_write_time(path, error);
    const uint64_t size = error ? 0 : fs::file_size(path, error);
    if (error) fail(ErrorKind::kKey, "'{}' is gone", path.filename().string());
    if (size > kLargest)
      value_error("'{}' has {} bytes: too large for a page; `mycel runs profile` reads it",
                  path.filename().string(), size);
    std::lock_guard lock(mutex_);  // the first to ask opens it, others wait
    for (const Kept& k : kept_) {
      if (k.path == path && k.when == when) return k.opened;
    }
    auto opened = std::make_shared<const profile::Opened>(profile::load(path.string()));
    kept_.push_front({path, when, opened});
    if (kept_.size() > kKept) kept_.pop_back();
    return opened;
  }

 private:
  struct Kept {
    fs::path path;
    fs::file_time_type when;
    OpenedPtr opened;
  };
  std::mutex mutex_;
  std::deque<Kept> kept_;
};

// Only a name that the folder's list holds is opened.
OpenedPtr opened(Index& index, const Arguments& a) {
  static Cache cache;
  auto given = a.find("file");
  if (given == a.end()) value_error("the argument 'file' is missing");
  const std::vector<std::string> all = profile::profiles_below(index.folder());
  if (std::find(all.begin(), all.end(), given->second) == all.end())
    fail(ErrorKind::kKey, "there is no such profile");
  return cache.open(fs::path(index.folder()) / given->second);
}

int64_t number_or(const Arguments& a, const std::string& name, int64_t otherwise) {
  auto found = a.find(name);
  if (found == a.end()) return otherwise;
  const std::string& text = found->second;
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size())
    value_error("'{}' must be a whole number, got '{}'", name, text.substr(0, 40));
  return out;
}

}  // namespace

// [{"file", "run", "bytes"}…], oldest first.
Answer profiles(Index& index, const Arguments&) {
  Json out = Json::array();
  for (const std::string& file : profile::profiles_below(index.folder())) {
    std::error_code error;
    const uint64_t bytes = fs::file_size(fs::path(index.folder()) / file, error);
    const std::string run = fs::path(file).parent_path().string();
    out.push_back({{"file", file}, {"run", run.empty() ? "." : run}, {"bytes", error ? 0 : bytes}});
  }
  return {out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

Answer profile_summary(Index& index, const Arguments& a) {
  return {profile::summary_json(*opened(index, a))};
}

Answer profile_slices(Index& index, const Arguments& a) {
  const OpenedPtr p = opened(index, a);
  profile::TimelineQuery q;
  q.from = number_or(a, "from", 0);
  q.to = number_or(a, "to", p->profile.recording.length);
  q.columns = static_cast<int>(std::clamp<int64_t>(number_or(a, "columns", 1000), 0, 100001));
  if (auto find = a.find("find"); find != a.end()) q.find = find->second.substr(0, 200);
  return {profile::slices_json(*p, q)};
}

Answer profile_trace(Index& index, const Arguments& a) {
  return {profile::trace_of(opened(index, a)->profile), "application/json", "trace.json"};
}

}  // namespace mycel::insight::server
