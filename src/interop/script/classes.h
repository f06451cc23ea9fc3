// Python classes from blocks: blocks that read alike but for literals are instances of one class,
// and the literals that differ are its arguments.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "interop/script/block.h"

namespace mycel::interop::script {

struct Script {
  std::string classes;  // the class definitions, the network's last
  std::string network;  // its name
  int class_count = 0;
  std::map<std::string, int> instances;  // of each class
  runtime::NamedTensors weights;         // by the names of the cell's parameters
  bool internal_ops = false;             // `op` must be imported
};

Script write_classes(const Network& network, Block& root, const std::string& name,
                     const std::string& doc);

}  // namespace mycel::interop::script
