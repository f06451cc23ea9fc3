// The commands of `mycel`. Each file of this folder adds one to the program; main.cc lists them. A
// command prints its result to standard output; errors go to standard error with exit status 1 (2:
// wrong usage).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "tensor/tensor.h"

namespace mycel::cli {

void add_cache(CLI::App& app);
void add_codegen(CLI::App& app);
void add_convert(CLI::App& app);
void add_debug(CLI::App& app);
void add_insight(CLI::App& app);
void add_ir(CLI::App& app);
void add_predict(CLI::App& app);
void add_serve(CLI::App& app);
void add_runs(CLI::App& app);
void add_runs_profile(CLI::App& runs);  // below `mycel runs`
void add_version(CLI::App& app);

// Thrown by a command whose status says something other than success or an error.
struct ExitStatus {
  int status;
};

// The tensors named `names`, in that order, from a safetensors file; when the file holds exactly as
// many as there are names, theirs need not agree. ValueError naming the file.
Tensors inputs_from(const std::string& path, const std::vector<std::string>& names);

// Prints results, or writes them as "output0", … to `path` when it is given.
void deliver(const Tensors& results, const std::string& path);

}  // namespace mycel::cli
