#include "lite/quantize/observer.h"

#include <algorithm>
#include <cmath>

namespace mycel::lite {

void RangeObserver::see(const Tensor& t) {
  const auto* x = static_cast<const float*>(t.raw());
  RealRange r;
  for (int64_t i = 0; i < t.size(); ++i) {
    if (!std::isfinite(x[i])) continue;
    r.low = std::min<double>(r.low, x[i]);
    r.high = std::max<double>(r.high, x[i]);
  }
  if (kind_ == Observer::kMovingAverage && any_) {
    constexpr double kBefore = 0.9;
    seen_.low = kBefore * seen_.low + (1 - kBefore) * r.low;
    seen_.high = kBefore * seen_.high + (1 - kBefore) * r.high;
  } else {
    seen_.low = std::min(seen_.low, r.low);
    seen_.high = std::max(seen_.high, r.high);
  }
  any_ = true;
  if (kind_ != Observer::kPercentile && kind_ != Observer::kEntropy) return;
  widen(std::max(-r.low, r.high));
  if (reach_ == 0) return;
  const double per = kBins / (2 * reach_);
  for (int64_t i = 0; i < t.size(); ++i) {
    if (!std::isfinite(x[i])) continue;
    const int bin = static_cast<int>((x[i] + reach_) * per);
    bins_[static_cast<size_t>(std::clamp(bin, 0, kBins - 1))] += 1;
  }
}

// Twice the reach puts two bins into one, so that what was counted stays counted.
void RangeObserver::widen(double reach) {
  if (reach == 0) return;
  if (reach_ == 0) {
    reach_ = reach;
    bins_.assign(kBins, 0);
  }
  while (reach_ < reach) {
    std::vector<double> wider(kBins, 0);
    for (int i = 0; i < kBins; ++i) wider[static_cast<size_t>(kBins / 4 + i / 2)] += bins_[i];
    bins_ = std::move(wider);
    reach_ *= 2;
  }
}

RealRange RangeObserver::range() const {
  if (kind_ == Observer::kPercentile && reach_ > 0) return by_percentile();
  if (kind_ == Observer::kEntropy && reach_ > 0) return by_entropy();
  return seen_;
}

RealRange RangeObserver::by_percentile() const {
  double total = 0;
  for (double n : bins_) total += n;
  const double spare = total * (100 - percentile_) / 100;
  const double width = 2 * reach_ / kBins;
  // Both ends share what may be left out.
  double left = 0, right = 0;
  int low = 0, high = kBins - 1;
  while (low < kBins / 2 && left + bins_[static_cast<size_t>(low)] <= spare / 2)
    left += bins_[static_cast<size_t>(low++)];
  while (high >= kBins / 2 && right + bins_[static_cast<size_t>(high)] <= spare / 2)
    right += bins_[static_cast<size_t>(high--)];
  return {std::max(seen_.low, std::min(0.0, low * width - reach_)),
          std::min(seen_.high, std::max(0.0, (high + 1) * width - reach_))};
}

std::vector<double> RangeObserver::magnitudes() const {
  std::vector<double> m(kBins / 2, 0);
  for (int i = 0; i < kBins / 2; ++i) {
    m[static_cast<size_t>(i)] =
        bins_[static_cast<size_t>(kBins / 2 + i)] + bins_[static_cast<size_t>(kBins / 2 - 1 - i)];
  }
  return m;
}

namespace {

// The divergence of what `levels` integers over the first `n` bins say from what was seen, all
// beyond counted to the last bin.
double divergence(const std::vector<double>& bins, size_t n, size_t levels) {
  std::vector<double> p(bins.begin(), bins.begin() + static_cast<int64_t>(n));
  for (size_t i = n; i < bins.size(); ++i) p[n - 1] += bins[i];
  std::vector<double> q(n, 0);
  for (size_t l = 0; l < levels; ++l) {
    const size_t from = l * n / levels, to = (l + 1) * n / levels;
    double sum = 0, filled = 0;
    for (size_t i = from; i < to; ++i) {
      sum += bins[i];
      filled += bins[i] > 0;
    }
    for (size_t i = from; i < to; ++i) q[i] = bins[i] > 0 ? sum / filled : 0;
  }
  double of_p = 0, of_q = 0;
  for (size_t i = 0; i < n; ++i) of_p += p[i], of_q += q[i];
  if (of_p == 0 || of_q == 0) return HUGE_VAL;
  double d = 0;
  constexpr double kLeast = 1e-9;  // where integers have nothing and there was something
  for (size_t i = 0; i < n; ++i) {
    if (p[i] == 0) continue;
    d += p[i] / of_p * std::log((p[i] / of_p) / std::max(q[i] / of_q, kLeast));
  }
  return d;
}

}  // namespace

RealRange RangeObserver::by_entropy() const {
  std::vector<double> bins = magnitudes();
  bins[0] = 0;  // what is 0 stays 0 under any scale, and often is the most by far
  constexpr size_t kLevels = 128, kStep = 16;
  size_t best = bins.size();
  double least = divergence(bins, best, kLevels);
  for (size_t n = kLevels; n < bins.size(); n += kStep) {
    const double d = divergence(bins, n, kLevels);
    if (d < least) least = d, best = n;
  }
  const double clip = reach_ * static_cast<double>(best) / static_cast<double>(bins.size());
  return {std::max(seen_.low, -clip), std::min(seen_.high, clip)};
}

IntegerCode code_of(RealRange r, bool symmetric) {
  IntegerCode c;
  if (r.low >= 0) {
    c.dtype = DType::kUInt8;
    c.scale = r.high / 255;
  } else if (symmetric) {
    c.scale = std::max(-r.low, r.high) / 127;
  } else {
    c.dtype = DType::kUInt8;
    c.scale = (r.high - r.low) / 255;
    c.zero = std::clamp<int64_t>(std::llrint(-r.low / c.scale), 0, 255);
  }
  // As it is stored; a tensor of zeros has any.
  c.scale = static_cast<double>(static_cast<float>(c.scale));
  if (!(c.scale > 0x1p-100)) c.scale = 1;
  return c;
}

}  // namespace mycel::lite
