#include "lite/runtime/file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

namespace mycel::lite {

LiteFile::~LiteFile() {
  if (mapped_) ::munmap(mapped_, all_.size());
}

bool is_lite_file(std::span<const std::byte> head) {
  return head.size() >= sizeof kLiteFileMagic &&
         std::memcmp(head.data(), kLiteFileMagic, sizeof kLiteFileMagic) == 0;
}

std::string LiteFile::read(bool check_data) {
  LiteFileHead head;
  if (!is_lite_file(all_)) return "this is no .lite file";
  if (all_.size() < sizeof head) return "the file is damaged: it ends within its first 64 bytes";
  if (reinterpret_cast<uintptr_t>(all_.data()) % kLiteAlignment != 0)
    return "a .lite file in memory begins at a multiple of 64 bytes";
  std::memcpy(&head, all_.data(), sizeof head);
  if (head.version > kLiteFileVersion) {
    return "written in version " + std::to_string(head.version) +
           " of the format; this Lite reads up to " + std::to_string(kLiteFileVersion);
  }
  if (head.head_sum != XXH3_64bits(&head, offsetof(LiteFileHead, head_sum)))
    return "the file is damaged: the checksum of its first 64 bytes does not fit";
  if (head.version != kLiteFileVersion) return "the file is damaged: there is no such version";
  if (head.table_bytes > all_.size() - sizeof head || head.data_offset > all_.size() ||
      head.data_offset != lite_aligned(sizeof head + head.table_bytes) ||
      head.data_bytes != all_.size() - head.data_offset) {
    return "the file is damaged: it has " + std::to_string(all_.size()) + " bytes where " +
           std::to_string(head.data_offset) + " + " + std::to_string(head.data_bytes) +
           " are announced";
  }
  const auto table = all_.subspan(sizeof head, head.data_offset - sizeof head);
  data_ = all_.subspan(head.data_offset);
  if (XXH3_64bits(table.data(), table.size()) != head.table_sum)
    return "the file is damaged: the checksum of its table does not fit";
  if (check_data && XXH3_64bits(data_.data(), data_.size()) != head.data_sum)
    return "the file is damaged: the checksum of its data does not fit";
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(table.data()), head.table_bytes,
                                 256, static_cast<flatbuffers::uoffset_t>(head.table_bytes / 4));
  if (!file::VerifyFileBuffer(verifier))
    return "the file is damaged: its table section is no FlatBuffer of ours";
  table_ = file::GetFile(table.data());
  return "";
}

std::shared_ptr<const LiteFile> LiteFile::view(std::span<const std::byte> bytes, bool check_data,
                                               std::string& problem) {
  std::shared_ptr<LiteFile> f(new LiteFile);
  f->all_ = bytes;
  problem = f->read(check_data);
  return problem.empty() ? f : nullptr;
}

std::shared_ptr<const LiteFile> LiteFile::open(const std::string& path, bool check_data,
                                               std::string& problem) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info{};
  if (fd < 0 || ::fstat(fd, &info) != 0) {
    problem = std::string("cannot be opened: ") + std::strerror(errno);
    if (fd >= 0) ::close(fd);
    return nullptr;
  }
  std::shared_ptr<LiteFile> f(new LiteFile);
  if (info.st_size > 0) {
    void* at = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (at != MAP_FAILED) {
      f->mapped_ = at;
      f->all_ = {static_cast<const std::byte*>(at), static_cast<size_t>(info.st_size)};
    }
  }
  ::close(fd);
  problem = f->read(check_data);
  return problem.empty() ? f : nullptr;
}

std::string lite_file_bytes(std::span<const std::byte> table, std::span<const std::byte> data) {
  LiteFileHead head{};
  std::memcpy(head.magic, kLiteFileMagic, sizeof head.magic);
  head.version = kLiteFileVersion;
  head.table_bytes = table.size();
  head.data_offset = lite_aligned(sizeof head + table.size());
  head.data_bytes = data.size();
  std::string out(head.data_offset, '\0');
  std::memcpy(out.data() + sizeof head, table.data(), table.size());
  head.table_sum = XXH3_64bits(out.data() + sizeof head, head.data_offset - sizeof head);
  head.data_sum = XXH3_64bits(data.data(), data.size());
  head.head_sum = XXH3_64bits(&head, offsetof(LiteFileHead, head_sum));
  std::memcpy(out.data(), &head, sizeof head);
  out.append(reinterpret_cast<const char*>(data.data()), data.size());
  return out;
}

}  // namespace mycel::lite
