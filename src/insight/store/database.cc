#include "insight/store/database.h"

#include <cmath>

#include <sqlite3.h>

#include "base/error.h"

namespace mycel::insight::store {

Statement::Statement(Database& database, const char* sql) : database_(database) {
  if (sqlite3_prepare_v3(database.handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_,
                         nullptr) != SQLITE_OK)
    database.fail();
}

Statement::~Statement() { sqlite3_finalize(statement_); }

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail();
  return false;
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Statement::real(int column) const {
  return null(column) ? std::nan("") : sqlite3_column_double(statement_, column);
}

bool Statement::null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::string_view Statement::bytes(int column) const {
  const auto* p = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return {p, p ? static_cast<size_t>(sqlite3_column_bytes(statement_, column)) : 0};
}

void Statement::reset() { sqlite3_reset(statement_); }

void Statement::bind(int at, int64_t v) { sqlite3_bind_int64(statement_, at, v); }

void Statement::bind(int at, double v) { sqlite3_bind_double(statement_, at, v); }

void Statement::bind(int at, const std::string& v) {
  sqlite3_bind_text64(statement_, at, v.data(), v.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bind(int at, std::string_view v) {
  sqlite3_bind_blob64(statement_, at, v.data(), v.size(), SQLITE_TRANSIENT);
}

Database::Database(const std::string& path, bool read_only) : path_(path) {
  const int flags = SQLITE_OPEN_NOMUTEX |
                    (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    const std::string why = handle_ ? sqlite3_errmsg(handle_) : "no memory";
    sqlite3_close(handle_);
    mycel::fail(ErrorKind::kOs, "'{}': {}", path, why);
  }
  sqlite3_busy_timeout(handle_, 5000);
}

Database::~Database() { sqlite3_close(handle_); }

void Database::run(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

int64_t Database::last_id() const { return sqlite3_last_insert_rowid(handle_); }

void Database::fail() const {
  mycel::fail(ErrorKind::kOs, "'{}': {}", path_, sqlite3_errmsg(handle_));
}

}  // namespace mycel::insight::store
