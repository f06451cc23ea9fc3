#include "interop/onnx/expression.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"

namespace mycel::interop::onnx {
namespace {

class Parser {
 public:
  Parser(std::string_view text, Writing& w) : text_(text), w_(w) {}

  std::string value() {
    space();
    bool negative = at_ < text_.size() && text_[at_] == '-';
    if (negative) ++at_;
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])))
      return number(negative ? -1 : 1);
    std::string name = word();
    space();
    if (at_ < text_.size() && text_[at_] == '(') return call(name);
    for (size_t i = 0; i < w_.node.op->inputs.size(); ++i) {
      if (w_.node.op->inputs[i].name == name) return w_.in(static_cast<int>(i));
    }
    double v = w_.attrs[name].real() * (negative ? -1 : 1);
    return w_.number(v, w_.dtype(0));
  }

 private:
  void space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  std::string word() {
    size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    MYCEL_CHECK(at_ > from, "the line \"{}\" breaks at {}", text_, at_);
    return std::string(text_.substr(from, at_ - from));
  }
  std::string number(double sign) {
    size_t used = 0;
    double v = std::stod(std::string(text_.substr(at_)), &used);
    at_ += used;
    return w_.number(sign * v, w_.dtype(0));
  }
  std::string call(const std::string& op) {
    std::vector<std::string> in;
    ++at_;
    for (;;) {
      in.push_back(value());
      space();
      MYCEL_CHECK(at_ < text_.size(), "the line \"{}\" has no end", text_);
      if (text_[at_++] == ')') break;
    }
    return w_.emit(op.c_str(), in);
  }

  std::string_view text_;
  Writing& w_;
  size_t at_ = 0;
};

}  // namespace

bool is_expression(std::string_view line) { return line.starts_with("="); }

std::string write_expression(std::string_view line, Writing& w) {
  line.remove_prefix(1);
  while (true) {
    size_t bar = line.find('|');
    std::string_view form = line.substr(0, bar);
    form.remove_prefix(std::min(form.find_first_not_of(' '), form.size()));
    bool for_ints = form.starts_with("int ");
    if (for_ints) form.remove_prefix(4);
    if (!for_ints || is_int(w.dtype(0))) return Parser(form, w).value();
    MYCEL_CHECK(bar != std::string_view::npos, "the line \"{}\" is for integers alone", line);
    line.remove_prefix(bar + 1);
  }
}

}  // namespace mycel::interop::onnx
