#include "base/config.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"

namespace mycel {
namespace {

Config from(const std::map<std::string, std::string>& variables) {
  return read_config([&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

std::string error_of(const std::map<std::string, std::string>& variables) {
  try {
    from(variables);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Config, PublishedDefaults) {
  const Config c = from({});
  EXPECT_EQ(c.mode, Mode::kGraph);
  EXPECT_FALSE(c.debug);
  EXPECT_FALSE(c.deterministic);
}

TEST(Config, EnvironmentSetsEach) {
  const Config c =
      from({{"MYCEL_MODE", "eager"}, {"MYCEL_DEBUG", "1"}, {"MYCEL_DETERMINISTIC", "1"}});
  EXPECT_EQ(c.mode, Mode::kEager);
  EXPECT_TRUE(c.debug);
  EXPECT_TRUE(c.deterministic);
  EXPECT_EQ(from({{"MYCEL_MODE", ""}}).mode, Mode::kGraph);
}

TEST(Config, BadValuesAreNamed) {
  EXPECT_EQ(error_of({{"MYCEL_MODE", "grph"}}),
            "MYCEL_MODE=grph in the environment: expected graph or eager\n  Did you mean 'graph'?");
  EXPECT_EQ(error_of({{"MYCEL_DEBUG", "maybe"}}),
            "MYCEL_DEBUG=maybe in the environment: expected 0 or 1");
}

TEST(Config, ChangesInCode) {
  const Mode before = mode();
  set_mode(Mode::kEager);
  EXPECT_EQ(mode(), Mode::kEager);
  set_mode(before);
  const bool was = deterministic();
  set_deterministic(!was);
  EXPECT_EQ(deterministic(), !was);
  set_deterministic(was);
}

}  // namespace
}  // namespace mycel
