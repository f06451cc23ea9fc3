// The pipeline: rows are those of the definition, in one order whatever the number of workers, from
// any position; errors arrive at their row; nobody waits for ever.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "data/operators.h"
#include "data/reader.h"

namespace mycel::data {
namespace {

DatasetPtr numbers(int64_t n) {
  std::vector<int64_t> x(static_cast<size_t>(n));
  std::iota(x.begin(), x.end(), 0);
  return tensor_dataset({{"x", Tensor::from(x, {n})}});
}

// The same rows without numbers.
class Stream final : public StreamDataset {
 public:
  explicit Stream(int64_t n) : n_(n) {}
  const std::vector<std::string>& columns() const override { return columns_; }
  int64_t size() const override { return kUnknownSize; }

 protected:
  class Open final : public StreamDataset::Stream {
   public:
    explicit Open(int64_t n) : n_(n) {}
    bool next(Row* row) override {
      if (at_ >= n_) return false;
      *row = {Tensor::scalar(DType::kInt64, at_++)};
      return true;
    }

   private:
    int64_t n_, at_ = 0;
  };
  std::unique_ptr<StreamDataset::Stream> open() const override {
    return std::make_unique<Open>(n_);
  }

 private:
  int64_t n_;
  std::vector<std::string> columns_ = {"x"};
};

std::vector<int64_t> ints(const Value& v) {
  auto d = v.tensor().data<int64_t>();
  return {d.begin(), d.end()};
}

// All rows of an epoch, flattened.
std::vector<int64_t> epoch_of(const DatasetPtr& d, uint64_t epoch, int workers,
                              int64_t position = 0) {
  Reader reader(d, {epoch, position},
                {.workers = workers, .epochs = static_cast<int64_t>(epoch) + 1});
  std::vector<int64_t> out;
  for (Row row; reader.next(&row);) {
    for (int64_t v : ints(row[0])) out.push_back(v);
  }
  return out;
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.message();
  }
  return "no error";
}

TransformPtr noise() {
  return each_value_randomly([](const Value& v, Philox& draw) -> Value {
    return Tensor::scalar(DType::kInt64,
                          v.tensor().item_int() * 1000 + static_cast<int64_t>(draw.below(1000)));
  });
}

TEST(Pipeline, OrderDependsOnSeedAndEpochAlone) {
  for (const DatasetPtr& source : {numbers(40), DatasetPtr(std::make_shared<Stream>(40))}) {
    auto d = shuffle(source, 40, 3);
    EXPECT_EQ(epoch_of(d, 0, 0), epoch_of(d, 0, 2));
    EXPECT_NE(epoch_of(d, 0, 0), epoch_of(d, 1, 0));
    auto whole = epoch_of(d, 1, 0);
    EXPECT_EQ(epoch_of(d, 1, 0, 13), std::vector<int64_t>(whole.begin() + 13, whole.end()));
    std::sort(whole.begin(), whole.end());
    EXPECT_EQ(whole, epoch_of(numbers(40), 0, 0));
  }
}

TEST(Pipeline, RandomBitsDoNotDependOnWorkersOrPosition) {
  for (const DatasetPtr& source : {numbers(50), DatasetPtr(std::make_shared<Stream>(50))}) {
    auto d = batch(map(repeat(map(shuffle(source, 50, 1), {noise()}, {}, {}, 5), 2), {noise()}), 7);
    const auto one = epoch_of(d, 2, 0);
    EXPECT_EQ(one.size(), 100u);
    for (int workers : {1, 2, 5}) EXPECT_EQ(epoch_of(d, 2, workers), one);
    EXPECT_EQ(epoch_of(d, 2, 3, 4), std::vector<int64_t>(one.begin() + 28, one.end()));
    EXPECT_EQ(std::set<int64_t>(one.begin(), one.end()).size(), 100u);  // drawn anew each time
  }
}

TEST(Pipeline, BatchesKeepOrDropTheRest) {
  EXPECT_EQ(batch(numbers(10), 4)->size(), 3);
  EXPECT_EQ(batch(numbers(10), 4, true)->size(), 2);
  EXPECT_EQ(epoch_of(batch(numbers(10), 4), 0, 2).size(), 10u);
  EXPECT_EQ(epoch_of(batch(numbers(10), 4, true), 0, 2).size(), 8u);
  EXPECT_EQ(epoch_of(batch(std::make_shared<Stream>(10), 4, true), 0, 2).size(), 8u);
  EXPECT_NE(message_of([] { batch(numbers(3), 4, true); }).find("no batch of 4 rows"),
            std::string::npos);
  EXPECT_NE(message_of([] { numbers(0); }).find("there are no rows"), std::string::npos);
}

TEST(Pipeline, ErrorsArriveAtTheirRowAndReadingGoesOn) {
  auto odd = [](const Row& in) {
    if (in[0].tensor().item_int() == 3) throw std::runtime_error("row 3");
    return in;
  };
  for (const DatasetPtr& source : {numbers(6), DatasetPtr(std::make_shared<Stream>(6))}) {
    for (int workers : {0, 1, 3}) {
      Reader reader(map(source, odd), {}, {.workers = workers, .epochs = 1});
      Row row;
      for (int64_t i = 0; i < 6; ++i) {
        if (i == 3) {
          EXPECT_THROW(reader.next(&row), std::runtime_error);
        } else {
          ASSERT_TRUE(reader.next(&row));
          EXPECT_EQ(row[0].tensor().item_int(), i);
        }
      }
      EXPECT_FALSE(reader.next(&row));
    }
    auto skipped = std::make_shared<std::atomic<int64_t>>(0);
    EXPECT_EQ(epoch_of(skip_errors(map(source, odd), skipped, 2), 0, 2),
              (std::vector<int64_t>{0, 1, 2, 4, 5}));
    EXPECT_EQ(skipped->load(), 1);
  }
}

TEST(Pipeline, ReaderStopsEarlyAndKeepsItsLimits) {
  std::atomic<int64_t> made = 0;
  auto counted = map(numbers(1000), [&](const Row& in) {
    ++made;
    return in;
  });
  {
    Reader reader(counted, {}, {.workers = 3, .ahead = 5});
    Row row;
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(reader.next(&row));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_LE(made.load(), 4 + 5 + 3);
  Reader limited(take(counted, 3), {1, 2}, {.workers = 1, .epochs = 3});
  Row row;
  ASSERT_TRUE(limited.next(&row));
  EXPECT_EQ(row[0].tensor().item_int(), 2);
  EXPECT_EQ(limited.position().position, 3);
  EXPECT_FALSE(limited.next(&row));  // the end of epoch 1
  EXPECT_EQ(limited.position().epoch, 2u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limited.next(&row));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(limited.next(&row));  // no epoch 3
}

TEST(Pipeline, SelectsRowsAndColumns) {
  auto two = tensor_dataset({{"a", Tensor::from<int64_t>({1, 2, 3, 4}, {4})},
                             {"b", Tensor::from<int64_t>({5, 6, 7, 8}, {4})}});
  EXPECT_EQ(epoch_of(project(two, {"b"}), 0, 0), (std::vector<int64_t>{5, 6, 7, 8}));
  EXPECT_EQ(rename(two, {"a"}, {"c"})->columns(), (std::vector<std::string>{"c", "b"}));
  EXPECT_EQ(epoch_of(skip(take(numbers(10), 6), 4), 0, 2), (std::vector<int64_t>{4, 5}));
  auto even = [](const Row& in) { return in[0].tensor().item_int() % 2 == 0; };
  EXPECT_EQ(epoch_of(filter(numbers(7), even, {}, 3), 0, 2), (std::vector<int64_t>{0, 2, 4, 6}));
  EXPECT_EQ(epoch_of(concat({numbers(3), std::make_shared<Stream>(2)}), 0, 2),
            (std::vector<int64_t>{0, 1, 2, 0, 1}));
  auto zipped = zip({numbers(5), rename(numbers(3), {"x"}, {"y"})});
  EXPECT_EQ(zipped->size(), 3);
  EXPECT_EQ(zipped->columns(), (std::vector<std::string>{"x", "y"}));
  auto parts = split(numbers(10), {3, 7});
  EXPECT_EQ(epoch_of(parts[1], 0, 0).front(), 3);
  auto flat = flat_map(numbers(3),
                       [](const Row& in) { return skip(numbers(3), in[0].tensor().item_int()); });
  EXPECT_EQ(epoch_of(flat, 0, 2), (std::vector<int64_t>{0, 1, 2, 1, 2, 2}));
  EXPECT_NE(message_of([&] { project(two, {"z"}); }).find("columns: a, b"), std::string::npos);
  EXPECT_NE(message_of([&] { rename(two, {"a"}, {"b"}); }).find("'b'"), std::string::npos);
}

TEST(Pipeline, PadsAndBucketsByLength) {
  auto rows = map(numbers(6), [](const Row& in) -> Row {
    const int64_t n = in[0].tensor().item_int() + 1;
    return {Tensor::full(DType::kInt64, {n}, static_cast<double>(n))};
  });
  auto d = batch(rows, 3, {.padding = {{"x", {-1}, -1, ""}}});
  Row row;
  Reader reader(d);
  ASSERT_TRUE(reader.next(&row));
  EXPECT_EQ(ints(row[0]), (std::vector<int64_t>{1, -1, -1, 2, 2, -1, 3, 3, 3}));
  EXPECT_NE(message_of([&] { epoch_of(batch(rows, 2), 0, 0); }).find("must be alike"),
            std::string::npos);
  auto buckets =
      bucket_batch(rows, {{}, {3, 5}, {2, 2, 1}, nullptr, false}, {.padding = {{"x", {}, 0, ""}}});
  std::vector<Shape> shapes;
  Reader by_length(buckets, {}, {.workers = 2, .epochs = 1});
  while (by_length.next(&row)) shapes.push_back(row[0].shape());
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 2}, {2, 4}, {1, 5}, {1, 6}}));
}

TEST(Pipeline, CacheMakesRowsOnceAndRefusesRandomOnes) {
  std::atomic<int64_t> made = 0;
  auto counted = map(numbers(20), [&](const Row& in) {
    ++made;
    return in;
  });
  for (const char* folder : {"", "."}) {
    made = 0;
    auto kept = shuffle(cache(counted, 0, folder), 2, 1);
    const auto first = epoch_of(kept, 0, 2);
    EXPECT_EQ(epoch_of(kept, 0, 0), first);
    EXPECT_NE(epoch_of(kept, 1, 2), first);
    EXPECT_EQ(made.load(), 20);
  }
  EXPECT_NE(message_of([] { cache(map(numbers(3), {noise()})); }).find("other rows in each epoch"),
            std::string::npos);
}

TEST(Orders, AreWhatTheySay) {
  auto rows = [](const OrderPtr& o, int64_t n, uint64_t epoch = 0) {
    std::vector<int64_t> out;
    for (int64_t i = 0; i < o->size(n); ++i) out.push_back(o->at(epoch, n, i));
    return out;
  };
  EXPECT_EQ(rows(sequential(3, 4), 10), (std::vector<int64_t>{3, 4, 5, 6}));
  EXPECT_EQ(rows(subset({1, -1}), 10), (std::vector<int64_t>{1, 9}));
  EXPECT_EQ(rows(sharded(3, 1, false, 0), 10), (std::vector<int64_t>{1, 4, 7, 0}));
  EXPECT_EQ(rows(chained(subset({0, 2}), sequential(2)), 10), (std::vector<int64_t>{2, 4}));
  std::multiset<int64_t> all;  // shards of a shuffled order cover all rows
  for (int64_t s = 0; s < 3; ++s)
    for (int64_t r : rows(sharded(3, s, true, 7), 9, 4)) all.insert(r);
  EXPECT_EQ(all.size(), 9u);
  EXPECT_EQ(std::set<int64_t>(all.begin(), all.end()).size(), 9u);
  auto by_class = rows(per_class({0, 1, 0, 1, 2, 0}, 2, 1), 6);
  EXPECT_EQ(by_class, (std::vector<int64_t>{0, 2, 1, 3, 4, 4}));
  // Frequencies of a weighted draw: 10,000 of weights 1 : 3, within five standard deviations.
  auto drawn = rows(weighted({1, 0, 3}, 5, true, 10000), 3);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 2)), 7500, 5 * 43.3);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 1), 0);
  auto once = rows(weighted({1, 0, 3}, 5, false), 3);
  EXPECT_EQ(std::set<int64_t>(once.begin(), once.end()), (std::set<int64_t>{0, 2}));
}

}  // namespace
}  // namespace mycel::data
