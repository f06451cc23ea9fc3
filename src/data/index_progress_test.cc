#include "data/index_progress.h"

#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

namespace mycel::data {
namespace {

TEST(IndexProgress, ABarFitsIntoItsLine) {
  EXPECT_EQ(progress_bar("a.tar", 1, 4, 79), "indexing a.tar [######..................]  25 %");
  EXPECT_EQ(progress_bar("a.tar", 12345, -1, 79), "indexing a.tar: 12345");
  for (size_t width = 0; width < 100; ++width)
    EXPECT_LE(progress_bar("/a/long/path/of/a/folder", 9, 9, width).size(), width);
  EXPECT_EQ(progress_bar("/a/long/path/of/a/folder", 9, 9, 50).find("...th/of/a/folder [####"), 0u);
}

// What a build of `seconds` writes where stderr is a terminal.
std::string written(double seconds) {
  int terminal = 0, other = 0;
  EXPECT_EQ(openpty(&terminal, &other, nullptr, nullptr, nullptr), 0);
  const int before = dup(STDERR_FILENO);
  dup2(other, STDERR_FILENO);
  {
    IndexBuild build("files", 100);
    for (int i = 0; i < 64; ++i) build.at(10);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    for (int i = 0; i < 64; ++i) build.at(50);
    build.finish(100);
  }
  dup2(before, STDERR_FILENO);
  close(before);
  if (write(other, "\n", 1) != 1) return "";
  // A terminal hands over what was written in pieces of its own choice.
  std::string all;
  char text[4096];
  while (!all.ends_with("\n")) {
    const ssize_t n = read(terminal, text, sizeof text);
    if (n <= 0) break;
    all.append(text, static_cast<size_t>(n));
  }
  close(other);
  close(terminal);
  return all;
}

TEST(IndexProgress, OnlyLongBuildsDrawABarAndItGoesInTheEnd) {
  EXPECT_EQ(written(0), "\r\n");
  const std::string text = written(0.55);
  EXPECT_NE(text.find("indexing files [############............]  50 %"), text.npos) << text;
  EXPECT_TRUE(text.ends_with("\r\033[K\r\n")) << text;
}

}  // namespace
}  // namespace mycel::data
