// The contents page of the ONNX ops: one line a family.
#include <map>

#include "interop/onnx/record.h"

namespace mycel::interop::onnx {
namespace {

using Key = std::pair<std::string_view, std::string_view>;

const std::map<Key, const Record*>& table() {
  static const std::map<Key, const Record*> all = [] {
    std::map<Key, const Record*> m;
    for (Records family :
         {elementwise_records(), reduce_records(),   shape_records(),     index_records(),
          conv_records(),        pool_records(),     norm_records(),      matmul_records(),
          loss_records(),        random_records(),   control_records(),   sequence_records(),
          recurrent_records(),   quantize_records(), resize_records(),    sample_records(),
          box_records(),         signal_records(),   attention_records(), training_records()}) {
      for (const Record& r : family) m.emplace(Key{r.domain, r.name}, &r);
    }
    return m;
  }();
  return all;
}

}  // namespace

const Record* find_record(std::string_view domain, std::string_view name) {
  auto it = table().find({domain, name});
  return it == table().end() ? nullptr : it->second;
}

std::vector<const Record*> all_records() {
  std::vector<const Record*> out;
  for (const auto& [key, r] : table()) out.push_back(r);
  return out;
}

}  // namespace mycel::interop::onnx
