// SQLite (https://sqlite.org/c3ref/intro.html), as little of it as the index of a MindRecord file
// needs. One thread at a time. Errors are OsErrors naming the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tensor/tensor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace mycel::data {

class Database {
 public:
  enum class Mode { kRead, kCreate, kChange };
  Database(const std::string& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& sql);

  // A prepared statement; `?` are bound by place from 1.
  class Statement {
   public:
    Statement(Database* db, const std::string& sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    void bind(int at, int64_t v);
    void bind(int at, double v);
    void bind(int at, const std::string& v);
    // True when there is a row; false at the end, after which it can be bound anew.
    bool step();
    int64_t integer(int column) const;
    std::string text(int column) const;

   private:
    Database* db_;
    sqlite3_stmt* statement_ = nullptr;
  };

 private:
  [[noreturn]] void broken() const;
  std::string path_;
  sqlite3* db_ = nullptr;
};

}  // namespace mycel::data
