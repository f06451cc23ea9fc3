#include "base/error.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include <execinfo.h>

namespace mycel {
namespace {

constexpr int kMaxLines = 8;

// The last path component chain from src/ on, so that messages never show where the tree was built.
const char* short_path(const char* file) {
  const char* found = std::strstr(file, "/src/");
  return found ? found + 1 : file;
}

}  // namespace

UserError::UserError(ErrorKind kind, std::string message, std::string hint)
    : kind_(kind), message_(std::move(message)), hint_(std::move(hint)) {
  render();
}

void UserError::prefix(const std::string& text) {
  message_ = text + message_;
  render();
}

void UserError::name(const std::string& owner) {
  if (message_.find(owner) == std::string::npos) prefix(owner + ": ");
}

void UserError::set_where(std::string where) {
  if (!where_.empty()) return;
  where_ = std::move(where);
  render();
}

void UserError::set_hint(std::string hint) {
  if (!hint_.empty()) return;
  hint_ = std::move(hint);
  render();
}

void UserError::render() {
  full_ = message_;
  if (!where_.empty()) full_ += "\n  " + where_;
  if (!hint_.empty()) full_ += "\n  " + hint_;
  size_t at = 0;
  for (int line = 0; line < kMaxLines; ++line) {
    at = full_.find('\n', at);
    if (at == std::string::npos) return;
    ++at;
  }
  full_.resize(at - 1);
}

void internal_error(const char* file, int line, const char* condition, std::string text) {
  std::string full = fmt::format("internal error at {}:{}: {} (check failed: {})", short_path(file),
                                 line, text, condition);
  const char* debug = std::getenv("MYCEL_DEBUG");
  if (debug && *debug == '1') {
    void* frames[64];
    int count = backtrace(frames, 64);
    char** names = backtrace_symbols(frames, count);
    for (int i = 1; names && i < count; ++i) full += fmt::format("\n  {}", names[i]);
    std::free(names);
  }
  throw InternalError(std::move(full));
}

std::string did_you_mean(const std::string& given, const char* const* candidates, size_t count) {
  std::string best;
  size_t best_distance = given.size() / 3 + 1;  // a slip, not another word
  for (size_t c = 0; c < count; ++c) {
    const std::string name = candidates[c];
    std::vector<size_t> row(name.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= given.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= name.size(); ++j) {
        size_t change = diagonal + (std::tolower(given[i - 1]) != std::tolower(name[j - 1]));
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
      }
    }
    if (row.back() <= best_distance && (best.empty() || row.back() < best_distance)) {
      best = name;
      best_distance = row.back();
    }
  }
  return best;
}

}  // namespace mycel
