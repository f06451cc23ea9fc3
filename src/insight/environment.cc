// Facts about the machine and the process that a run is recorded in.
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <unistd.h>

#include "insight/recorder.h"
#include "mycel/version.h"

namespace mycel::insight {
namespace {

// The value of the first line "<key> : <value>" of a file of /proc.
std::string field_of(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const size_t at = line.find_first_not_of(" \t", line.find(':') + 1);
    return at == line.npos ? "" : line.substr(at);
  }
  return "";
}

std::string command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string all((std::istreambuf_iterator<char>(in)), {});
  while (!all.empty() && all.back() == '\0') all.pop_back();
  for (char& c : all) {
    if (c == '\0') c = ' ';
  }
  return all;
}

}  // namespace

std::string environment_json() {
  nlohmann::ordered_json out;
  utsname system{};
  if (uname(&system) == 0) {
    out["host"] = system.nodename;
    out["system"] = std::string(system.sysname) + " " + system.release + " " + system.machine;
  }
  out["processor"] = field_of("/proc/cpuinfo", "model name");
  out["cores"] = std::thread::hardware_concurrency();
  out["memory"] = field_of("/proc/meminfo", "MemTotal");
  out["mycel"] = version();
  out["process"] = getpid();
  out["command"] = command_line();
  char folder[4096];
  if (getcwd(folder, sizeof folder)) out["folder"] = folder;
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace mycel::insight
