// Questions to the index. Each takes a connection of its own from a small pool.
#include <algorithm>
#include <cmath>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "insight/store/index_file.h"

namespace mycel::insight::store {

IndexFile::Connection::Connection(const std::string& path) : database(path, true) {
  database.run("PRAGMA cache_size=-16384;");
}

// Borrows a connection for a scope.
class IndexFile::Reader {
 public:
  explicit Reader(IndexFile& index) : index_(index), connection_(index.borrow()) {}
  ~Reader() { index_.give_back(std::move(connection_)); }
  operator Database&() { return connection_->database; }  // NOLINT(google-explicit-constructor)

 private:
  IndexFile& index_;
  std::unique_ptr<Connection> connection_;
};

std::unique_ptr<IndexFile::Connection> IndexFile::borrow() {
  {
    std::unique_lock lock(mutex_);
    if (!idle_.empty()) {
      auto c = std::move(idle_.back());
      idle_.pop_back();
      return c;
    }
  }
  return std::make_unique<Connection>(database_);
}

void IndexFile::give_back(std::unique_ptr<Connection> c) {
  std::unique_lock lock(mutex_);
  if (idle_.size() < 8) idle_.push_back(std::move(c));
}

std::vector<RunInfo> IndexFile::runs() {
  Reader reader(*this);
  Statement s(reader, "SELECT id, name, first, last, step FROM run ORDER BY name");
  std::vector<RunInfo> out;
  while (s.step()) out.push_back({s.integer(0), s.text(1), s.real(2), s.real(3), s.integer(4)});
  return out;
}

namespace {

SeriesInfo series_of(const Statement& s) {
  return {s.integer(0), s.integer(1), s.text(2),    static_cast<Kind>(s.integer(3)),
          s.integer(4), s.integer(5), s.integer(6), s.real(7),
          s.real(8)};
}

// The columns of a chart while points and chunks fall into them.
class Columns {
 public:
  Columns(const CurveQuery& q, double from, double to)
      : axis_(q.axis), from_(from), width_((to - from) / q.columns), columns_(q.columns) {
    filled_.resize(static_cast<size_t>(q.columns));
  }
  int64_t column_of(double x) const {
    if (!(width_ > 0)) return 0;
    return std::clamp<int64_t>(static_cast<int64_t>((x - from_) / width_), 0, columns_ - 1);
  }
  double x_of(const Point& p) const {
    return axis_ == Axis::kStep ? static_cast<double>(p.step) : p.when;
  }
  void add(const Point& p) { filled_[static_cast<size_t>(column_of(x_of(p)))].add(p); }
  // Whether all of the chunk lies in one column; then it is added.
  bool add_whole(double low, double high, const ChunkSummary& s) {
    const int64_t c = column_of(low);
    if (c != column_of(high)) return false;
    filled_[static_cast<size_t>(c)].add(s);
    return true;
  }
  std::vector<CurvePoint> points() const {
    std::vector<CurvePoint> out;
    for (const ChunkSummary& s : filled_) {
      if (s.count == 0) continue;
      const int64_t finite = s.count - s.not_finite;
      const double none = std::nan("");
      out.push_back({s.min_step, s.min_when, finite ? s.min : none, finite ? s.max : none,
                     finite ? s.sum / static_cast<double>(finite) : none, s.count, s.not_finite});
    }
    return out;
  }

 private:
  Axis axis_;
  double from_, width_;
  int64_t columns_;
  std::vector<ChunkSummary> filled_;
};

CurvePoint single(const Point& p) {
  const bool finite = std::isfinite(p.value);
  const double v = finite ? p.value : std::nan("");
  return {p.step, p.when, v, v, v, 1, finite ? 0 : 1};
}

}  // namespace

std::vector<SeriesInfo> IndexFile::series() {
  Reader reader(*this);
  Statement s(reader,
              "SELECT id, run, tag, kind, count, first_step, last_step, last_when, last_value "
              "FROM series ORDER BY tag, run");
  std::vector<SeriesInfo> out;
  while (s.step()) out.push_back(series_of(s));
  return out;
}

SeriesInfo IndexFile::find(int64_t run, Kind kind, const std::string& tag) {
  Reader reader(*this);
  Statement s(reader,
              "SELECT id, run, tag, kind, count, first_step, last_step, last_when, last_value "
              "FROM series WHERE tag=? AND run=? AND kind=?");
  s.with(tag, run, static_cast<int>(kind));
  if (!s.step()) fail(ErrorKind::kKey, "run {} has no {} '{}'", run, name_of(kind), tag);
  return series_of(s);
}

std::vector<CurvePoint> IndexFile::curve(int64_t series, const CurveQuery& query) {
  const CurveQuery q = [&] {
    CurveQuery c = query;
    c.columns = std::clamp(c.columns, 1, 20000);
    return c;
  }();
  const bool by_step = q.axis == Axis::kStep;
  Reader reader(*this);
  Statement range(reader, by_step
                              ? "SELECT min(min_step), max(max_step), sum(count) FROM chunk WHERE "
                                "series=? AND max_step>=? AND min_step<=?"
                              : "SELECT min(min_when), max(max_when), sum(count) FROM chunk WHERE "
                                "series=? AND max_when>=? AND min_when<=?");
  range.with(series, q.from, q.to);
  if (!range.step() || range.null(0)) return {};
  const double from = std::max(q.from, range.real(0)), to = std::min(q.to, range.real(1));
  const bool all = range.integer(2) <= 2 * int64_t{q.columns};

  Columns columns(q, from, to);
  std::vector<CurvePoint> raw;
  std::vector<int64_t> open;  // chunks whose points have to be looked at
  const char* wanted = by_step ? " AND max_step>=? AND min_step<=? ORDER BY number"
                               : " AND max_when>=? AND min_when<=? ORDER BY number";
  Statement s(reader, fmt::format("SELECT number, count, not_finite, min_step, max_step, min_when, "
                                  "max_when, min, max, sum FROM chunk WHERE series=?{}",
                                  wanted)
                          .c_str());
  s.with(series, q.from, q.to);
  while (s.step()) {
    ChunkSummary c;
    c.count = s.integer(1);
    c.not_finite = s.integer(2);
    c.min_step = s.integer(3);
    c.max_step = s.integer(4);
    c.min_when = s.real(5);
    c.max_when = s.real(6);
    c.min = s.real(7);
    c.max = s.real(8);
    c.sum = s.real(9);
    const double low = by_step ? static_cast<double>(c.min_step) : c.min_when;
    const double high = by_step ? static_cast<double>(c.max_step) : c.max_when;
    const bool inside = low >= from && high <= to;
    if (all || !inside || !columns.add_whole(low, high, c)) open.push_back(s.integer(0));
  }
  Statement points(reader, "SELECT points FROM chunk WHERE series=? AND number=?");
  for (int64_t number : open) {
    points.with(series, number);
    if (!points.step()) continue;
    unpack(points.bytes(0), [&](const Point& p) {
      const double x = columns.x_of(p);
      if (x < from || x > to) return;
      if (all) {
        raw.push_back(single(p));
      } else {
        columns.add(p);
      }
    });
  }
  if (!all) return columns.points();
  // A run that was resumed may have gone back.
  std::stable_sort(raw.begin(), raw.end(), [&](const CurvePoint& a, const CurvePoint& b) {
    return by_step ? a.step < b.step : a.when < b.when;
  });
  return raw;
}

std::vector<Item> IndexFile::items(int64_t series, int64_t limit) {
  Reader reader(*this);
  Statement size(reader, "SELECT max(number) + 1 FROM item WHERE series=?");
  size.with(series);
  const int64_t count = size.step() && !size.null(0) ? size.integer(0) : 0;
  Statement s(reader, "SELECT number, step, moment FROM item WHERE series=? AND number=?");
  std::vector<Item> out;
  const int64_t n = std::min(count, std::max<int64_t>(limit, 1));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t number = n == 1 ? count - 1 : i * (count - 1) / (n - 1);
    s.with(series, number);
    if (s.step()) out.push_back({series, s.integer(0), s.integer(1), s.real(2)});
  }
  return out;
}

Item IndexFile::item(int64_t series, int64_t number) {
  Reader reader(*this);
  Statement s(reader, "SELECT step, moment FROM item WHERE series=? AND number=?");
  s.with(series, number);
  if (!s.step()) fail(ErrorKind::kKey, "series {} has no item {}", series, number);
  return {series, number, s.integer(0), s.real(1)};
}

bool IndexFile::read(const Item& item, const std::function<void(const Recorded&)>& f) {
  std::string path;
  uint64_t position = 0;
  SeriesInfo info;
  {
    Reader reader(*this);
    Statement s(reader,
                "SELECT file.path, item.position, series.kind, series.tag FROM item "
                "JOIN file ON file.id=item.file JOIN series ON series.id=item.series "
                "WHERE item.series=? AND item.number=?");
    s.with(item.series, item.number);
    if (!s.step()) return false;
    path = s.text(0);
    position = static_cast<uint64_t>(s.integer(1));
    info.kind = static_cast<Kind>(s.integer(2));
    info.tag = s.text(3);
  }
  // The path comes from the index, which holds only files of the folder.
  const int fd = ::open((folder_ / path).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  RecordSplitter splitter;
  std::string piece(size_t{1} << 16, '\0');
  bool found = false;
  for (uint64_t at = position;;) {
    const ssize_t n = pread(fd, piece.data(), piece.size(), static_cast<off_t>(at));
    if (n <= 0) break;
    at += static_cast<uint64_t>(n);
    splitter.add(std::string_view(piece).substr(0, static_cast<size_t>(n)));
    if (auto record = splitter.next()) {
      found = read_event(*record, [&](const Recorded& r) {
        if (r.kind == info.kind && r.tag == info.tag) f(r);
      });
      break;
    }
    if (splitter.lost() || splitter.damaged()) break;
  }
  ::close(fd);
  return found;
}

std::vector<Fact> IndexFile::facts() {
  Reader reader(*this);
  Statement s(reader, "SELECT run, key, value, boolean, typeof(value) FROM fact");
  std::vector<Fact> out;
  while (s.step()) {
    HParam value;
    if (s.text(4) == "text") {
      value = s.text(2);
    } else if (s.integer(3)) {
      value = s.integer(2) != 0;
    } else {
      value = s.real(2);
    }
    out.push_back({s.integer(0), s.text(1), std::move(value)});
  }
  return out;
}

std::vector<Problem> IndexFile::problems() {
  std::vector<Problem> out;
  {
    std::unique_lock lock(mutex_);
    out = refused_;
  }
  Reader reader(*this);
  Statement s(reader,
              "SELECT path, position, damaged, lost FROM file WHERE damaged>0 OR lost ORDER BY 1");
  while (s.step()) {
    std::string text;
    if (s.integer(2) > 0) text = fmt::format("{} damaged records were left out", s.integer(2));
    if (s.integer(3)) {
      if (!text.empty()) text += "; ";
      text += fmt::format("a length is damaged at byte {}: the rest is not read", s.integer(1));
    }
    out.push_back({s.text(0), text});
  }
  return out;
}

}  // namespace mycel::insight::store
