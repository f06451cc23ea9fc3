// A network's file as a program: a readable Python module that builds the network from layers, a
// weight file for it, and a report of what became what. What the file only lists one by one is
// found again: modules from the names of nodes and weights, layers from groups of nodes, one class
// for modules that are alike.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/model_file.h"
#include "tensor/shape.h"

namespace mycel::interop {

struct ScriptOptions {
  std::string name;                     // of the class; "": from the file's name
  std::map<std::string, Shape> shapes;  // extents of inputs, as in the converter
};

struct ScriptReport {
  std::string network;  // name of its class
  int nodes = 0;        // of the graph
  int in_layers = 0;    // of these: in layers of mycel.nn
  int layers = 0, calls = 0, parameters = 0, classes = 0, lines = 0;
  int64_t weights = 0;  // numbers in the weight file
  std::vector<std::string> notes;
};

// Writes <name>.py, <name>.safetensors, report.md and report.json into `folder`, which is made.
// UserError kUnsupported naming the node that has no words in Python (the report is written all the
// same), kOs, kValue for a damaged file.
ScriptReport onnx_to_script(const std::string& path, const std::string& folder,
                            const ScriptOptions& options = {});
ScriptReport model_to_script(const runtime::TracedModel& model, const std::string& source,
                             const std::string& folder, const ScriptOptions& options = {});

}  // namespace mycel::interop
