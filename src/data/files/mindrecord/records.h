// The rows of MindRecord files, numbered shard after shard.
#pragma once

#include <string>
#include <vector>

#include "data/files/mindrecord/format.h"

namespace mycel::data {

class RecordShards {
 public:
  // In this order; they must have the same fields.
  explicit RecordShards(const std::vector<std::string>& paths);
  const RecordHeader& header() const { return shards_[0].header; }
  int64_t size() const { return static_cast<int64_t>(places_.size()); }
  // The fields at `which` (places in header().fields) of row i.
  Row read(int64_t i, const std::vector<size_t>& which) const;

  struct Shard {
    std::string path;
    BytesPtr file;
    RecordHeader header;
    int64_t first_row = 0;
  };
  const std::vector<Shard>& shards() const { return shards_; }

 private:
  struct Place {
    uint32_t shard;
    uint32_t raw_bytes, blob_bytes;
    uint64_t raw, blob;  // in the file
  };
  void add(const std::string& path);
  void read_index(uint32_t shard);

  std::vector<Shard> shards_;
  std::vector<Place> places_;
};

}  // namespace mycel::data
