// Settings and counters of the process: random state, mode, threads, memory.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/config.h"
#include "base/error.h"
#include "base/process_groups.h"
#include "base/threads.h"
#include "bind/python.h"
#include "bind/tensor_object.h"
#include "runtime/dispatch.h"
#include "runtime/random_state.h"
#include "tensor/storage.h"

namespace mycel::bind {

void bind_state(nb::module_& m) {
  m.def("set_seed", &runtime::set_seed, nb::arg("seed"));
  m.def("random_state", [] {
    runtime::RandomState s = runtime::random_state();
    return nb::make_tuple(s.seed, s.counter);
  });
  m.def(
      "set_random_state",
      [](uint64_t seed, uint64_t counter) { runtime::set_random_state({seed, counter}); },
      nb::arg("seed"), nb::arg("counter"));
  m.def(
      "next_key", [](uint64_t op_seed) { return nb::steal(wrap(runtime::next_key(op_seed))); },
      nb::arg("op_seed") = 0);
  m.def(
      "derive_key",
      [](uint64_t seed, uint64_t stream) {
        return nb::steal(wrap(runtime::derive_key(seed, stream)));
      },
      nb::arg("seed"), nb::arg("stream"));
  m.def("graph_mode", [] { return mode() == Mode::kGraph; });
  m.def(
      "set_graph_mode", [](bool on) { set_mode(on ? Mode::kGraph : Mode::kEager); }, nb::arg("on"));
  m.def("deterministic", &deterministic);
  m.def("set_deterministic", &set_deterministic, nb::arg("on"));
  m.def("thread_count", &thread_count);
  m.def("set_thread_count", &set_thread_count, nb::arg("n"));
  m.def("dispatch_stats", [] {
    runtime::DispatchStats s = runtime::dispatch_stats();
    nb::dict d;
    d["signatures"] = s.signatures;
    d["hits"] = s.hits;
    d["misses"] = s.misses;
    return d;
  });
  m.def("clear_dispatch_cache", &runtime::clear_dispatch_cache);
  m.def("memory_stats", [] {
    AllocatorStats s = allocator_stats();
    nb::dict d;
    d["in_use"] = s.in_use;
    d["peak"] = s.peak;
    d["cached"] = s.cached;
    return d;
  });
  m.def("reset_memory_peak", &reset_allocator_peak);
  m.def("release_cached_memory", &release_cached_memory);
  m.def(
      "group",
      [](const std::string& name) {
        ProcessGroup g = group_named(name);
        return nb::make_tuple(nb::cast(g.ranks), g.rank);
      },
      nb::arg("name"), "(ranks in the world, this process's place) of a group of processes.");
  m.def("create_group", create_group, nb::arg("name"), nb::arg("ranks"));
  m.def("destroy_group", destroy_group, nb::arg("name"));
}

}  // namespace mycel::bind
