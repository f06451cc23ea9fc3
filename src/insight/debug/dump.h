// Values of steps in files: FOLDER/step_<n>/<k>.npy and an index, one JSON object a line. Reading
// takes nothing on trust: links are not followed, what is damaged is left out and reported.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "insight/debug/entry.h"

namespace mycel::insight::debug {

class DumpWriter {
 public:
  enum class What { kValues, kStatistics, kBoth };
  DumpWriter(std::string folder, What what);
  ~DumpWriter();
  // UserError kOs when the file cannot be written.
  void write(const Entry& e);
  // The step is complete: its index is written whole.
  void end_step();

 private:
  std::string folder_;
  What what_;
  int64_t step_ = -1, count_ = 0;
  std::string index_;
};

// A folder that DumpWriter filled, below `root`: no component of `relative` may be a link.
class DumpShelf final : public Shelf {
 public:
  // Null when there is no such folder.
  static std::unique_ptr<DumpShelf> open(const std::string& root, const std::string& relative);
  ~DumpShelf() override;
  std::vector<int64_t> steps() override;
  std::vector<Entry> entries(int64_t step) override;
  std::optional<Entry> find(int64_t step, const std::string& name) override;
  // What was left out, and why.
  std::vector<std::string> problems() const;

 private:
  struct Step {
    std::vector<Entry> entries;
    std::vector<std::string> files;
    std::map<std::string, size_t> places;
  };
  explicit DumpShelf(int folder);
  const Step& step(int64_t number);
  Tensor load(int64_t step, const std::string& file, const Entry& e);
  void problem(std::string text);

  int folder_ = -1;
  mutable std::mutex mutex_;
  std::map<int64_t, Step> known_;
  std::vector<std::string> problems_;
};

// Opens a folder or file below `root` without following links; -1 when it is not there.
int open_below(const std::string& root, const std::string& relative, int flags);

}  // namespace mycel::insight::debug
