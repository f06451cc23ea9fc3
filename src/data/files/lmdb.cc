#include "data/files/lmdb.h"

#include <cstring>
#include <filesystem>

#include <lmdb.h>

#include "base/error.h"
#include "data/index_progress.h"

namespace mycel::data {

// Read only and without a lock file: one transaction lasts as long as the values are used.
struct LmdbValues::Open {
  MDB_env* env = nullptr;
  MDB_txn* txn = nullptr;
  MDB_cursor* cursor = nullptr;
  ~Open() {
    if (cursor) mdb_cursor_close(cursor);
    if (txn) mdb_txn_abort(txn);
    if (env) mdb_env_close(env);
  }
};

LmdbValues::LmdbValues(const std::string& folder)
    : folder_(folder), open_(std::make_unique<Open>()) {
  const auto check = [&](int error) {
    if (error != 0)
      fail(ErrorKind::kOs, "'{}' cannot be read as an LMDB database: {}", folder,
           mdb_strerror(error));
  };
  const std::string file = folder + "/data.mdb";
  std::error_code no_file;
  const auto bytes = std::filesystem::file_size(file, no_file);
  if (no_file) fail(ErrorKind::kOs, "there is no file '{}'", file);
  check(mdb_env_create(&open_->env));
  check(mdb_env_open(open_->env, folder.c_str(), MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS, 0644));
  MDB_envinfo info{};
  MDB_stat stat{};
  check(mdb_env_info(open_->env, &info));
  check(mdb_env_stat(open_->env, &stat));
  // What lies behind the end of the file would end the program when it is read.
  const uint64_t pages = uint64_t{info.me_last_pgno} + 1;
  if (stat.ms_psize == 0 || pages > bytes / stat.ms_psize)
    fail(ErrorKind::kOs, "'{}' is truncated: it has {} bytes, {} pages of {} are promised", file,
         bytes, pages, stat.ms_psize);
  MDB_dbi all = 0;
  check(mdb_txn_begin(open_->env, nullptr, MDB_RDONLY, &open_->txn));
  check(mdb_dbi_open(open_->txn, nullptr, 0, &all));
  check(mdb_cursor_open(open_->txn, all, &open_->cursor));
  IndexBuild progress(folder, static_cast<int64_t>(stat.ms_entries));
  MDB_val key{}, value{};
  int state = mdb_cursor_get(open_->cursor, &key, &value, MDB_FIRST);
  for (; state == 0; state = mdb_cursor_get(open_->cursor, &key, &value, MDB_NEXT)) {
    values_.emplace_back(static_cast<const char*>(value.mv_data), value.mv_size);
    progress.at(size());
  }
  if (state != MDB_NOTFOUND) check(state);
  progress.finish(size());
}

LmdbValues::~LmdbValues() = default;

Tensor LmdbValues::value(int64_t i) const {
  const std::span<const char> v = values_[i];
  Tensor t = Tensor::empty(DType::kUInt8, {static_cast<int64_t>(v.size())});
  if (!v.empty()) std::memcpy(t.mutable_raw(), v.data(), v.size());
  return t;
}

}  // namespace mycel::data
