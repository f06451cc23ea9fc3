#include "insight/plot.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace mycel::insight {
namespace {

constexpr int kWidth = 440, kHeight = 250, kLeft = 64, kRight = 12, kTop = 30, kBottom = 30;
constexpr int kLegendLine = 16, kLegendNames = 30;
constexpr size_t kMostCharts = 60, kMostRuns = 14;
constexpr int kPoints = 300;
// Okabe and Ito's, as on the pages.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#b0a000"};

std::string escaped(const std::string& s) {
  std::string out;
  for (char c : s) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (u >= 32 && u != 127) {
      out += c;
    }
  }
  return out;
}

struct Line {
  size_t run = 0;         // which colour
  int64_t last_step = 0;  // of the values that the last point stands for, too
  std::vector<CurvePoint> points;
};

struct Range {
  double low = INFINITY, high = -INFINITY;
  void add(double v) {
    if (!std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  void settle() {
    if (low > high) low = 0, high = 1;
    if (low == high) {
      const double room = std::abs(low) > 0 ? std::abs(low) * 0.1 : 1;
      low -= room;
      high += room;
    }
  }
  double share(double v) const { return (v - low) / (high - low); }
};

class Chart {
 public:
  Chart(std::string tag, std::vector<Line> lines, const PlotOptions& o)
      : tag_(std::move(tag)), lines_(std::move(lines)), o_(o) {
    for (const Line& l : lines_) {
      x_.add(static_cast<double>(l.last_step));
      for (const CurvePoint& p : l.points) {
        x_.add(static_cast<double>(p.step));
        for (double v : {p.min, p.max, p.mean}) y_.add(scaled(v));
      }
    }
    x_.settle();
    y_.settle();
  }

  std::string str(int left, int top) const {
    std::string out = fmt::format(
        "<g transform=\"translate({} {})\">"
        "<text class=\"t\" x=\"{}\" y=\"18\">{}</text>",
        left, top, kLeft, escaped(tag_));
    for (double f : {0.0, 0.5, 1.0}) {
      const double y = kHeight - kBottom - f * (kHeight - kTop - kBottom);
      const double v = y_.low + f * (y_.high - y_.low);
      out += fmt::format(
          "<path class=\"g\" d=\"M{} {:.1f}H{}\"/>"
          "<text class=\"e\" x=\"{}\" y=\"{:.1f}\">{:.4g}</text>",
          kLeft, y, kWidth - kRight, kLeft - 6, y + 4, o_.logarithmic ? std::pow(10, v) : v);
    }
    out += fmt::format(
        "<text x=\"{}\" y=\"{}\">{:.6g}</text>"
        "<text class=\"e\" x=\"{}\" y=\"{}\">{} {:.6g}</text>",
        kLeft, kHeight - 10, x_.low, kWidth - kRight, kHeight - 10, o_.chinese ? "步" : "step",
        x_.high);
    for (const Line& l : lines_) out += drawn(l);
    return out + "</g>\n";
  }

 private:
  double scaled(double v) const { return o_.logarithmic ? (v > 0 ? std::log10(v) : NAN) : v; }
  double x(const CurvePoint& p) const {
    return kLeft + x_.share(static_cast<double>(p.step)) * (kWidth - kLeft - kRight);
  }
  double y(double v) const {
    return kHeight - kBottom - y_.share(scaled(v)) * (kHeight - kTop - kBottom);
  }

  std::string drawn(const Line& l) const {
    const char* colour = kColours[l.run % std::size(kColours)];
    std::string up, down, mean;
    bool pen = false, ranges = false;
    size_t shown = 0;
    for (const CurvePoint& p : l.points) {
      if (!std::isfinite(scaled(p.mean))) {
        pen = false;
        continue;
      }
      ++shown;
      mean += fmt::format("{}{:.1f} {:.1f}", pen ? "L" : "M", x(p), y(p.mean));
      pen = true;
      if (!std::isfinite(scaled(p.min)) || !std::isfinite(scaled(p.max))) continue;
      ranges |= p.count > 1;
      up += fmt::format("{}{:.1f} {:.1f}", up.empty() ? "M" : "L", x(p), y(p.max));
      down = fmt::format("L{:.1f} {:.1f}", x(p), y(p.min)) + down;
    }
    std::string out;
    if (ranges)
      out += fmt::format("<path d=\"{}{}Z\" fill=\"{}\" fill-opacity=\".16\"/>", up, down, colour);
    if (shown == 1) {
      for (const CurvePoint& p : l.points) {
        if (std::isfinite(scaled(p.mean)))
          out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>", x(p),
                             y(p.mean), colour);
      }
    }
    return out + fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{}/>",
                             mean, colour,
                             l.run >= std::size(kColours) ? " stroke-dasharray=\"7 4\"" : "");
  }

  std::string tag_;
  std::vector<Line> lines_;
  const PlotOptions& o_;
  Range x_, y_;
};

void check(const std::vector<std::string>& asked, const std::vector<std::string>& known,
           const char* what) {
  for (const std::string& name : asked) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail(ErrorKind::kKey, "plot: there is no {} '{}'; there are: {}", what, name,
           fmt::join(known, ", "));
  }
}

bool wanted(const std::vector<std::string>& asked, const std::string& name) {
  return asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end();
}

}  // namespace

std::string plot_svg(Index& index, const PlotOptions& o) {
  std::map<int64_t, size_t> colours;
  std::vector<std::string> names, known_runs, known_tags;
  for (const RunInfo& r : index.runs()) {
    known_runs.push_back(r.name);
    if (!wanted(o.runs, r.name) || names.size() >= kMostRuns) continue;
    colours[r.id] = names.size();
    names.push_back(r.name);
  }
  check(o.runs, known_runs, "run");
  std::map<std::string, std::vector<Line>> lines;
  for (const SeriesInfo& s : index.series()) {
    if (s.kind != Kind::kScalar || !colours.count(s.run)) continue;
    if (known_tags.empty() || known_tags.back() != s.tag) known_tags.push_back(s.tag);
    if (wanted(o.tags, s.tag))
      lines[s.tag].push_back(
          {colours[s.run], s.last_step, index.curve(s.id, {.columns = kPoints})});
  }
  check(o.tags, known_tags, "scalar");
  const auto charts = static_cast<int>(std::min(lines.size(), kMostCharts));
  const int rows = (charts + 1) / 2;
  const int legend = static_cast<int>((names.size() + 1) / 2) * kLegendLine + 12;
  const int width = charts > 1 ? 2 * kWidth : kWidth, height = rows * kHeight + legend + 24;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" class=\"mycel-plot\"><title>{2}</title><style>"
      ".mycel-plot{{background:#fff;max-width:100%;height:auto;font:12px system-ui,'Noto Sans',"
      "'Noto Sans CJK SC',sans-serif}}.mycel-plot text{{fill:#1a1d21}}.mycel-plot .t{{font-weight:"
      "600}}.mycel-plot .e{{text-anchor:end}}.mycel-plot .g{{stroke:#d9dee6}}"
      "@media(prefers-color-scheme:dark){{.mycel-plot{{background:#1b1f25}}.mycel-plot text{{fill:"
      "#e8ebef}}.mycel-plot .g{{stroke:#343b45}}}}"
      "[data-jp-theme-light=\"false\"] .mycel-plot{{background:#1b1f25}}"
      "[data-jp-theme-light=\"false\"] .mycel-plot text{{fill:#e8ebef}}"
      "[data-jp-theme-light=\"true\"] .mycel-plot{{background:#fff}}"
      "[data-jp-theme-light=\"true\"] .mycel-plot text{{fill:#1a1d21}}</style>\n",
      width, height, o.chinese ? "训练曲线" : "Curves of runs");
  for (size_t i = 0; i < names.size(); ++i) {
    const int x = 12 + static_cast<int>(i % 2) * width / 2,
              y = 16 + static_cast<int>(i / 2) * kLegendLine;
    const std::string name = names[i].size() > kLegendNames * 2
                                 ? names[i].substr(0, kLegendNames * 2 - 1) + "…"
                                 : names[i];
    out += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"10\" height=\"10\" rx=\"2\" fill=\"{}\"/>"
        "<text x=\"{}\" y=\"{}\">{}</text>",
        x, y - 9, kColours[i % std::size(kColours)], x + 15, y, escaped(name));
  }
  if (charts == 0)
    out += fmt::format("<text x=\"12\" y=\"{}\">{}</text>", legend + 14,
                       o.chinese ? "没有标量记录" : "No scalars are recorded.");
  int at = 0;
  for (auto& [tag, of_tag] : lines) {
    if (at == charts) break;
    out += Chart(tag, std::move(of_tag), o).str(at % 2 * kWidth, legend + at / 2 * kHeight);
    ++at;
  }
  return out + "</svg>\n";
}

}  // namespace mycel::insight
