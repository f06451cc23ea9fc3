// The index as an SQLite file: one writer (update), readers with connections of their own.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "insight/events/framing.h"
#include "insight/index.h"
#include "insight/store/chunk.h"
#include "insight/store/database.h"

namespace mycel::insight::store {

class IndexFile final : public Index {
 public:
  // `database`: made anew when it is of another version or damaged. `temporary`: removed at the
  // end.
  IndexFile(std::string folder, std::string database, bool temporary);
  ~IndexFile() override;

  bool update() override;
  int64_t version() const override { return version_; }
  std::vector<RunInfo> runs() override;
  std::vector<SeriesInfo> series() override;
  SeriesInfo find(int64_t run, Kind kind, const std::string& tag) override;
  std::vector<CurvePoint> curve(int64_t series, const CurveQuery& query) override;
  std::vector<Item> items(int64_t series, int64_t limit) override;
  Item item(int64_t series, int64_t number) override;
  bool read(const Item& item, const std::function<void(const Recorded&)>& f) override;
  std::vector<Fact> facts() override;
  std::vector<Problem> problems() override;
  std::string folder() const override { return folder_.string(); }

 private:
  struct File {
    int64_t id = 0, run = 0;
    uint64_t inode = 0, position = 0;
    int64_t damaged = 0;
    bool lost = false;
  };
  // What update knows of a series; points wait until they are stored.
  struct Growing {
    SeriesInfo info;
    bool changed = false;
    std::vector<Point> points;  // of the last chunk, once it has been loaded, and new ones
    int64_t first_chunk = -1;   // the number of the chunk that `points` begin with; -1: not loaded
  };
  struct Connection {
    explicit Connection(const std::string& path);
    Database database;
  };

  void open_writer();
  void load();
  std::vector<std::filesystem::path> event_files(std::vector<std::string>* refused,
                                                 uint64_t* profiles) const;
  bool follow(const std::filesystem::path& path);
  void take(const File& file, uint64_t at, const Recorded& r);
  void take_facts(int64_t run, const Recorded& r);
  void take_json(int64_t run, const Recorded& r);
  void set_fact(int64_t run, const std::string& key, const HParam& value);
  Growing& growing(int64_t run, Kind kind, std::string_view tag);
  void load_last_chunk(Growing& g);
  void store();  // everything that waits, in one transaction
  void store_points(Growing& g);
  void forget_run(int64_t run);
  int64_t run_of(const std::string& name);

  // A connection for one question.
  class Reader;
  std::unique_ptr<Connection> borrow();
  void give_back(std::unique_ptr<Connection> c);

  const std::filesystem::path folder_;
  const std::string database_;
  const bool temporary_;
  std::atomic<int64_t> version_ = 1;

  // Of the writer.
  struct Writer;
  std::unique_ptr<Writer> writer_;
  std::map<std::string, File> files_;  // by path below the folder
  std::unordered_map<std::string, int64_t> runs_;
  std::unordered_map<int64_t, RunInfo> run_infos_;
  std::vector<int64_t> changed_runs_;
  uint64_t profiles_ = 0;  // which files of profiles there are
  std::map<std::tuple<int64_t, Kind, std::string>, Growing, std::less<>> series_;
  std::vector<Growing*> waiting_;
  size_t waiting_points_ = 0;

  std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<Connection>> idle_;
  std::vector<Problem> refused_;
};

std::unique_ptr<Index> open(const std::string& folder, const IndexOptions& options);

}  // namespace mycel::insight::store
