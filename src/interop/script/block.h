// Blocks: the modules of a network as a tree. Each is a class of its own, a chain (SequentialCell)
// or a list that is walked (CellList); a group of units that cannot be cut out of the data flow is
// no block.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interop/script/unit.h"

namespace mycel::interop::script {

struct Block;

struct Item {
  Unit* unit = nullptr;  // or a block
  std::unique_ptr<Block> block;
  std::string name;  // of the module: "conv1", "0"; "" where nobody named it
  std::string attr;  // in the class around it, when it has one
  bool made = true;  // false: the attribute is another item's, which is the same
};

struct Block {
  enum class Kind : uint8_t { kClass, kChain, kList };
  Kind kind = Kind::kClass;
  Path path;
  std::vector<Item> items;
  std::vector<ValueId> inputs, outputs;
  // Of a list: the places of the inputs, alike in all items; what is carried from item to item is
  // inputs[carried].
  size_t carried = 0;

  int class_of = -1;          // index of its class
  std::vector<Literal> args;  // what its class is made with
};

// The tree of all units; paths that the data flow contradicts are given up.
std::unique_ptr<Block> build_blocks(Network& network);

std::vector<ValueId> reads_of(const Unit& u);

}  // namespace mycel::interop::script
