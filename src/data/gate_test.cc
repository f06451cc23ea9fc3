#include "data/gate.h"

#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "data/operators.h"
#include "data/reader.h"

namespace mycel::data {
namespace {

DatasetPtr counting(int64_t rows) {
  std::vector<int64_t> x(static_cast<size_t>(rows));
  std::iota(x.begin(), x.end(), 0);
  return tensor_dataset({{"x", Tensor::from(x, {rows})}});
}

TEST(Gate, RowsWaitForAReleaseOnAnotherThread) {
  auto gate = std::make_shared<Gate>("g", 2);
  Reader rows(sync_wait(counting(6), gate), {}, {.workers = 3, .epochs = 1});
  std::thread other;
  int64_t seen = 0;
  for (Row row; rows.next(&row); ++seen) {
    if (other.joinable()) other.join();
    if (seen % 2 == 1 && seen < 5) other = std::thread([&] { gate->release(); });
  }
  if (other.joinable()) other.join();
  EXPECT_EQ(seen, 6);
  EXPECT_EQ(rows.stats().threads, 0);  // nothing was made ahead
}

TEST(Gate, ARowThatIsNotReleasedIsAnErrorAndComesLater) {
  auto gate = std::make_shared<Gate>("g", 1, [] { return 0.0; });
  Reader rows(batch(sync_wait(counting(4), gate), 2), {}, {.epochs = 1});
  Row row;
  ASSERT_TRUE(rows.next(&row));
  EXPECT_THROW(rows.next(&row), UserError);
  gate->release();
  ASSERT_TRUE(rows.next(&row));
  EXPECT_EQ(row[0].tensor().data<int64_t>()[0], 2);
  EXPECT_FALSE(rows.next(&row));
  EXPECT_FALSE(rows.next(&row));
}

TEST(Gate, WaitingCanBeInterrupted) {
  auto gate = std::make_shared<Gate>("g", 1);
  int polls = 0;
  ReaderOptions options{.epochs = 1, .poll = [&] {
                          if (++polls == 3) fail(ErrorKind::kInterrupted, "enough");
                        }};
  Reader rows(sync_wait(counting(4), gate), {}, options);
  Row row;
  ASSERT_TRUE(rows.next(&row));
  EXPECT_THROW(rows.next(&row), UserError);
}

}  // namespace
}  // namespace mycel::data
