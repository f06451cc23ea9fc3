// Arrow batches made by hand, as a C++ program would hand them over.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "data/arrow/rows.h"
#include "data/group_order.h"
#include "data/operators.h"
#include "data/reader.h"

namespace mycel::data {
namespace {

int released = 0;

// The column "x" of `numbers`, with a null where bit i of `valid` is 0.
struct Column {
  std::vector<int32_t> numbers;
  uint8_t valid = 0xff;
  const void* buffers[2] = {};
  const void* no_buffers[1] = {};
  ArrowArray array{}, whole{};
  ArrowArray* children[1] = {};
};

ArrowArray batch_of(std::vector<int32_t> numbers, uint8_t valid, int64_t offset) {
  auto* c = new Column{std::move(numbers), valid};
  c->buffers[0] = &c->valid;
  c->buffers[1] = c->numbers.data();
  const auto n = static_cast<int64_t>(c->numbers.size());
  c->array = {.length = n, .null_count = -1, .n_buffers = 2, .buffers = c->buffers};
  c->children[0] = &c->array;
  return {.length = n - offset,
          .offset = offset,
          .n_buffers = 1,
          .n_children = 1,
          .buffers = c->no_buffers,
          .children = c->children,
          .release =
              [](ArrowArray* a) {
                delete static_cast<Column*>(a->private_data);
                a->release = nullptr;
                ++released;
              },
          .private_data = c};
}

ArrowSchema schema_of() {
  static ArrowSchema x{.format = "i", .name = "x"};
  static ArrowSchema* children[1] = {&x};
  return {.format = "+s",
          .name = "",
          .n_children = 1,
          .children = children,
          .release = [](ArrowSchema* s) { s->release = nullptr; }};
}

// Group g holds g * 100 + 0, 1, …, in two batches, the second of which begins in the middle.
class Numbers final : public ArrowGroups {
 public:
  explicit Numbers(std::vector<int64_t> rows) : rows_(std::move(rows)) {}
  const std::vector<int64_t>& rows() const override { return rows_; }
  std::string name(size_t group) const override { return "group " + std::to_string(group); }
  std::vector<ArrowBatch> read(size_t g) const override {
    std::vector<int32_t> all;
    for (int64_t i = 0; i < rows_[g]; ++i) all.push_back(static_cast<int32_t>(g * 100 + i));
    std::vector<ArrowBatch> out;
    const std::vector<int32_t> front(all.begin(), all.begin() + 1);
    for (auto [numbers, offset] : {std::pair{front, 0}, std::pair{all, 1}}) {
      ArrowArray array = batch_of(numbers, g == 1 ? 0xfb : 0xff, offset);
      ArrowSchema schema = schema_of();
      out.emplace_back(Arrowed<ArrowSchema>(&schema), Arrowed<ArrowArray>(&array));
    }
    return out;
  }

 private:
  std::vector<int64_t> rows_;
};

int32_t number(const Row& row) { return *static_cast<const int32_t*>(row[0].tensor().raw()); }

TEST(ArrowRows, AreReadInPlaceAndGivenBack) {
  released = 0;
  {
    const ArrowSchema schema = schema_of();
    const DatasetPtr d = arrow_rows(schema, std::make_shared<Numbers>(std::vector<int64_t>{3, 4}),
                                    {.memory = 1, .groups_kept = 1});
    ASSERT_EQ(d->size(), 7);
    std::vector<int32_t> got;
    for (int64_t i : {0, 1, 2, 3, 4, 6}) got.push_back(number(d->row(0, i)));
    EXPECT_EQ(got, (std::vector<int32_t>{0, 1, 2, 100, 101, 103}));
    EXPECT_EQ(released, 2);  // of the first group, when the second came
    try {
      d->row(0, 5);
      FAIL() << "a null is an error";
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find("sample 5 (group 1): column 'x' holds a null"),
                std::string::npos)
          << e.what();
    }
  }
  EXPECT_EQ(released, 4);
}

TEST(ArrowRows, NullsAreFilled) {
  const ArrowSchema schema = schema_of();
  const DatasetPtr d = arrow_rows(schema, std::make_shared<Numbers>(std::vector<int64_t>{1, 4}),
                                  {.fill = {{"x", Option(-7)}}});
  EXPECT_EQ(number(d->row(0, 3)), -7);
}

TEST(ArrowRows, AnOrderByGroupsMixesWindows) {
  const std::vector<int64_t> equal(6, 10);
  const OrderPtr order = by_groups(equal, {.window = 2, .seed = 3});
  std::set<std::vector<int64_t>> epochs;
  for (uint64_t epoch : {0, 1, 7}) {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < 60; ++i) rows.push_back(order->at(epoch, 60, i));
    for (int64_t w = 0; w < 3; ++w) {
      std::multiset<int64_t> of_group;
      for (int64_t i = 0; i < 20; ++i) of_group.insert(rows[20 * w + i] / 10);
      EXPECT_EQ(of_group.count(*of_group.begin()), 10u);  // two whole groups
      EXPECT_EQ(of_group.count(*of_group.rbegin()), 10u);
      EXPECT_FALSE(std::is_sorted(rows.begin() + 20 * w, rows.begin() + 20 * w + 20));
    }
    epochs.insert(rows);
    EXPECT_EQ(std::set<int64_t>(rows.begin(), rows.end()).size(), 60u);
  }
  EXPECT_EQ(epochs.size(), 3u);

  const std::vector<int64_t> groups = {5, 0, 17, 9, 9, 1};
  // Two shards, with the row that fills up the second, are all rows.
  std::multiset<int64_t> rows;
  for (int64_t shard : {0, 1}) {
    const OrderPtr part = by_groups(groups, {.seed = 3, .shards = 2, .shard = shard});
    ASSERT_EQ(part->size(41), 21);
    for (int64_t i = 0; i < 21; ++i) rows.insert(part->at(4, 41, i));
  }
  EXPECT_EQ(std::set<int64_t>(rows.begin(), rows.end()).size(), 41u);
}

}  // namespace
}  // namespace mycel::data
