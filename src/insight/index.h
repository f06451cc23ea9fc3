// What is in a folder of event files, ready for questions. The files are the truth; the index is a
// database beside the user's other caches that follows them as they grow and can be thrown away. A
// run is a folder with event files, named by its path below the log folder.
//
// The implementation lives in libmycel_insight with SQLite and the server, loaded when it is first
// asked for.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "insight/events/read.h"

namespace mycel::insight {

struct RunInfo {
  int64_t id = 0;
  std::string name;            // "." is the log folder itself
  double first = 0, last = 0;  // seconds since 1970 of its first and last value
  int64_t step = 0;            // the highest
};

// The values of a tag in a run.
struct SeriesInfo {
  int64_t id = 0, run = 0;
  std::string tag;
  Kind kind = Kind::kScalar;
  int64_t count = 0, first_step = 0, last_step = 0;
  double last_when = 0, last_value = 0;  // value: of a scalar
};

enum class Axis { kStep, kTime };  // time: seconds since 1970

struct CurveQuery {
  double from = -std::numeric_limits<double>::infinity();
  double to = std::numeric_limits<double>::infinity();
  int columns = 500;  // of the chart
  Axis axis = Axis::kStep;
};

// A curve for a chart: at each point the range and mean of what falls into its column. Where there
// are no more values than columns, each is a point of its own. No extreme is ever lost. NaN: the
// column has no finite value.
struct CurvePoint {
  int64_t step = 0;  // of the first value
  double when = 0;
  double min = 0, max = 0, mean = 0;
  int64_t count = 0, not_finite = 0;
};

// A value that stands in an event file.
struct Item {
  int64_t series = 0, number = 0;  // in order of arrival
  int64_t step = 0;
  double when = 0;
};

// A fact about a run: of its hyper-parameters, lineage or results.
struct Fact {
  int64_t run = 0;
  std::string key;
  HParam value;
};

struct Problem {
  std::string file, text;
};

class Index {
 public:
  virtual ~Index() = default;
  // Reads what has been written since the last time; from one thread at a time. Gives whether there
  // was something.
  virtual bool update() = 0;
  // The rest may be called from many threads. A number that grows with each change.
  virtual int64_t version() const = 0;
  virtual std::vector<RunInfo> runs() = 0;
  // In order of tag and run.
  virtual std::vector<SeriesInfo> series() = 0;
  // KeyError when there is no such series.
  virtual SeriesInfo find(int64_t run, Kind kind, const std::string& tag) = 0;
  virtual std::vector<CurvePoint> curve(int64_t series, const CurveQuery& query) = 0;
  // At most `limit` items, spread evenly, the first and the last among them.
  virtual std::vector<Item> items(int64_t series, int64_t limit) = 0;
  // The item with this number; KeyError when there is none.
  virtual Item item(int64_t series, int64_t number) = 0;
  // Reads its value from the event file and calls f. False when it cannot be read any more.
  virtual bool read(const Item& item, const std::function<void(const Recorded&)>& f) = 0;
  virtual std::vector<Fact> facts() = 0;
  virtual std::vector<Problem> problems() = 0;
  // The log folder, without links.
  virtual std::string folder() const = 0;
};

struct IndexOptions {
  std::string database;  // its file; "": in the cache folder, by the log folder's path
};
// OSError when the folder cannot be read.
std::unique_ptr<Index> open_index(const std::string& folder, const IndexOptions& options = {});

}  // namespace mycel::insight
