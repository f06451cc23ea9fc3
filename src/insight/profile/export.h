// A profile as text for a terminal, as JSON for the page, as trace events for Perfetto.
#pragma once

#include <string>

#include "insight/profile/analysis.h"

namespace mycel::insight::profile {

std::string text_of(const Profile& profile);

// A profile with everything that is computed from it once, for many questions.
struct Opened {
  explicit Opened(Profile p);
  Profile profile;
  Analysis analysis;
  std::vector<std::vector<Nested>> nested;  // by track, all slices
};

// {"traceEvents": […]}: slices of all threads ("X"), names of threads ("M"), memory and rows that
// are ready ("C"); opens in Perfetto and chrome://tracing.
std::string trace_of(const Profile& profile);

// Everything of the page but the timeline.
std::string summary_json(const Opened& opened);

// Slices for a timeline of `columns` pixels from one moment to another (ns), thread by thread and
// row by row. What is narrower than a pixel is joined with its neighbours. find: those whose name
// holds this text are marked, and none is joined with one that is not.
struct TimelineQuery {
  int64_t from = 0, to = 0;
  int columns = 1000;
  std::string find;
};
std::string slices_json(const Opened& opened, const TimelineQuery& query);

}  // namespace mycel::insight::profile
