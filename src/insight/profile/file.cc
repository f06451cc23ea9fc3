// The file of a profile: blocks with check sums; numbers of slices as differences in 7 bits a byte.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/file_io.h"
#include "insight/profile/profile.h"

namespace mycel::insight::profile {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr char kMagic[] = "MYCELPRF";
constexpr uint32_t kVersion = 1;
constexpr uint32_t kMeta = 0x4154454D, kWhat = 0x54414857, kTrack = 0x4B435254, kDone = 0x454E4F44;
constexpr size_t kHead = 16;  // of a block: tag, check sum, bytes

template <typename T>
void append(std::string* out, T v) {
  out->append(reinterpret_cast<const char*>(&v), sizeof v);
}
template <typename T>
T at(std::string_view bytes, size_t place) {
  T v{};
  std::memcpy(&v, bytes.data() + place, sizeof v);
  return v;
}

void append_number(std::string* out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out->push_back(static_cast<char>(v | 0x80));
  out->push_back(static_cast<char>(v));
}
void append_signed(std::string* out, int64_t v) {
  append_number(out, (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63));
}

struct Damaged {};

class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}
  uint64_t number() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) throw Damaged();
      const auto b = static_cast<uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
      v |= static_cast<uint64_t>(b & 0x7F) << shift;
      if (!(b & 0x80)) return v;
    }
    throw Damaged();
  }
  int64_t whole() {
    const uint64_t v = number();
    return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
  }
  // How many records follow, each of `least` bytes or more.
  size_t count(size_t least) {
    const uint64_t n = number();
    if (n > bytes_.size() / least) throw Damaged();
    return static_cast<size_t>(n);
  }
  std::string text() {
    const size_t n = count(1);
    std::string out(bytes_.substr(0, n));
    bytes_.remove_prefix(n);
    return out;
  }

 private:
  std::string_view bytes_;
};

// Sums of differences must not overflow, whatever a file holds.
int64_t sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

void block(std::string* out, uint32_t tag, const std::string& payload) {
  append(out, tag);
  append(out, crc32c(payload.data(), payload.size()));
  append(out, static_cast<uint64_t>(payload.size()));
  *out += payload;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string meta_of(const Profile& p) {
  const Machine& m = p.machine;
  const timeline::Recording& r = p.recording;
  return dump({{"processor", m.processor},
               {"host", m.host},
               {"command", m.command},
               {"version", m.version},
               {"threads", m.threads},
               {"cores", m.cores},
               {"memory", m.memory},
               {"bfloat16", m.bfloat16},
               {"gflops", m.limits.gflops},
               {"gbytes", m.limits.gbytes},
               {"began", r.began},
               {"length", r.length},
               {"active", r.active},
               {"memory_before", r.memory_before}});
}

// Only what slices speak of; `places` gets the new number of each.
std::string whats_of(const timeline::Recording& r, std::vector<uint32_t>* places) {
  std::vector<bool> used(r.whats.size(), false);
  const auto use = [&](timeline::Id id) {
    if (id < used.size()) used[id] = true;
  };
  for (const timeline::Track& t : r.tracks) {
    for (const timeline::Event& e : t.events) use(e.what);
    for (const timeline::MemoryEvent& e : t.memory) use(e.what);
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    for (const timeline::Life& l : r.whats[i].lives) use(l.what);
  }
  places->assign(r.whats.size(), 0);
  uint32_t next = 1;
  for (size_t i = 1; i < used.size(); ++i) {
    if (used[i]) (*places)[i] = next++;
  }
  Json all = Json::array();
  for (size_t i = 1; i < used.size(); ++i) {
    if (!used[i]) continue;
    const timeline::What& w = r.whats[i];
    Json one = {{"k", static_cast<int>(w.kind)}, {"p", static_cast<int>(w.phase)}, {"n", w.name}};
    if (!w.types.empty()) one["t"] = w.types;
    if (!w.implementation.empty()) one["i"] = w.implementation;
    if (!w.where.empty()) one["w"] = w.where;
    if (w.flops >= 0) one["f"] = w.flops;
    if (w.bytes) one["b"] = w.bytes;
    for (const timeline::Life& l : w.lives)
      one["l"].push_back(
          {l.what < places->size() ? (*places)[l.what] : 0, l.bytes, l.first, l.last});
    all.push_back(std::move(one));
  }
  return dump(all);
}

std::string track_of(const timeline::Track& t, const std::vector<uint32_t>& places) {
  const auto place = [&](timeline::Id id) { return id < places.size() ? places[id] : 0; };
  std::string out;
  append_number(&out, t.thread.size());
  out += t.thread;
  append_number(&out, t.main);
  append_number(&out, static_cast<uint64_t>(t.dropped));
  append_number(&out, t.events.size());
  int64_t before = 0;
  for (const timeline::Event& e : t.events) {
    append_signed(&out, difference(e.start, before));
    append_signed(&out, difference(e.end, e.start));
    append_number(&out, place(e.what));
    append_number(&out, e.number);
    before = e.start;
  }
  append_number(&out, t.memory.size());
  timeline::MemoryEvent last;
  for (const timeline::MemoryEvent& e : t.memory) {
    append_signed(&out, difference(e.when, last.when));
    append_signed(&out, static_cast<int64_t>(e.block - last.block));
    append_signed(&out, e.bytes);
    append_number(&out, place(e.what));
    last = e;
  }
  return out;
}

timeline::Track read_track(std::string_view payload, size_t whats) {
  Numbers n(payload);
  timeline::Track t;
  t.thread = n.text();
  t.main = n.number() != 0;
  t.dropped = static_cast<int64_t>(n.number());
  t.events.resize(n.count(4));
  int64_t before = 0;
  const auto id = [&] {
    const uint64_t v = n.number();
    if (v > whats) throw Damaged();
    return static_cast<timeline::Id>(v);
  };
  for (timeline::Event& e : t.events) {
    e.start = before = sum(before, n.whole());
    e.end = std::max(e.start, sum(e.start, n.whole()));
    e.what = id();
    e.number = static_cast<uint32_t>(n.number());
  }
  t.memory.resize(n.count(4));
  timeline::MemoryEvent last;
  for (timeline::MemoryEvent& e : t.memory) {
    e.when = sum(last.when, n.whole());
    e.block = last.block + static_cast<uint64_t>(n.whole());
    e.bytes = n.whole();
    e.what = id();
    last = e;
  }
  return t;
}

void read_meta(const Json& j, Profile* p) {
  Machine& m = p->machine;
  m.processor = j.value("processor", "");
  m.host = j.value("host", "");
  m.command = j.value("command", "");
  m.version = j.value("version", "");
  m.threads = std::clamp(j.value("threads", 1), 1, 1 << 20);
  m.cores = std::clamp(j.value("cores", 1), 1, 1 << 20);
  m.memory = j.value("memory", int64_t{0});
  m.bfloat16 = j.value("bfloat16", false);
  m.limits = {j.value("gflops", 0.0), j.value("gbytes", 0.0)};
  timeline::Recording& r = p->recording;
  r.began = j.value("began", int64_t{0});
  r.length = std::max(j.value("length", int64_t{0}), int64_t{0});
  r.active = std::clamp(j.value("active", int64_t{0}), int64_t{0}, r.length);
  r.memory_before = j.value("memory_before", int64_t{0});
}

void read_whats(const Json& all, timeline::Recording* r) {
  r->whats.assign(1, {});
  for (const Json& one : all) {
    timeline::What w;
    const int kind = one.at("k").get<int>(), phase = one.at("p").get<int>();
    if (kind < 0 || kind >= timeline::kKindCount || phase < 0 || phase >= timeline::kPhaseCount)
      throw Damaged();
    w.kind = static_cast<timeline::Kind>(kind);
    w.phase = static_cast<timeline::Phase>(phase);
    w.name = one.at("n").get<std::string>();
    w.types = one.value("t", "");
    w.implementation = one.value("i", "");
    w.where = one.value("w", "");
    w.flops = one.value("f", int64_t{-1});
    w.bytes = one.value("b", int64_t{0});
    if (one.contains("l")) {
      for (const Json& l : one.at("l")) {
        const timeline::Life life{l.at(0).get<uint32_t>(), l.at(1).get<uint64_t>(),
                                  l.at(2).get<int32_t>(), l.at(3).get<int32_t>()};
        if (life.what > all.size() || life.first < 0 || life.last < life.first ||
            life.last > (1 << 24))
          throw Damaged();
        w.lives.push_back(life);
      }
    }
    r->whats.push_back(std::move(w));
  }
}

[[noreturn]] void unusable(const std::string& name, const std::string& why) {
  fail(ErrorKind::kOs, "'{}' cannot be read as a profile: {}", name, why);
}

}  // namespace

std::string pack(const Profile& p) {
  std::string out(kMagic, 8);
  append(&out, kVersion);
  append(&out, uint32_t{0});
  block(&out, kMeta, meta_of(p));
  std::vector<uint32_t> places;
  block(&out, kWhat, whats_of(p.recording, &places));
  for (const timeline::Track& t : p.recording.tracks) block(&out, kTrack, track_of(t, places));
  block(&out, kDone, "");
  return out;
}

Profile parse(std::string_view bytes, const std::string& name) {
  if (bytes.size() < 16 || bytes.substr(0, 8) != std::string_view(kMagic, 8))
    unusable(name, "it does not begin as one");
  if (at<uint32_t>(bytes, 8) != kVersion)
    unusable(name, fmt::format("it is of version {}; this program knows {}", at<uint32_t>(bytes, 8),
                               kVersion));
  Profile p;
  bool meta = false, whats = false, done = false;
  size_t place = 16, number = 0;
  for (; place < bytes.size() && !done; ++number) {
    if (bytes.size() - place < kHead) break;
    const auto tag = at<uint32_t>(bytes, place), check = at<uint32_t>(bytes, place + 4);
    const auto length = at<uint64_t>(bytes, place + 8);
    place += kHead;
    if (length > bytes.size() - place) break;
    const std::string_view payload = bytes.substr(place, length);
    place += length;
    try {
      if (crc32c(payload.data(), payload.size()) != check) throw Damaged();
      if (tag == kMeta) {
        read_meta(Json::parse(payload), &p);
        meta = true;
      } else if (tag == kWhat) {
        read_whats(Json::parse(payload), &p.recording);
        whats = true;
      } else if (tag == kTrack && whats) {
        p.recording.tracks.push_back(read_track(payload, p.recording.whats.size() - 1));
      } else if (tag == kDone) {
        done = true;
      }  // later versions may add blocks
    } catch (const Damaged&) {
      p.problems.push_back(fmt::format("block {} is damaged", number));
    } catch (const nlohmann::json::exception&) {
      p.problems.push_back(fmt::format("block {} is damaged", number));
    }
  }
  if (!meta || !whats) unusable(name, "its first blocks are damaged");
  if (!done) p.problems.push_back("its end is missing");
  return p;
}

void save(const Profile& profile, const std::string& path) {
  const std::string bytes = pack(profile);
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

Profile load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || !fs::is_regular_file(path)) fail(ErrorKind::kOs, "'{}' cannot be read", path);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return parse(bytes, path);
}

std::string new_path(const std::string& folder) {
  static std::atomic<int> serial{0};
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(ErrorKind::kOs, "'{}' cannot be made: {}", folder, error.message());
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0 || !*host) std::strcpy(host, "host");
  return (fs::path(folder) / fmt::format("mycel.{}.{}.{}.{}{}", std::time(nullptr), host, getpid(),
                                         serial++, kFileEnd))
      .string();
}

std::vector<std::string> profiles_below(const std::string& folder) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return {};
  fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    if (path.extension() != kFileEnd) continue;
    std::error_code wrong;
    if (it->is_symlink(wrong)) {
      const fs::path target = fs::canonical(path, wrong).lexically_relative(root);
      if (wrong || target.empty() || *target.begin() == "..") continue;
    }
    if (it->is_regular_file(wrong))
      found.emplace_back(it->last_write_time(wrong), path.lexically_relative(root).string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (auto& [when, path] : found) out.push_back(std::move(path));
  return out;
}

}  // namespace mycel::insight::profile
