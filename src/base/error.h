// Errors. Two kinds, as in DESIGN §5: UserError is the user's mistake (wrong shape, missing file)
// and carries the parts of a readable report; InternalError (MYCEL_CHECK) is ours. Python maps
// ErrorKind to the matching built-in exception. A throw site gives the message and, where it helps,
// a hint; the dispatcher and the front ends add the operands and the user's source line on the way
// out.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace mycel {

enum class ErrorKind {
  kValue,        // ValueError: right type, wrong value (shape, range, label)
  kType,         // TypeError: wrong dtype or argument kind
  kIndex,        // IndexError
  kKey,          // KeyError
  kAttribute,    // AttributeError
  kRuntime,      // RuntimeError: wrong state
  kOs,           // OSError: files, disk
  kMemory,       // MemoryError
  kUnsupported,  // NotImplementedError: listed in docs/coverage.md
  kInterrupted,  // KeyboardInterrupt
};

class UserError : public std::exception {
 public:
  UserError(ErrorKind kind, std::string message, std::string hint = {});

  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }
  const std::string& where() const { return where_; }

  // Adds context while the error travels outwards. `where` is "file:line in function" plus, on
  // further lines, the source text and caret; the first (innermost) one given is kept.
  void prefix(const std::string& text);
  // Opens the message with "owner: ", unless it names the owner already.
  void name(const std::string& owner);
  void set_where(std::string where);
  void set_hint(std::string hint);

  // message [\n where] [\n hint]; at most 8 lines.
  const char* what() const noexcept override { return full_.c_str(); }

 private:
  void render();
  ErrorKind kind_;
  std::string message_, hint_, where_, full_;
};

// A broken invariant of Mycel itself. what() names file and line; the stack is printed only when
// MYCEL_DEBUG=1.
class InternalError : public std::exception {
 public:
  explicit InternalError(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

template <typename... A>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<A...> f, A&&... a) {
  throw UserError(kind, fmt::format(f, std::forward<A>(a)...));
}
template <typename... A>
[[noreturn]] void value_error(fmt::format_string<A...> f, A&&... a) {
  throw UserError(ErrorKind::kValue, fmt::format(f, std::forward<A>(a)...));
}
template <typename... A>
[[noreturn]] void type_error(fmt::format_string<A...> f, A&&... a) {
  throw UserError(ErrorKind::kType, fmt::format(f, std::forward<A>(a)...));
}

[[noreturn]] void internal_error(const char* file, int line, const char* condition,
                                 std::string text);

// Checks an invariant of ours; never used for what a user can cause. The text is mandatory.
#define MYCEL_CHECK(condition, ...) \
  (static_cast<bool>(condition)     \
       ? void()                     \
       : ::mycel::internal_error(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)))

// The name in `candidates` nearest to `given` in edit distance when near enough to be a slip, or
// "".
std::string did_you_mean(const std::string& given, const char* const* candidates, size_t count);

}  // namespace mycel
