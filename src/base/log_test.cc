#include "base/log.h"

#include <map>
#include <regex>

#include <gtest/gtest.h>

#include "base/error.h"

namespace mycel {
namespace {

LogSettings from(const std::map<std::string, std::string>& variables) {
  return read_log_settings([&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

class Log : public testing::Test {
 protected:
  void TearDown() override { set_log({}); }
};

TEST_F(Log, SilentByDefault) {
  set_log(from({}));
  testing::internal::CaptureStderr();
  log(Level::kError, "compile", "must not be seen");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(log_enabled("compile", Level::kError));
}

TEST_F(Log, ChannelsAreChosen) {
  set_log(from({{"MYCEL_LOG", "compile,data"}}));
  EXPECT_TRUE(log_enabled("compile"));
  EXPECT_TRUE(log_enabled("data", Level::kWarning));
  EXPECT_FALSE(log_enabled("data", Level::kDebug));
  EXPECT_FALSE(log_enabled("runtime", Level::kError));
  testing::internal::CaptureStderr();
  log(Level::kInfo, "compile", "12 kernels {} %d");
  log(Level::kInfo, "runtime", "must not be seen");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(std::regex_match(
      text, std::regex(R"(\d\d:\d\d:\d\d\.\d{3} info compile: 12 kernels \{\} %d\n)")))
      << text;
}

TEST_F(Log, LevelAloneEnablesAllChannels) {
  set_log(from({{"MYCEL_LOG_LEVEL", "warning"}}));
  EXPECT_TRUE(log_enabled("anything", Level::kWarning));
  EXPECT_FALSE(log_enabled("anything", Level::kInfo));
  set_log(from({{"GLOG_v", "0"}}));
  EXPECT_TRUE(log_enabled("anything", Level::kDebug));
  set_log(from({{"GLOG_v", "4"}}));
  EXPECT_FALSE(log_enabled("anything", Level::kError));
  set_log(from({{"MYCEL_LOG", "all"}, {"MYCEL_LOG_LEVEL", "debug"}}));
  EXPECT_TRUE(log_enabled("anything", Level::kDebug));
}

TEST_F(Log, WhatProgramsLogThemselvesNeedsNoChannel) {
  set_log(from({}));
  EXPECT_TRUE(log_enabled("user", Level::kWarning));
  EXPECT_FALSE(log_enabled("user", Level::kInfo));
  set_log(from({{"MYCEL_LOG", "compile"}}));
  EXPECT_TRUE(log_enabled("user", Level::kError));
  EXPECT_FALSE(log_enabled("user", Level::kInfo));
  set_log(from({{"GLOG_v", "0"}}));
  EXPECT_TRUE(log_enabled("user", Level::kDebug));
  set_log(from({{"MYCEL_LOG_LEVEL", "off"}}));
  EXPECT_FALSE(log_enabled("user", Level::kError));
}

TEST_F(Log, BadLevelIsNamed) {
  try {
    from({{"MYCEL_LOG_LEVEL", "loud"}});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(),
                 "MYCEL_LOG_LEVEL=loud in the environment: expected one of debug, info, warning, "
                 "error, off");
  }
  EXPECT_THROW(from({{"GLOG_v", "7"}}), UserError);
}

}  // namespace
}  // namespace mycel
