// SQLite as far as the index needs it. Every error is an OSError that names the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace mycel::insight::store {

class Database;

// A prepared statement; used by one thread at a time. Texts and blobs are copied in, and views of
// results hold until the next step.
class Statement {
 public:
  Statement(Database& database, const char* sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();
  // Binds arguments from the first one on and starts anew.
  template <typename... A>
  Statement& with(const A&... args) {
    reset();
    int at = 0;
    (bind(++at, args), ...);
    return *this;
  }
  bool step();  // whether there is a row
  void run() {
    while (step()) {
    }
    reset();
  }
  int64_t integer(int column) const;
  double real(int column) const;
  bool null(int column) const;
  std::string_view bytes(int column) const;
  std::string text(int column) const { return std::string(bytes(column)); }
  void reset();

 private:
  void bind(int at, int64_t v);
  void bind(int at, int v) { bind(at, int64_t{v}); }
  void bind(int at, uint64_t v) { bind(at, static_cast<int64_t>(v)); }
  void bind(int at, double v);  // NaN becomes null
  void bind(int at, const std::string& v);
  void bind(int at, std::string_view v);  // a blob
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

class Database {
 public:
  // Makes the file unless `read_only`.
  Database(const std::string& path, bool read_only);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();
  void run(const char* sql);
  int64_t last_id() const;
  const std::string& path() const { return path_; }
  [[noreturn]] void fail() const;

 private:
  friend class Statement;
  std::string path_;
  sqlite3* handle_ = nullptr;
};

}  // namespace mycel::insight::store
