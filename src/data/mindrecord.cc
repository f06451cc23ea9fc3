#include "data/mindrecord.h"

#include "data/media.h"

namespace mycel::data {

std::unique_ptr<RecordWriter> write_records(const RecordFile& file) {
  return media().records->write(file);
}
std::string record_header(const std::string& path) { return media().records->header(path); }
std::vector<std::string> record_files(const std::string& path) {
  return media().records->files(path);
}
std::vector<std::string> record_index_fields(const std::vector<std::string>& paths) {
  return media().records->index_fields(paths);
}
std::vector<std::pair<std::string, int64_t>> record_categories(
    const std::vector<std::string>& paths, const std::string& field) {
  return media().records->categories(paths, field);
}
std::vector<int64_t> find_records(const std::vector<std::string>& paths, const std::string& field,
                                  const std::string& value) {
  return media().records->find(paths, field, value);
}

}  // namespace mycel::data
