#include "data/files/archive.h"

#include "base/error.h"

namespace mycel::data {

void ArchiveTree::set_members(std::vector<Member> in_order) {
  members_ = std::move(in_order);
  std::stable_sort(members_.begin(), members_.end(),
                   [](const Member& a, const Member& b) { return a.path < b.path; });
  // The last of equal ones stays.
  size_t kept = 0;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (i + 1 < members_.size() && members_[i + 1].path == members_[i].path) continue;
    if (kept != i) members_[kept] = std::move(members_[i]);
    ++kept;
  }
  members_.resize(kept);
  members_.shrink_to_fit();
}

std::vector<Member>::const_iterator ArchiveTree::find(const std::string& path) const {
  return std::lower_bound(members_.begin(), members_.end(), path,
                          [](const Member& m, const std::string& p) { return m.path < p; });
}

Tree::Kind ArchiveTree::kind(const std::string& path) const {
  if (path.empty()) return Kind::kFolder;
  auto it = find(path);
  if (it != members_.end() && it->path == path) return Kind::kFile;
  it = find(path + "/");
  return it != members_.end() && it->path.starts_with(path + "/") ? Kind::kFolder : Kind::kNothing;
}

std::vector<FolderEntry> ArchiveTree::list(const std::string& path) const {
  const std::string front = path.empty() ? "" : path + "/";
  std::vector<FolderEntry> out;
  for (auto it = find(front); it != members_.end() && it->path.starts_with(front);) {
    const size_t slash = it->path.find('/', front.size());
    const bool folder = slash != std::string::npos;
    const std::string name =
        it->path.substr(front.size(), folder ? slash - front.size() : std::string::npos);
    if (!name.empty()) out.push_back({name, folder});
    if (!folder) {
      ++it;
    } else {  // over all that is in it: '0' is the character after '/'
      it = find(front + name + "0");
    }
  }
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return out;
}

std::vector<std::string> ArchiveTree::files() const {
  std::vector<const Member*> order;
  order.reserve(members_.size());
  for (const Member& m : members_) {
    if (!m.path.ends_with('/')) order.push_back(&m);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Member* a, const Member* b) { return a->offset < b->offset; });
  std::vector<std::string> out;
  out.reserve(order.size());
  for (const Member* m : order) out.push_back(m->path);
  return out;
}

const Member& ArchiveTree::member(const std::string& path) const {
  const auto it = find(path);
  if (it == members_.end() || it->path != path)
    fail(ErrorKind::kOs, "there is no file '{}'", join_path(root_, path));
  return *it;
}

std::string member_path(std::string path) {
  size_t from = 0;
  while (true) {
    if (path.compare(from, 2, "./") == 0) {
      from += 2;
    } else if (from < path.size() && path[from] == '/') {
      ++from;
    } else {
      break;
    }
  }
  path.erase(0, from);
  if (path == "." || path == ".." || path.find('\0') != path.npos) return "";
  return path;
}

}  // namespace mycel::data
