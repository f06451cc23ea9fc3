// Opening the index, and following the event files.
#include "insight/store/index_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/error.h"
#include "insight/profile/profile.h"
#include "insight/store/tables.h"
#include "loops/cache.h"

namespace mycel::insight::store {
namespace {

namespace fs = std::filesystem;
constexpr size_t kPiece = size_t{1} << 20;        // read at a time
constexpr size_t kMostWaiting = size_t{1} << 21;  // points before they are stored

}  // namespace

struct IndexFile::Writer {
  explicit Writer(const std::string& path) : database(path, false) {
    database.run(
        "PRAGMA locking_mode=NORMAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
        "PRAGMA cache_size=-65536;");
  }
  // Statements come into being after the tables.
  void prepare() {
    auto make = [&](const char* sql) { return std::make_unique<Statement>(database, sql); };
    begin = make("BEGIN IMMEDIATE");
    commit = make("COMMIT");
    put_file = make(
        "INSERT INTO file (id, run, path, inode, position, damaged, lost) VALUES (?,?,?,?,?,?,?) "
        "ON CONFLICT (id) DO UPDATE SET position=excluded.position, damaged=excluded.damaged, "
        "lost=excluded.lost");
    put_run = make("INSERT OR REPLACE INTO run VALUES (?,?,?,?,?)");
    put_series = make("INSERT OR REPLACE INTO series VALUES (?,?,?,?,?,?,?,?,?)");
    put_chunk = make("INSERT OR REPLACE INTO chunk VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    put_item = make("INSERT OR REPLACE INTO item VALUES (?,?,?,?,?,?)");
    put_fact = make("INSERT OR REPLACE INTO fact VALUES (?,?,?,?)");
    last_chunk = make("SELECT points FROM chunk WHERE series=? AND number=?");
  }
  Database database;
  std::unique_ptr<Statement> begin, commit, put_file, put_run, put_series, put_chunk, put_item,
      put_fact, last_chunk;
  bool open = false;  // inside a transaction
  int64_t next_file = 1, next_run = 1, next_series = 1;

  void start() {
    if (!open) begin->with().run();
    open = true;
  }
};

std::unique_ptr<Index> open(const std::string& folder, const IndexOptions& options) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error || !fs::is_directory(root))
    fail(ErrorKind::kOs, "'{}' is no folder that can be read", folder);
  if (!options.database.empty())
    return std::make_unique<IndexFile>(root.string(), options.database, false);
  const std::string cache = loops::cache::directory();
  if (!cache.empty()) {
    const fs::path place = fs::path(cache) / "insight";
    fs::create_directories(place, error);
    const std::string name = root.string();
    const auto path = place / fmt::format("{:016x}.sqlite", XXH3_64bits(name.data(), name.size()));
    // One process at a time writes an index; a second one on the same folder makes its own.
    const int lock = ::open((path.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct flock whole{};
    whole.l_type = F_WRLCK;
    if (lock >= 0 && fcntl(lock, F_OFD_SETLK, &whole) == 0)  // held until the process ends
      return std::make_unique<IndexFile>(root.string(), path.string(), false);
    if (lock >= 0) ::close(lock);
  }
  std::string name = (fs::temp_directory_path() / "mycel-insight-XXXXXX").string();
  const int fd = mkstemp(name.data());
  if (fd < 0) fail(ErrorKind::kOs, "'{}' cannot be made: {}", name, std::strerror(errno));
  ::close(fd);
  return std::make_unique<IndexFile>(root.string(), name, true);
}

IndexFile::IndexFile(std::string folder, std::string database, bool temporary)
    : folder_(std::move(folder)), database_(std::move(database)), temporary_(temporary) {
  try {
    open_writer();
  } catch (const UserError&) {  // damaged: it can be made anew
    writer_.reset();
    for (const char* end : {"", "-wal", "-shm"}) fs::remove(database_ + end);
    open_writer();
  }
  load();
}

IndexFile::~IndexFile() {
  idle_.clear();
  writer_.reset();
  if (!temporary_) return;
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(database_ + end, ignored);
}

void IndexFile::open_writer() {
  writer_ = std::make_unique<Writer>(database_);
  Database& d = writer_->database;
  const auto version = [&] {
    Statement s(d, "PRAGMA user_version");
    return s.step() ? s.integer(0) : 0;
  }();
  if (version != kVersion) {
    if (version != 0) {
      writer_.reset();
      for (const char* end : {"", "-wal", "-shm"}) fs::remove(database_ + end);
      writer_ = std::make_unique<Writer>(database_);
    }
    Database& fresh = writer_->database;
    fresh.run(kTables);
    fresh.run(fmt::format("PRAGMA user_version={}", kVersion).c_str());
  }
  writer_->prepare();
}

// What update has to know of an index that was there before.
void IndexFile::load() {
  Database& d = writer_->database;
  Statement runs(d, "SELECT id, name, first, last, step FROM run");
  while (runs.step()) {
    const RunInfo r{runs.integer(0), runs.text(1), runs.real(2), runs.real(3), runs.integer(4)};
    runs_[r.name] = r.id;
    run_infos_[r.id] = r;
    writer_->next_run = std::max(writer_->next_run, r.id + 1);
  }
  Statement files(d, "SELECT id, run, path, inode, position, damaged, lost FROM file");
  while (files.step()) {
    files_[files.text(2)] = {files.integer(0),
                             files.integer(1),
                             static_cast<uint64_t>(files.integer(3)),
                             static_cast<uint64_t>(files.integer(4)),
                             files.integer(5),
                             files.integer(6) != 0};
    writer_->next_file = std::max(writer_->next_file, files.integer(0) + 1);
  }
  Statement series(d,
                   "SELECT id, run, tag, kind, count, first_step, last_step, last_when, last_value "
                   "FROM series");
  while (series.step()) {
    SeriesInfo s{series.integer(0), series.integer(1),
                 series.text(2),    static_cast<Kind>(series.integer(3)),
                 series.integer(4), series.integer(5),
                 series.integer(6), series.real(7),
                 series.real(8)};
    writer_->next_series = std::max(writer_->next_series, s.id + 1);
    auto key = std::tuple(s.run, s.kind, s.tag);
    series_[std::move(key)].info = std::move(s);
  }
}

// Event files in the folder and below. Links that lead out of it are refused.
std::vector<fs::path> IndexFile::event_files(std::vector<std::string>* refused,
                                             uint64_t* profiles) const {
  std::vector<fs::path> out;
  std::error_code error;
  fs::recursive_directory_iterator it(folder_, fs::directory_options::skip_permission_denied,
                                      error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    if (path.extension() == profile::kFileEnd) {
      const std::string name = path.string();
      *profiles += XXH3_64bits(name.data(), name.size());
    }
    if (path.filename().string().find("tfevents") == std::string::npos) continue;
    std::error_code wrong;
    if (it->is_symlink(wrong)) {
      const fs::path target = fs::canonical(path, wrong).lexically_relative(folder_);
      if (wrong || target.empty() || *target.begin() == "..") {
        refused->push_back(path.lexically_relative(folder_).string());
        continue;
      }
    }
    if (it->is_regular_file(wrong)) out.push_back(path);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool IndexFile::update() {
  bool changed = false;
  std::vector<std::string> refused;
  uint64_t profiles = 0;
  for (const fs::path& path : event_files(&refused, &profiles)) changed |= follow(path);
  changed |= std::exchange(profiles_, profiles) != profiles;
  store();
  {
    std::unique_lock lock(mutex_);
    refused_.clear();
    for (const std::string& file : refused)
      refused_.push_back({file, "is a link that leads out of the folder: not read"});
  }
  if (changed) ++version_;
  return changed;
}

bool IndexFile::follow(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct Closing {
    int fd;
    ~Closing() { ::close(fd); }
  } closing{fd};
  struct stat status{};
  if (fstat(fd, &status) != 0) return false;
  const std::string name = path.lexically_relative(folder_).string();
  const uint64_t size = static_cast<uint64_t>(status.st_size);
  auto known = files_.find(name);
  if (known != files_.end() &&
      (known->second.inode != status.st_ino || size < known->second.position)) {
    forget_run(known->second.run);  // another file now
    known = files_.end();
  }
  if (known == files_.end()) {
    const fs::path parent = fs::path(name).parent_path();
    File f;
    f.run = run_of(parent.empty() ? "." : parent.string());
    f.id = writer_->next_file++;
    f.inode = status.st_ino;
    known = files_.emplace(name, f).first;
  }
  File& file = known->second;
  if (file.lost || size == file.position) return false;

  RecordSplitter splitter;
  std::string piece(kPiece, '\0');
  const uint64_t base = file.position;
  uint64_t at = base;
  bool found = false;
  for (;;) {
    const ssize_t n = pread(fd, piece.data(), piece.size(), static_cast<off_t>(at));
    if (n <= 0) break;
    at += static_cast<uint64_t>(n);
    splitter.add(std::string_view(piece).substr(0, static_cast<size_t>(n)));
    while (auto record = splitter.next()) {
      found = true;
      const uint64_t begin = base + splitter.position() - record->size() - 16;
      if (!read_event(*record, [&](const Recorded& r) { take(file, begin, r); })) ++file.damaged;
    }
    file.position = base + splitter.position();
    if (waiting_points_ > kMostWaiting) store();
    if (splitter.lost()) break;
  }
  file.damaged += splitter.damaged();
  file.lost = splitter.lost();
  if (!found && !file.lost && splitter.damaged() == 0) return false;
  writer_->start();
  writer_->put_file
      ->with(file.id, file.run, name, file.inode, file.position, file.damaged, int{file.lost})
      .run();
  return true;
}

int64_t IndexFile::run_of(const std::string& name) {
  auto [it, fresh] = runs_.try_emplace(name, 0);
  if (fresh) {
    it->second = writer_->next_run++;
    RunInfo r;
    r.id = it->second;
    r.name = name;
    run_infos_[r.id] = r;
    changed_runs_.push_back(r.id);
  }
  return it->second;
}

// Everything of a run goes: its files are read again from the start.
void IndexFile::forget_run(int64_t run) {
  store();
  Database& d = writer_->database;
  Statement(d, "DELETE FROM chunk WHERE series IN (SELECT id FROM series WHERE run=?)")
      .with(run)
      .run();
  Statement(d, "DELETE FROM item WHERE series IN (SELECT id FROM series WHERE run=?)")
      .with(run)
      .run();
  for (const char* sql : {"DELETE FROM series WHERE run=?", "DELETE FROM file WHERE run=?",
                          "DELETE FROM fact WHERE run=?", "DELETE FROM run WHERE id=?"})
    Statement(d, sql).with(run).run();
  std::erase_if(files_, [&](const auto& f) { return f.second.run == run; });
  std::erase_if(series_, [&](const auto& s) { return std::get<0>(s.first) == run; });
  runs_.erase(run_infos_[run].name);
  run_infos_.erase(run);
}

IndexFile::Growing& IndexFile::growing(int64_t run, Kind kind, std::string_view tag) {
  const auto key = std::tuple(run, kind, tag);
  auto it = series_.find(key);
  if (it == series_.end()) {
    it = series_.emplace(std::tuple(run, kind, std::string(tag)), Growing()).first;
    SeriesInfo& s = it->second.info;
    s.id = writer_->next_series++;
    s.run = run;
    s.kind = kind;
    s.tag = tag;
  }
  Growing& g = it->second;
  if (!g.changed) {
    g.changed = true;
    waiting_.push_back(&g);
  }
  return g;
}

void IndexFile::take(const File& file, uint64_t at, const Recorded& r) {
  RunInfo& run = run_infos_[file.run];
  if (run.last == 0) run.first = run.last = r.when;
  run.first = std::min(run.first, r.when);
  run.last = std::max(run.last, r.when);
  run.step = std::max(run.step, r.step);
  if (std::find(changed_runs_.begin(), changed_runs_.end(), file.run) == changed_runs_.end())
    changed_runs_.push_back(file.run);
  if (r.kind == Kind::kHParams) return take_facts(file.run, r);
  if (r.kind == Kind::kRecord && r.tag.starts_with("lineage/")) take_json(file.run, r);

  Growing& g = growing(file.run, r.kind, r.tag);
  SeriesInfo& s = g.info;
  if (r.kind == Kind::kScalar) {
    if (g.first_chunk < 0) load_last_chunk(g);
    g.points.push_back({r.step, r.when, r.scalar});
    ++waiting_points_;
    s.last_value = r.scalar;
  } else {
    writer_->start();
    writer_->put_item->with(s.id, s.count, r.step, r.when, file.id, at).run();
  }
  if (s.count++ == 0) s.first_step = r.step;
  s.last_step = std::max(s.last_step, r.step);
  s.last_when = r.when;
}

void IndexFile::load_last_chunk(Growing& g) {
  const int64_t whole = g.info.count / kChunk;
  g.first_chunk = whole;
  g.points.clear();
  if (g.info.count % kChunk == 0) return;
  Statement& s = writer_->last_chunk->with(g.info.id, whole);
  if (s.step()) unpack(s.bytes(0), [&](const Point& p) { g.points.push_back(p); });
  s.reset();
}

void IndexFile::store() {
  if (waiting_.empty() && changed_runs_.empty() && !writer_->open) return;
  writer_->start();
  for (int64_t id : changed_runs_) {
    auto run = run_infos_.find(id);
    if (run == run_infos_.end()) continue;
    const RunInfo& r = run->second;
    writer_->put_run->with(r.id, r.name, r.first, r.last, r.step).run();
  }
  changed_runs_.clear();
  for (Growing* g : waiting_) {
    if (!g->points.empty()) store_points(*g);
    const SeriesInfo& s = g->info;
    writer_->put_series
        ->with(s.id, s.run, s.tag, static_cast<int>(s.kind), s.count, s.first_step, s.last_step,
               s.last_when, s.last_value)
        .run();
    g->changed = false;
  }
  for (const auto& [name, f] : files_)
    if (waiting_points_ > 0)
      writer_->put_file->with(f.id, f.run, name, f.inode, f.position, f.damaged, int{f.lost}).run();
  waiting_.clear();
  waiting_points_ = 0;
  writer_->commit->with().run();
  writer_->open = false;
}

void IndexFile::store_points(Growing& g) {
  const auto n = static_cast<int64_t>(g.points.size());
  for (int64_t at = 0; at < n; at += kChunk) {
    const std::vector<Point> part(g.points.begin() + at,
                                  g.points.begin() + std::min(at + kChunk, n));
    ChunkSummary s;
    for (const Point& p : part) s.add(p);
    writer_->put_chunk
        ->with(g.info.id, g.first_chunk + at / kChunk, s.count, s.not_finite, s.min_step,
               s.max_step, s.min_when, s.max_when, s.min, s.max, s.sum,
               std::string_view(pack(part)))
        .run();
  }
  std::vector<Point>().swap(g.points);  // {} would keep the memory
  g.first_chunk = -1;
}

void IndexFile::set_fact(int64_t run, const std::string& key, const HParam& value) {
  writer_->start();
  if (const auto* number = std::get_if<double>(&value)) {
    writer_->put_fact->with(run, key, *number, 0).run();
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    writer_->put_fact->with(run, key, *text, 0).run();
  } else {
    writer_->put_fact->with(run, key, int{std::get<bool>(value)}, 1).run();
  }
}

void IndexFile::take_facts(int64_t run, const Recorded& r) {
  for (const auto& [key, value] : r.params) set_fact(run, key, value);
}

// Lineage: flat JSON, {"metrics": {…}} one deeper.
void IndexFile::take_json(int64_t run, const Recorded& r) {
  const auto json = nlohmann::json::parse(r.content, nullptr, false);
  if (!json.is_object()) return;
  const auto put = [&](const std::string& key, const nlohmann::json& v) {
    if (v.is_boolean()) {
      set_fact(run, key, v.get<bool>());
    } else if (v.is_number()) {
      set_fact(run, key, v.get<double>());
    } else if (v.is_string()) {
      set_fact(run, key, v.get<std::string>());
    }
  };
  for (const auto& [key, value] : json.items()) {
    if (!value.is_object()) {
      put(key, value);
      continue;
    }
    for (const auto& [name, v] : value.items()) put(fmt::format("{}/{}", key, name), v);
  }
}

}  // namespace mycel::insight::store
