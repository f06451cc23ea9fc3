#include "insight/debug/dump.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file_io.h"

namespace mycel::insight::debug {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostIndex = size_t{256} << 20, kMostEntries = 1'000'000, kMostProblems = 100;
constexpr int64_t kMostBytes = int64_t{4} << 30;  // of one tensor

const char* npy_type(DType d) {
  switch (d) {
    case DType::kBool:
      return "|b1";
    case DType::kInt8:
      return "|i1";
    case DType::kInt16:
      return "<i2";
    case DType::kInt32:
      return "<i4";
    case DType::kInt64:
      return "<i8";
    case DType::kUInt8:
      return "|u1";
    case DType::kUInt16:
      return "<u2";
    case DType::kUInt32:
      return "<u4";
    case DType::kUInt64:
      return "<u8";
    case DType::kFloat16:
      return "<f2";
    case DType::kBFloat16:
      return "<u2";  // NumPy has none: the bits; the index tells
    case DType::kFloat32:
      return "<f4";
    case DType::kFloat64:
      return "<f8";
    case DType::kComplex64:
      return "<c8";
    case DType::kComplex128:
      return "<c16";
    default:
      return nullptr;
  }
}

std::string npy_header(const Entry& e) {
  std::string shape;
  for (int64_t d : e.shape) shape += fmt::format("{}, ", d);
  if (e.shape.rank() > 1) shape.resize(shape.size() - 2);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 npy_type(e.dtype), shape);
  // The numbers begin at a multiple of 64.
  text += std::string(63 - (10 + text.size()) % 64, ' ') + "\n";
  std::string out("\x93NUMPY\x01\x00", 8);
  out.push_back(static_cast<char>(text.size() & 255));
  out.push_back(static_cast<char>(text.size() >> 8));
  return out + text;
}

// Values alone are worth no wait for the disk: the index, which comes last, says which there are.
void write_values(const std::string& path, const Entry& e, const std::string& head) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(head.data(), static_cast<std::streamsize>(head.size()));
  file.write(static_cast<const char*>(e.value.raw()),
             static_cast<std::streamsize>(e.value.bytes()));
  file.close();
  if (!file) fail(ErrorKind::kOs, "'{}' cannot be written", path);
}

Json statistics_json(const Statistics& s) {
  return {s.count, s.nan,  s.positive_inf, s.negative_inf, s.zero,     s.negative, s.min,
          s.max,   s.mean, s.sum,          s.deviation,    s.abs_mean, s.l2};
}

std::optional<Statistics> statistics_of_json(const Json& j) {
  if (!j.is_array() || j.size() != 13) return {};
  for (const Json& x : j) {
    if (!x.is_number()) return {};
  }
  Statistics s;
  int64_t* const counts[] = {&s.count,        &s.nan,  &s.positive_inf,
                             &s.negative_inf, &s.zero, &s.negative};
  double* const numbers[] = {&s.min, &s.max, &s.mean, &s.sum, &s.deviation, &s.abs_mean, &s.l2};
  for (size_t i = 0; i < 6; ++i) *counts[i] = j[i].get<int64_t>();
  for (size_t i = 0; i < 7; ++i) *numbers[i] = j[6 + i].get<double>();
  return s;
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // Of a regular file; -1 otherwise.
  int64_t size() const {
    struct stat s{};
    return fstat(fd_, &s) == 0 && S_ISREG(s.st_mode) ? s.st_size : -1;
  }
  bool read(int64_t from, void* to, size_t bytes) const {
    auto* at = static_cast<char*>(to);
    while (bytes) {
      const ssize_t n = pread(fd_, at, bytes, from);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      from += n;
      bytes -= static_cast<size_t>(n);
    }
    return true;
  }

 private:
  int fd_;
};

File open_at(int folder, const std::string& name, int flags) {
  return File(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags));
}

std::optional<Entry> entry_of(const Json& j, std::string* file) {
  try {
    Entry e;
    e.name = j.at("name").get<std::string>();
    auto role = role_named(j.at("role").get<std::string>());
    if (!role || e.name.empty()) return {};
    e.role = *role;
    e.op = j.value("op", "");
    e.at = j.value("at", "");
    e.scope = j.value("scope", "");
    e.inputs = j.value("inputs", std::vector<std::string>());
    if (!parse_dtype(j.at("dtype").get<std::string>(), &e.dtype)) return {};
    int64_t elements = 1;
    for (int64_t d : j.at("shape").get<std::vector<int64_t>>()) {
      if (d < 0 || (d && elements > kMostBytes / d)) return {};
      elements *= d;
      e.shape.push_back(d);
    }
    e.step = j.at("step").get<int64_t>();
    e.order = j.at("order").get<int64_t>();
    e.visits = j.value("visits", int64_t{1});
    e.operands_finite = j.value("operands_finite", true);
    if (j.contains("statistics")) e.statistics = statistics_of_json(j["statistics"]);
    *file = j.value("file", "");
    return e;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

int open_below(const std::string& root, const std::string& relative, int flags) {
  int now = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (size_t at = 0; now >= 0 && at <= relative.size();) {
    const size_t end = std::min(relative.find('/', at), relative.size());
    const std::string part = relative.substr(at, end - at);
    at = end + 1;
    const bool last = at > relative.size();
    if ((part.empty() || part == ".") && !last) continue;
    int next = -1;
    if (part != "..") {
      const int how = last ? flags : O_PATH | O_DIRECTORY;
      next = openat(now, part.empty() ? "." : part.c_str(), how | O_NOFOLLOW | O_CLOEXEC);
    }
    ::close(now);
    now = next;
  }
  return now;
}

DumpWriter::DumpWriter(std::string folder, What what) : folder_(std::move(folder)), what_(what) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) fail(ErrorKind::kOs, "'{}' cannot be made: {}", folder_, error.message());
}

DumpWriter::~DumpWriter() {
  try {
    end_step();
  } catch (const std::exception&) {
    // The step lacks its index and is not shown.
  }
}

void DumpWriter::write(const Entry& e) {
  if (!e.value || !npy_type(e.dtype)) return;
  if (e.step != step_) {
    end_step();
    step_ = e.step;
    std::error_code error;
    std::filesystem::create_directories(fmt::format("{}/step_{}", folder_, step_), error);
    if (error) fail(ErrorKind::kOs, "'{}' cannot be made: {}", folder_, error.message());
  }
  std::vector<int64_t> shape;
  for (int64_t d : e.shape) shape.push_back(d);
  Json line = {{"name", e.name},
               {"role", name_of(e.role)},
               {"op", e.op},
               {"at", e.at},
               {"scope", e.scope},
               {"inputs", e.inputs},
               {"dtype", std::string(mycel::name_of(e.dtype))},
               {"shape", shape},
               {"step", e.step},
               {"order", e.order},
               {"visits", e.visits},
               {"operands_finite", e.operands_finite}};
  if (what_ != What::kStatistics) {
    const std::string file = fmt::format("{}.npy", count_++);
    write_values(fmt::format("{}/step_{}/{}", folder_, step_, file), e, npy_header(e));
    line["file"] = file;
  }
  if (what_ != What::kValues) line["statistics"] = statistics_json(statistics_of(e.value));
  index_ += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void DumpWriter::end_step() {
  if (step_ < 0) return;
  AtomicFile file(fmt::format("{}/step_{}/index.jsonl", folder_, step_));
  file.write(index_.data(), index_.size());
  file.commit();
  step_ = -1;
  count_ = 0;
  index_.clear();
}

std::unique_ptr<DumpShelf> DumpShelf::open(const std::string& root, const std::string& relative) {
  const int folder = open_below(root, relative, O_RDONLY | O_DIRECTORY);
  return folder < 0 ? nullptr : std::unique_ptr<DumpShelf>(new DumpShelf(folder));
}

DumpShelf::DumpShelf(int folder) : folder_(folder) {}
DumpShelf::~DumpShelf() { ::close(folder_); }

void DumpShelf::problem(std::string text) {
  if (problems_.size() < kMostProblems &&
      std::find(problems_.begin(), problems_.end(), text) == problems_.end())
    problems_.push_back(std::move(text));
}

std::vector<std::string> DumpShelf::problems() const {
  std::lock_guard lock(mutex_);
  return problems_;
}

std::vector<int64_t> DumpShelf::steps() {
  std::vector<int64_t> found;
  const int copy = openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* dir = copy < 0 ? nullptr : fdopendir(copy);
  if (!dir) {
    if (copy >= 0) ::close(copy);
    return found;
  }
  while (const dirent* d = readdir(dir)) {
    const std::string name = d->d_name;
    int64_t number = 0;
    if (!name.starts_with("step_")) continue;
    const auto [end, error] = std::from_chars(name.data() + 5, name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number < 0) continue;
    if (open_at(folder_, name + "/index.jsonl", 0)) found.push_back(number);
  }
  closedir(dir);
  std::sort(found.begin(), found.end());
  return found;
}

const DumpShelf::Step& DumpShelf::step(int64_t number) {
  auto known = known_.find(number);
  if (known != known_.end()) return known->second;
  if (known_.size() > 16) known_.clear();
  Step& s = known_[number];
  const std::string name = fmt::format("step_{}", number);
  const File folder = open_at(folder_, name, O_DIRECTORY);
  const File index = folder ? open_at(folder.fd(), "index.jsonl", 0) : File(-1);
  const int64_t size = index ? index.size() : -1;
  if (size < 0 || size > static_cast<int64_t>(kMostIndex)) {
    problem(name + ": its index cannot be read");
    return s;
  }
  std::string text(static_cast<size_t>(size), '\0');
  if (!index.read(0, text.data(), text.size())) problem(name + ": its index ends early");
  for (size_t at = 0; at < text.size() && s.entries.size() < kMostEntries;) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const Json line = Json::parse(text.begin() + static_cast<int64_t>(at),
                                  text.begin() + static_cast<int64_t>(end), nullptr, false);
    at = end + 1;
    std::string file;
    std::optional<Entry> e = line.is_object() ? entry_of(line, &file) : std::optional<Entry>();
    if (!e || e->step != number || file.find('/') != file.npos) {
      problem(name + ": a line of its index is damaged");
      continue;
    }
    s.places[e->name] = s.entries.size();
    s.files.push_back(std::move(file));
    s.entries.push_back(std::move(*e));
  }
  return s;
}

std::vector<Entry> DumpShelf::entries(int64_t number) {
  std::lock_guard lock(mutex_);
  return step(number).entries;
}

Tensor DumpShelf::load(int64_t number, const std::string& name, const Entry& e) {
  const std::string path = fmt::format("step_{}/{}", number, name);
  const File folder = open_at(folder_, fmt::format("step_{}", number), O_DIRECTORY);
  const File file = folder ? open_at(folder.fd(), name, 0) : File(-1);
  const int64_t bytes = e.shape.size() * static_cast<int64_t>(size_of(e.dtype));
  unsigned char head[10];
  const int64_t size = file ? file.size() : -1;
  if (size < 10 || bytes > kMostBytes || !file.read(0, head, 10) ||
      std::memcmp(head, "\x93NUMPY\x01\x00", 8) != 0 ||
      size != 10 + head[8] + 256 * head[9] + bytes) {
    problem(path + ": is no array of the type that its index tells");
    return {};
  }
  Tensor t = Tensor::empty(e.dtype, e.shape);
  if (!file.read(size - bytes, t.mutable_raw(), static_cast<size_t>(bytes))) {
    problem(path + ": ends early");
    return {};
  }
  return t;
}

std::optional<Entry> DumpShelf::find(int64_t number, const std::string& name) {
  std::lock_guard lock(mutex_);
  const Step& s = step(number);
  auto place = s.places.find(name);
  if (place == s.places.end()) return {};
  Entry e = s.entries[place->second];
  if (!s.files[place->second].empty()) e.value = load(number, s.files[place->second], e);
  return e;
}

}  // namespace mycel::insight::debug
