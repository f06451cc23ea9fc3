// protozero, whose checks of wire types throw instead of ending the program: event files may be
// damaged or hostile.
#pragma once

#include <stdexcept>

#define protozero_assert(condition) \
  ((condition) ? void() : throw std::runtime_error("a field has another wire type"))

#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_message.hpp>
