// A folder of files: on disk, or inside a tar or zip, which is read where it lies. A path may go
// through an archive ("data.tar/train/cat/1.jpg"), and an archive may stand where a folder is
// expected. Lists are in the order of bytes, the same on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/files/bytes.h"

namespace mycel::data {

struct FolderEntry {
  std::string name;
  bool folder = false;
};

// Where a folder's files are; paths are relative to its root, with '/', "" for the root itself.
class Tree {
 public:
  enum class Kind { kNothing, kFile, kFolder };
  virtual ~Tree() = default;
  virtual const std::string& root() const = 0;
  virtual Kind kind(const std::string& path) const = 0;
  // Names directly in a folder, sorted.
  virtual std::vector<FolderEntry> list(const std::string& path) const = 0;
  // Opened for reads by position.
  virtual BytesPtr open(const std::string& path) const = 0;
  // The whole content, read once.
  virtual Tensor read(const std::string& path) const { return open(path)->tensor(); }
  // Paths of all files in the order in which an archive holds them; sorted on disk.
  virtual std::vector<std::string> files() const = 0;
};
using TreePtr = std::shared_ptr<const Tree>;

TreePtr open_tar(const std::string& path);
TreePtr open_zip(const std::string& path);

class Folder {
 public:
  // OsError when there is no such folder or archive.
  explicit Folder(const std::string& path);

  // As the user may find it, for messages.
  std::string path(const std::string& relative = {}) const;
  bool has_file(const std::string& relative) const;
  bool has_folder(const std::string& relative) const;
  std::vector<FolderEntry> list(const std::string& relative = {}) const;
  // Names of files (folders) directly inside; files end with one of `extensions` (".jpg"; all when
  // empty).
  std::vector<std::string> files(const std::string& relative = {},
                                 const std::vector<std::string>& extensions = {}) const;
  std::vector<std::string> folders(const std::string& relative = {}) const;
  // OsError when there is no such file.
  BytesPtr open(const std::string& relative) const;
  Tensor read(const std::string& relative) const;
  std::string text(const std::string& relative) const;
  // All files below, relative, in the order of the archive.
  std::vector<std::string> all_files() const;

 private:
  std::string inside(const std::string& relative) const;
  TreePtr tree_;
  std::string base_;  // inside the tree
};

bool has_extension(const std::string& name, const std::vector<std::string>& extensions);
// "a/b", also when one is empty.
std::string join_path(const std::string& a, const std::string& b);

// One file, also inside an archive; OsError when there is none.
BytesPtr open_file(const std::string& path);
// The files that `patterns` name: paths, or patterns with * ? [ ] on disk; sorted by path, each
// once. ValueError naming `owner` when a pattern fits nothing.
std::vector<std::string> find_files(const std::vector<std::string>& patterns,
                                    const std::string& owner);

}  // namespace mycel::data
