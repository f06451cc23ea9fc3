#include "train/terminal.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"

namespace mycel::train {
namespace {

// An eighth of a cell each, from the left and from below.
constexpr const char* kLeft[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr const char* kBelow[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* kShades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
constexpr int kLabelWidth = 12;

std::string repeat(const char* cell, int n) {
  std::string s;
  for (int i = 0; i < n; ++i) s += cell;
  return s;
}

// The mean of what falls into each of `columns` columns; not a number where nothing finite does.
std::vector<double> resample(const std::vector<double>& values, int columns) {
  std::vector<double> out(columns, std::numeric_limits<double>::quiet_NaN());
  auto n = static_cast<double>(values.size());
  for (int c = 0; c < columns && !values.empty(); ++c) {
    auto from = static_cast<size_t>(c * n / columns);
    auto to = std::max(from + 1, static_cast<size_t>((c + 1) * n / columns));
    double sum = 0;
    int count = 0;
    for (size_t i = from; i < std::min(to, values.size()); ++i) {
      if (std::isfinite(values[i])) sum += values[i], ++count;
    }
    if (count) out[c] = sum / count;
  }
  return out;
}

std::string label(double v) { return fmt::format("{:>{}.4g} ", v, kLabelWidth - 1); }

void draw(const Series& s, int columns, int height, std::string& out) {
  std::vector<double> v = resample(s.values, columns);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (double x : v) {
    if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
  }
  out += repeat(" ", kLabelWidth) + s.name + "\n";
  if (!std::isfinite(low)) {
    out += repeat(" ", kLabelWidth) + "(no finite numbers)\n";
    return;
  }
  for (int row = height - 1; row >= 0; --row) {
    out += row == height - 1 ? label(high) : row == 0 ? label(low) : repeat(" ", kLabelWidth);
    std::string line;
    for (double x : v) {
      // The lowest value still shows an eighth, so that it is told from a gap.
      double level = high > low ? (x - low) / (high - low) : 1;
      double eighths = std::isfinite(x) ? 1 + level * (8 * height - 1) - 8 * row : 0;
      line += kBelow[std::clamp(static_cast<int>(std::lround(eighths)), 0, 8)];
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
}

// How many columns a line takes: the characters that are no UTF-8 continuation.
int columns_of(const std::string& s) {
  return static_cast<int>(
      std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string bar(double done, int width) {
  double cells = std::clamp(std::isfinite(done) ? done : 0.0, 0.0, 1.0) * width;
  int whole = static_cast<int>(cells);
  std::string s = repeat("█", whole);
  int eighths = static_cast<int>((cells - whole) * 8);
  s += kLeft[eighths];
  return s + repeat(" ", width - whole - (eighths ? 1 : 0));
}

std::string curve(std::span<const Series> series, int width, int height) {
  if (width < 20) value_error("curve: 'width' must be at least 20, got {}", width);
  if (height < 1) value_error("curve: 'height' must be at least 1, got {}", height);
  size_t longest = 0;
  for (const Series& s : series) longest = std::max(longest, s.values.size());
  // Short runs get several cells a value; a column never mixes values while there is room.
  int room = width - kLabelWidth;
  auto n = static_cast<int>(std::min<size_t>(longest, 1 << 20));
  int columns = n > 0 && n < room ? n * std::min(4, room / n) : room;
  std::string out;
  for (const Series& s : series) draw(s, columns, height, out);
  return out;
}

std::string picture(std::span<const float> values, int rows, int columns, double white) {
  if (rows < 0 || columns < 0 || values.size() != static_cast<size_t>(rows) * columns) {
    value_error("picture: {} values for {} rows of {}", values.size(), rows, columns);
  }
  std::string out;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      double v = std::clamp(values[r * columns + c] / white, 0.0, 1.0);
      out += kShades[std::isfinite(v) ? static_cast<int>(std::lround(v * 4)) : 0];
    }
    out += "\n";
  }
  return out;
}

bool is_terminal(std::FILE* out) {
  const char* term = std::getenv("TERM");
  return isatty(fileno(out)) && !(term && std::string(term) == "dumb");
}

int terminal_width(std::FILE* out) {
  winsize size{};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

Screen::Screen(std::FILE* out) : out_(out), live_(is_terminal(out)), width_(terminal_width(out)) {}

Screen::~Screen() {
  if (shown_) std::fputs("\n", out_);
  std::fflush(out_);
}

void Screen::erase() {
  if (shown_) std::fputs("\r\033[K", out_);
  shown_ = false;
}

void Screen::show(const std::string& line) {
  // A line that wraps could not be written over.
  if (!live_ || columns_of(line) >= width_) return;
  erase();
  std::fputs(line.c_str(), out_);
  std::fflush(out_);
  shown_ = true;
}

void Screen::print(const std::string& text) {
  erase();
  std::fputs(text.c_str(), out_);
  if (text.empty() || text.back() != '\n') std::fputs("\n", out_);
  std::fflush(out_);
}

}  // namespace mycel::train
