#include "train/terminal.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"

namespace mycel::train {
namespace {

TEST(Terminal, ABarFillsByEighths) {
  EXPECT_EQ(bar(0, 4), "    ");
  EXPECT_EQ(bar(0.5, 4), "██  ");
  EXPECT_EQ(bar(0.53125, 4), "██▏ ");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(7, 4), "████");
  EXPECT_EQ(bar(std::numeric_limits<double>::quiet_NaN(), 2), "  ");
}

TEST(Terminal, ACurveShowsRangeAndShape) {
  const Series s[] = {{"loss", {0, 1}}};
  EXPECT_EQ(curve(s, 20, 1), "            loss\n          1 ▁▁▁▁████\n");
  const Series gap[] = {{"x", {std::numeric_limits<double>::infinity()}}};
  EXPECT_EQ(curve(gap, 20, 1), "            x\n            (no finite numbers)\n");
  EXPECT_THROW(curve(s, 10, 1), UserError);
}

TEST(Terminal, APictureUsesFiveShades) {
  const float v[] = {0, 4, 8, 16};
  EXPECT_EQ(picture(v, 2, 2, 16), "  ░░\n▒▒██\n");
  EXPECT_THROW(picture(v, 3, 2, 16), UserError);
}

TEST(Terminal, WithoutATerminalOnlyLinesThatStayAreWritten) {
  std::FILE* file = std::tmpfile();
  {
    Screen screen(file);
    screen.show("passing");
    screen.print("stays");
    EXPECT_FALSE(screen.live());
  }
  std::rewind(file);
  char text[64] = {};
  size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  EXPECT_EQ(std::string(text, n), "stays\n");
}

}  // namespace
}  // namespace mycel::train
