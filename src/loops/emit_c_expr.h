// Expressions as C99 text, and the helper functions that they need.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "loops/expr.h"

namespace mycel::loops {

// "float", "int32_t", …; bool is uint8_t.
const char* c_type(DType t);
// The type of an element in memory: float16 and bfloat16 are uint16_t.
const char* c_memory_type(DType t);

// e and everything it depends on.
void collect_used(const Expr* e, std::set<const Expr*>* used);

class CExpressions {
 public:
  // The text of one node; operands by ref().
  std::string text(const Expr* e);
  std::string ref(const Expr* e);
  // Conversions between memory and register form of 16-bit floats and bool.
  std::string from_memory(const std::string& element, DType stored);
  std::string to_memory(const std::string& value, DType stored);
  // Helpers used so far, in an order in which they compile.
  const std::string& helpers() const { return helpers_; }

 private:
  bool need(const std::string& key);  // true the first time
  void helper(const std::string& name, const std::string& definition);
  std::string bits(DType t);  // union helper between a float type and its word
  std::string wrapping(const Expr* e, const char* op);
  std::string guarded_integer(const Expr* e);
  std::string shift(const Expr* e);
  std::string min_max(const Expr* e);
  std::string cast(const Expr* e);
  std::string real(const Expr* e);
  std::string function(const Expr* e);
  void formula(const std::string& name, const Expr* e);

  std::set<std::string> known_;
  std::string helpers_;
};

}  // namespace mycel::loops
