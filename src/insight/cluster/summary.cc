#include "insight/cluster/summary.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace mycel::insight {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRanks = 65536, kMostLinks = 1 << 20, kMostAdvice = 40, kRows = 128;

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  auto middle = v.begin() + static_cast<int64_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

double number(const Json& j, const char* name) {
  const double v = j.at(name).get<double>();
  if (!std::isfinite(v) || v < 0) throw std::domain_error(name);
  return v;
}

}  // namespace

void ClusterSummary::put_memory(Rank* r, int64_t step, double peak) {
  // All ranks share the columns: where a step lies beyond the last one, two become one everywhere.
  while ((step - first_step_) / width_ >= static_cast<int64_t>(kColumns)) {
    for (auto& [number, rank] : ranks_) {
      std::vector<float> half((rank.peaks.size() + 1) / 2);
      for (size_t i = 0; i < rank.peaks.size(); ++i)
        half[i / 2] = std::max(half[i / 2], rank.peaks[i]);
      rank.peaks = std::move(half);
    }
    width_ *= 2;
  }
  const auto column = static_cast<size_t>(std::max<int64_t>(step - first_step_, 0) / width_);
  if (r->peaks.size() <= column) r->peaks.resize(column + 1);
  r->peaks[column] = std::max(r->peaks[column], static_cast<float>(peak));
}

bool ClusterSummary::add(const std::string& record) {
  try {
    const Json j = Json::parse(record);
    const auto number_of_rank = j.at("rank").get<int64_t>(), ranks = j.at("ranks").get<int64_t>();
    if (number_of_rank < 0 || number_of_rank >= ranks || ranks > static_cast<int64_t>(kMostRanks))
      throw std::domain_error("rank");
    // Read wholly before anything is added.
    struct Read {
      int64_t step;
      double seconds, compute, wait, memory, peak;
      std::vector<std::pair<LinkName, Link>> links;
    };
    std::vector<Read> all;
    for (const Json& s : j.at("steps")) {
      Read r{s.at("step").get<int64_t>(),
             number(s, "seconds"),
             number(s, "compute"),
             number(s, "wait"),
             number(s, "memory"),
             number(s, "peak"),
             {}};
      if (r.step < 0 || r.step > int64_t{1} << 50) throw std::domain_error("step");
      for (const Json& l : s.at("links")) {
        const double seconds = l.at(2).get<double>();
        if (!(seconds >= 0) || !std::isfinite(seconds)) throw std::domain_error("link");
        r.links.push_back(
            {{l.at(0).get<std::string>().substr(0, 80), number_of_rank, l.at(1).get<int64_t>()},
             {1, std::max<int64_t>(l.at(3).get<int64_t>(), 0), seconds}});
      }
      all.push_back(std::move(r));
    }
    const std::string host = j.at("host").get<std::string>().substr(0, 200);
    expected_ = std::max(expected_, ranks);
    Rank& rank = ranks_[number_of_rank];
    rank.host = host;
    for (const Read& r : all) {
      if (first_step_ < 0) first_step_ = r.step;
      last_step_ = std::max(last_step_, r.step);
      ++rank.steps;
      rank.last_step = std::max(rank.last_step, r.step);
      rank.seconds += r.seconds;
      rank.compute += r.compute;
      rank.wait += r.wait;
      rank.memory = static_cast<int64_t>(r.memory);
      rank.peak = std::max(rank.peak, static_cast<int64_t>(r.peak));
      put_memory(&rank, r.step, r.peak);
      for (const auto& [name, link] : r.links) {
        rank.communication += link.seconds;
        rank.bytes += link.bytes;
        if (links_.size() >= kMostLinks && !links_.count(name)) continue;
        Link& to = links_[name];
        ++to.count;
        to.bytes += link.bytes;
        to.seconds += link.seconds;
      }
    }
    return true;
  } catch (const std::exception&) {
    ++damaged_;
    return false;
  }
}

double ClusterSummary::median_compute() const {
  std::vector<double> v;
  for (const auto& [n, r] : ranks_) v.push_back(r.mean(r.compute));
  return median(std::move(v));
}

Json ClusterSummary::ranks(size_t limit, const std::string& sort) const {
  const double middle = median_compute();
  std::vector<std::pair<int64_t, const Rank*>> order;
  for (const auto& [n, r] : ranks_) order.emplace_back(n, &r);
  const auto key = [&](const Rank& r) {
    if (sort == "seconds") return r.mean(r.seconds);
    if (sort == "communication") return r.mean(r.communication);
    if (sort == "wait") return r.mean(r.wait);
    if (sort == "peak") return static_cast<double>(r.peak);
    return r.mean(r.compute);
  };
  if (sort != "rank")
    std::stable_sort(order.begin(), order.end(),
                     [&](const auto& a, const auto& b) { return key(*a.second) > key(*b.second); });
  Json rows = Json::array();
  double seconds = 0, compute = 0, wait = 0, communication = 0;
  for (const auto& [n, r] : ranks_) {
    seconds += r.mean(r.seconds);
    compute += r.mean(r.compute);
    wait += r.mean(r.wait);
    communication += r.mean(r.communication);
  }
  for (size_t i = 0; i < std::min(order.size(), limit); ++i) {
    const auto& [n, r] = order[i];
    const double own = r->mean(r->compute);
    rows.push_back({{"rank", n},
                    {"host", r->host},
                    {"steps", r->steps},
                    {"last_step", r->last_step},
                    {"seconds", r->mean(r->seconds)},
                    {"compute", own},
                    {"communication", r->mean(r->communication)},
                    {"wait", r->mean(r->wait)},
                    {"bytes", r->mean(static_cast<double>(r->bytes))},
                    {"memory", r->memory},
                    {"peak", r->peak},
                    {"slower", middle > 0 ? own / middle - 1 : 0}});
  }
  const double many = std::max<double>(1, static_cast<double>(ranks_.size()));
  return {
      {"ranks", ranks_.size()},    {"expected", expected_}, {"first_step", first_step_},
      {"last_step", last_step_},   {"damaged", damaged_},   {"seconds", seconds / many},
      {"compute", compute / many}, {"wait", wait / many},   {"communication", communication / many},
      {"median_compute", middle},  {"rows", rows}};
}

Json ClusterSummary::memory() const {
  const size_t rows = std::min(ranks_.size(), kRows);
  size_t columns = 0;
  for (const auto& [n, r] : ranks_) columns = std::max(columns, r.peaks.size());
  std::vector<float> cells(rows * columns, 0);
  std::vector<int64_t> first(rows, -1);
  size_t place = 0;
  for (const auto& [n, r] : ranks_) {
    const size_t row = place++ * rows / ranks_.size();
    if (first[row] < 0) first[row] = n;
    for (size_t c = 0; c < r.peaks.size(); ++c)
      cells[row * columns + c] = std::max(cells[row * columns + c], r.peaks[c]);
  }
  return {{"rows", rows},    {"columns", columns}, {"first", first}, {"first_step", first_step_},
          {"width", width_}, {"cells", cells}};
}

std::map<std::string, double> ClusterSummary::median_bandwidths() const {
  std::map<std::string, std::vector<double>> all;
  for (const auto& [name, l] : links_) {
    if (l.bytes > 0 && l.seconds > 0) all[name.collective].push_back(l.bandwidth());
  }
  std::map<std::string, double> out;
  for (auto& [collective, v] : all) out[collective] = median(std::move(v));
  return out;
}

Json ClusterSummary::links(size_t limit) const {
  const auto medians = median_bandwidths();
  struct Row {
    const LinkName* name;
    const Link* link;
    double share;  // of the median bandwidth
  };
  std::vector<Row> order;
  for (const auto& [name, l] : links_) {
    if (l.bytes > 0 && l.seconds > 0)
      order.push_back({&name, &l, l.bandwidth() / medians.at(name.collective)});
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Row& a, const Row& b) { return a.share < b.share; });
  Json rows = Json::array();
  for (size_t i = 0; i < std::min(order.size(), limit); ++i) {
    const Row& r = order[i];
    rows.push_back({{"collective", r.name->collective},
                    {"rank", r.name->rank},
                    {"peer", r.name->peer},
                    {"count", r.link->count},
                    {"seconds", r.link->seconds / static_cast<double>(r.link->count)},
                    {"bandwidth", r.link->bandwidth()},
                    {"share", r.share}});
  }
  Json middle = Json::object();
  for (const auto& [collective, v] : medians) middle[collective] = v;
  return {{"links", order.size()}, {"medians", middle}, {"rows", rows}};
}

Json ClusterSummary::advice() const {
  constexpr double kSlower = 0.15, kWeakLink = 0.6, kMuchTalk = 0.35, kMuchWait = 0.1,
                   kUneven = 1.5;
  struct Found {
    double weight;  // share of a step that it costs, roughly
    Json what;
  };
  std::vector<Found> found;
  if (ranks_.empty()) return Json::array();
  const double middle = median_compute();
  double seconds = 0, communication = 0, wait = 0;
  std::vector<double> peaks;
  std::map<std::string, std::pair<double, int64_t>> hosts;
  for (const auto& [n, r] : ranks_) {
    seconds += r.mean(r.seconds);
    communication += r.mean(r.communication);
    wait += r.mean(r.wait);
    peaks.push_back(static_cast<double>(r.peak));
    const double slower = middle > 0 ? r.mean(r.compute) / middle - 1 : 0;
    auto& [sum, count] = hosts[r.host];
    sum += slower;
    ++count;
  }
  // One machine whose ranks are all slow is one finding.
  const auto slow_host = [&](const std::string& host) {
    const auto& [sum, count] = hosts.at(host);
    return hosts.size() > 1 && count > 1 && sum / static_cast<double>(count) > kSlower;
  };
  for (const auto& [host, of] : hosts) {
    const double slower = of.first / static_cast<double>(of.second);
    if (slow_host(host))
      found.push_back(
          {1 + slower,
           {{"kind", "slow_host"}, {"host", host}, {"ranks", of.second}, {"slower", slower}}});
  }
  for (const auto& [n, r] : ranks_) {
    const double slower = middle > 0 ? r.mean(r.compute) / middle - 1 : 0;
    if (slower > kSlower && !slow_host(r.host))
      found.push_back(
          {slower, {{"kind", "slow_rank"}, {"rank", n}, {"host", r.host}, {"slower", slower}}});
  }
  const auto medians = median_bandwidths();
  for (const auto& [name, l] : links_) {
    if (l.bytes == 0 || l.seconds == 0) continue;
    const double share = l.bandwidth() / medians.at(name.collective);
    if (share < kWeakLink && name.peer >= 0)
      found.push_back({1 - share,
                       {{"kind", "slow_link"},
                        {"rank", name.rank},
                        {"peer", name.peer},
                        {"collective", name.collective},
                        {"share", share},
                        {"bandwidth", l.bandwidth()}}});
  }
  if (seconds > 0 && communication / seconds > kMuchTalk)
    found.push_back({communication / seconds + 0.5,
                     {{"kind", "communication"}, {"share", communication / seconds}}});
  if (seconds > 0 && wait / seconds > kMuchWait)
    found.push_back({wait / seconds + 0.5, {{"kind", "data"}, {"share", wait / seconds}}});
  const double usual = median(peaks), most = *std::max_element(peaks.begin(), peaks.end());
  if (usual > 0 && most / usual > kUneven) {
    for (const auto& [n, r] : ranks_) {
      if (static_cast<double>(r.peak) == most) {
        found.push_back({most / usual - 1,
                         {{"kind", "memory"}, {"rank", n}, {"peak", r.peak}, {"median", usual}}});
        break;
      }
    }
  }
  if (static_cast<int64_t>(ranks_.size()) < expected_)
    found.push_back(
        {2, {{"kind", "missing"}, {"ranks", expected_ - static_cast<int64_t>(ranks_.size())}}});
  for (const auto& [n, r] : ranks_) {
    if (r.last_step + 100 < last_step_ && r.last_step * 10 < last_step_ * 9)
      found.push_back(
          {1.5, {{"kind", "stopped"}, {"rank", n}, {"host", r.host}, {"last_step", r.last_step}}});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.weight > b.weight; });
  if (found.size() > kMostAdvice) found.resize(kMostAdvice);
  Json out = Json::array();
  for (Found& f : found) out.push_back(std::move(f.what));
  return out;
}

}  // namespace mycel::insight
