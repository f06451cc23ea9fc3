// Drawing in a terminal: a progress line that is written over itself, a curve of Unicode blocks, a
// picture of grey values. The drawings are plain strings, so that Python and C++ programs show the
// same; Screen writes them, and where its output is no terminal it writes only what stays, one line
// at a time.
#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace mycel::train {

// `done` of 1 in `width` cells, to an eighth of a cell.
std::string bar(double done, int width);

// One named line of numbers.
struct Series {
  std::string name;
  std::vector<double> values;
};
// The series as columns of blocks, one below the other on a common width, with the range of each at
// its left. Numbers that are not finite leave a gap. ValueError for a width below 20 or a height
// below 1.
std::string curve(std::span<const Series> series, int width, int height);

// Grey values, row by row, 0 (blank) to `white` (full), as shades two characters wide. ValueError
// when the values are not rows * columns.
std::string picture(std::span<const float> values, int rows, int columns, double white);

// Columns of the terminal at `out`; 80 when it is none.
int terminal_width(std::FILE* out);
// Whether lines may be written over: a terminal that is not TERM=dumb.
bool is_terminal(std::FILE* out);

class Screen {
 public:
  explicit Screen(std::FILE* out = stdout);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Replaces the passing line at the bottom; nothing where there is no terminal.
  void show(const std::string& line);
  // Writes lines that stay, above the passing one.
  void print(const std::string& text);
  bool live() const { return live_; }
  int width() const { return width_; }

 private:
  void erase();
  std::FILE* out_;
  bool live_, shown_ = false;
  int width_;
};

}  // namespace mycel::train
