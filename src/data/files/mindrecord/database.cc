#include "data/files/mindrecord/database.h"

#include <sqlite3.h>
#include <unistd.h>

#include "base/error.h"

namespace mycel::data {

Database::Database(const std::string& path, Mode mode) : path_(path) {
  const int flags =
      SQLITE_OPEN_NOMUTEX | (mode == Mode::kRead     ? SQLITE_OPEN_READONLY
                             : mode == Mode::kChange ? SQLITE_OPEN_READWRITE
                                                     : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (mode != Mode::kCreate && ::access(path.c_str(), R_OK) != 0)
    fail(ErrorKind::kOs, "there is no file '{}', the index of a MindRecord file", path);
  if (sqlite3_open_v2(path.c_str(), &db_, flags, nullptr) != SQLITE_OK) {
    const std::string why = db_ ? sqlite3_errmsg(db_) : "out of memory";
    sqlite3_close(db_);
    fail(ErrorKind::kOs, "cannot open the index '{}': {}", path, why);
  }
}

Database::~Database() { sqlite3_close(db_); }

void Database::broken() const {
  fail(ErrorKind::kOs, "the index '{}' cannot be used: {}", path_, sqlite3_errmsg(db_));
}

void Database::run(const std::string& sql) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) broken();
}

Database::Statement::Statement(Database* db, const std::string& sql) : db_(db) {
  if (sqlite3_prepare_v2(db->db_, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) db->broken();
}
Database::Statement::~Statement() { sqlite3_finalize(statement_); }

void Database::Statement::bind(int at, int64_t v) {
  if (sqlite3_bind_int64(statement_, at, v) != SQLITE_OK) db_->broken();
}
void Database::Statement::bind(int at, double v) {
  if (sqlite3_bind_double(statement_, at, v) != SQLITE_OK) db_->broken();
}
void Database::Statement::bind(int at, const std::string& v) {
  if (sqlite3_bind_text(statement_, at, v.data(), static_cast<int>(v.size()), SQLITE_TRANSIENT) !=
      SQLITE_OK)
    db_->broken();
}

bool Database::Statement::step() {
  const int state = sqlite3_step(statement_);
  if (state == SQLITE_ROW) return true;
  if (state != SQLITE_DONE) db_->broken();
  sqlite3_reset(statement_);
  return false;
}

int64_t Database::Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
std::string Database::Statement::text(int column) const {
  const auto* p = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return p ? std::string(p, sqlite3_column_bytes(statement_, column)) : std::string();
}

}  // namespace mycel::data
