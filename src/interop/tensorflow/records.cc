// All records, found by name and by TFLite's code.
#include <unordered_map>

#include "interop/tensorflow/record.h"

namespace mycel::interop::tensorflow {
namespace {

struct Index {
  std::unordered_map<int, const Record*> by_code;
  std::unordered_map<std::string_view, const Record*> lite, graph;
  std::vector<const Record*> all;

  Index() {
    for (Records family : {elementwise_records(), activation_records(), reduce_records(),
                           shape_records(), slice_records(), index_records(), conv_records(),
                           pool_records(), matmul_records(), norm_records(), resize_records(),
                           quantize_records(), control_records(), recurrent_records()}) {
      for (const Record& r : family) {
        all.push_back(&r);
        if (*r.lite) by_code[r.code] = lite[r.lite] = &r;
        if (*r.graph) graph[r.graph] = &r;
      }
    }
  }
};

const Index& index() {
  static const Index all;
  return all;
}

template <typename Map, typename Key>
const Record* find_in(const Map& m, const Key& key) {
  auto it = m.find(key);
  return it == m.end() ? nullptr : it->second;
}

}  // namespace

const Record* find_lite_record(int code) { return find_in(index().by_code, code); }
const Record* find_record(bool lite, std::string_view name) {
  return find_in(lite ? index().lite : index().graph, name);
}
std::vector<const Record*> all_records() { return index().all; }

}  // namespace mycel::interop::tensorflow
