// The index of an archive: paths of its files, sorted, and the folders they make.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/files/folder.h"

namespace mycel::data {

struct Member {
  std::string path;     // of a folder: with '/' at the end
  uint64_t offset = 0;  // of a tar: where its bytes begin; of a zip: its number
  uint64_t size = 0;
};

class ArchiveTree : public Tree {
 public:
  const std::string& root() const override { return root_; }
  Kind kind(const std::string& path) const override;
  std::vector<FolderEntry> list(const std::string& path) const override;
  std::vector<std::string> files() const override;

 protected:
  // The last of several members with one path counts, as when they are unpacked.
  ArchiveTree(std::string root) : root_(std::move(root)) {}
  void set_members(std::vector<Member> in_order);
  const Member& member(const std::string& path) const;

 private:
  // The first member not below `path`.
  std::vector<Member>::const_iterator find(const std::string& path) const;
  std::string root_;
  std::vector<Member> members_;  // sorted by path
};

// Without "./" and "/" in front; "" for what is no path (the archive's own folder).
std::string member_path(std::string path);

}  // namespace mycel::data
