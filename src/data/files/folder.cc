#include "data/files/folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include "base/error.h"
#include "data/files/unpack.h"
#include "data/index_progress.h"

namespace mycel::data {
namespace {

namespace fs = std::filesystem;

enum class Found { kNothing, kFile, kFolder };

Found look(const std::string& path, struct stat* out = nullptr) {
  struct stat s{};
  if (::stat(path.empty() ? "." : path.c_str(), &s) != 0) return Found::kNothing;
  if (out) *out = s;
  return S_ISDIR(s.st_mode) ? Found::kFolder : Found::kFile;
}

bool is_archive(const std::string& path) { return has_extension(path, {".tar", ".zip", ".npz"}); }

class DiskTree final : public Tree {
 public:
  explicit DiskTree(std::string root) : root_(std::move(root)) {}
  const std::string& root() const override { return root_; }
  Kind kind(const std::string& path) const override {
    const Found f = look(join_path(root_, path));
    return f == Found::kFile ? Kind::kFile : f == Found::kFolder ? Kind::kFolder : Kind::kNothing;
  }
  std::vector<FolderEntry> list(const std::string& path) const override {
    const std::string full = join_path(root_, path);
    std::vector<FolderEntry> out;
    IndexBuild progress(full);
    try {
      for (const auto& e : fs::directory_iterator(full.empty() ? "." : full)) {
        std::error_code ignored;  // a link to nothing is no folder
        out.push_back({e.path().filename().string(), e.is_directory(ignored)});
        progress.at(static_cast<int64_t>(out.size()));
      }
    } catch (const fs::filesystem_error& e) {
      fail(ErrorKind::kOs, "cannot list '{}': {}", full, e.code().message());
    }
    std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.name < b.name; });
    progress.finish(static_cast<int64_t>(out.size()));
    return out;
  }
  BytesPtr open(const std::string& path) const override {
    return disk_bytes(join_path(root_, path));
  }
  Tensor read(const std::string& path) const override { return read_once(join_path(root_, path)); }
  std::vector<std::string> files() const override {
    std::vector<std::string> out;
    walk("", &out);
    return out;
  }

 private:
  static Tensor read_once(const std::string& path);
  void walk(const std::string& folder, std::vector<std::string>* out) const {
    for (const FolderEntry& e : list(folder)) {
      const std::string path = join_path(folder, e.name);
      if (e.folder) {
        walk(path, out);
      } else {
        out->push_back(path);
      }
    }
  }
  std::string root_;
};

// Archives that are open, so that two datasets of one archive share its index.
TreePtr open_archive(const std::string& path) {
  struct Known {
    std::weak_ptr<const Tree> tree;
    int64_t size = 0, seconds = 0, nanoseconds = 0;
  };
  static std::mutex mutex;
  static std::map<std::string, Known> known;
  struct stat s{};
  look(path, &s);
  std::lock_guard lock(mutex);
  Known& k = known[path];
  TreePtr tree = k.tree.lock();
  if (tree && k.size == s.st_size && k.seconds == s.st_mtim.tv_sec &&
      k.nanoseconds == s.st_mtim.tv_nsec)
    return tree;
  tree = has_extension(path, {".tar"}) ? open_tar(path) : open_zip(path);
  k = {tree, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
  return tree;
}

struct Place {
  TreePtr tree;
  std::string path;
};

[[noreturn]] void nothing_there(const std::string& path, const char* wanted) {
  fail(ErrorKind::kOs, "there is no {} '{}'", wanted, path);
}

// A place that an archive on the way holds, or null.
Place inside_archive(const std::string& path) {
  for (size_t at = path.find('/', 1); at != path.npos; at = path.find('/', at + 1)) {
    const std::string front = path.substr(0, at);
    const Found f = look(front);
    if (f == Found::kNothing) break;
    if (f == Found::kFile && packed_tar_name(front))
      fail(ErrorKind::kOs,
           "'{}' leads into a packed archive, which cannot be read by position; unpack '{}' to a "
           "plain .tar (WebDataset alone reads it from begin to end)",
           path, front);
    if (f == Found::kFile)
      return is_archive(front) ? Place{open_archive(front), path.substr(at + 1)} : Place{};
  }
  return {};
}

std::string tidy(const std::string& path) {
  std::string p = fs::path(path).lexically_normal().generic_string();
  while (p.size() > 1 && p.ends_with('/')) p.pop_back();
  return p;
}

Place folder_at(const std::string& given) {
  const std::string path = tidy(given);
  const Found f = look(path);
  if (f == Found::kFolder) return {std::make_shared<DiskTree>(path), ""};
  if (f == Found::kFile) {
    if (is_archive(path)) return {open_archive(path), ""};
    if (packed_tar_name(path))
      fail(ErrorKind::kOs,
           "'{}' is packed, and packed archives cannot be read by position; unpack it to a plain "
           ".tar (WebDataset alone reads it from begin to end)",
           given);
    fail(ErrorKind::kOs, "'{}' is a file, not a folder (of archives, .tar and .zip are read)",
         given);
  }
  Place p = inside_archive(path);
  if (!p.tree || p.tree->kind(p.path) != Tree::Kind::kFolder)
    nothing_there(given, "folder or archive");
  return p;
}

}  // namespace

Tensor DiskTree::read_once(const std::string& path) {
  // Not through disk_bytes: a file that is read whole keeps no handle.
  struct stat s{};
  if (look(path, &s) != Found::kFile) nothing_there(path, "file");
  std::FILE* f = std::fopen(path.c_str(), "rbe");
  if (!f) fail(ErrorKind::kOs, "cannot read '{}': {}", path, std::strerror(errno));
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> closed(f, std::fclose);
  std::setvbuf(f, nullptr, _IONBF, 0);
  Tensor t = Tensor::empty(DType::kUInt8, {static_cast<int64_t>(s.st_size)});
  const size_t n = std::fread(t.mutable_raw(), 1, t.bytes(), f);
  if (n != t.bytes())
    fail(ErrorKind::kOs, "cannot read '{}': it ends at byte {} although it had {} bytes", path, n,
         t.bytes());
  return t;
}

bool has_extension(const std::string& name, const std::vector<std::string>& extensions) {
  if (extensions.empty()) return true;
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const std::string& e) { return name.ends_with(e); });
}

std::string join_path(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  return a.ends_with('/') ? a + b : a + "/" + b;
}

Folder::Folder(const std::string& path) {
  Place p = folder_at(path);
  tree_ = std::move(p.tree);
  base_ = std::move(p.path);
}

std::string Folder::inside(const std::string& relative) const { return join_path(base_, relative); }
std::string Folder::path(const std::string& relative) const {
  return join_path(tree_->root(), inside(relative));
}
bool Folder::has_file(const std::string& relative) const {
  return tree_->kind(inside(relative)) == Tree::Kind::kFile;
}
bool Folder::has_folder(const std::string& relative) const {
  return tree_->kind(inside(relative)) == Tree::Kind::kFolder;
}
std::vector<FolderEntry> Folder::list(const std::string& relative) const {
  if (!has_folder(relative)) nothing_there(path(relative), "folder");
  return tree_->list(inside(relative));
}
std::vector<std::string> Folder::files(const std::string& relative,
                                       const std::vector<std::string>& extensions) const {
  std::vector<std::string> out;
  for (FolderEntry& e : list(relative)) {
    if (!e.folder && has_extension(e.name, extensions)) out.push_back(std::move(e.name));
  }
  return out;
}
std::vector<std::string> Folder::folders(const std::string& relative) const {
  std::vector<std::string> out;
  for (FolderEntry& e : list(relative)) {
    if (e.folder) out.push_back(std::move(e.name));
  }
  return out;
}
BytesPtr Folder::open(const std::string& relative) const {
  if (!has_file(relative)) nothing_there(path(relative), "file");
  return tree_->open(inside(relative));
}
Tensor Folder::read(const std::string& relative) const { return tree_->read(inside(relative)); }
std::string Folder::text(const std::string& relative) const { return open(relative)->text(); }
std::vector<std::string> Folder::all_files() const {
  std::vector<std::string> out;
  const std::string front = base_.empty() ? "" : base_ + "/";
  for (std::string& f : tree_->files()) {
    if (f.starts_with(front)) out.push_back(f.substr(front.size()));
  }
  return out;
}

BytesPtr open_file(const std::string& given) {
  const std::string path = tidy(given);
  const Found f = look(path);
  if (f == Found::kFile) return disk_bytes(path);
  if (f == Found::kFolder) fail(ErrorKind::kOs, "'{}' is a folder, not a file", given);
  const Place p = inside_archive(path);
  if (!p.tree || p.tree->kind(p.path) != Tree::Kind::kFile) nothing_there(given, "file");
  return p.tree->open(p.path);
}

std::vector<std::string> find_files(const std::vector<std::string>& patterns,
                                    const std::string& owner) {
  std::vector<std::string> out;
  for (const std::string& pattern : patterns) {
    const std::string path = tidy(pattern);
    if (look(path) == Found::kFile || inside_archive(path).tree) {
      out.push_back(path);
      continue;
    }
    glob_t found{};
    const int error = glob(pattern.c_str(), 0, nullptr, &found);
    const size_t before = out.size();
    for (size_t i = 0; error == 0 && i < found.gl_pathc; ++i) {
      if (look(found.gl_pathv[i]) == Found::kFile) out.emplace_back(found.gl_pathv[i]);
    }
    globfree(&found);
    if (out.size() == before) fail(ErrorKind::kOs, "{}: there is no file '{}'", owner, pattern);
  }
  if (out.empty()) value_error("{}: no files are given", owner);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace mycel::data
