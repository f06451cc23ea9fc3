// Random programs: sound, the same as text and in a file, the same results op by op, compiled, and
// after each pass. Float results are compared to 1e-5 of their size: pow, the one op that a pass
// replaces by a rounder one, is not among those drawn, so nothing but NaN need differ at all.
#include "random_graph.h"

#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "graph_checks.h"
#include "ir/graph_file.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "runtime/dispatch.h"
#include "runtime/plan.h"
#include "shrink_graph.h"

namespace mycel {
namespace {

using graph_checks::random_graph;

constexpr double kTolerance = 1e-5;

struct Sample {
  uint64_t seed;
  int nodes;
  bool with_16_bit() const { return seed % 5 == 4; }
  double tolerance() const {
    return with_16_bit() ? std::numeric_limits<double>::infinity() : kTolerance;
  }
};

// Each check gives what is wrong, or "".
std::string check_text(const std::shared_ptr<ir::Graph>& g) {
  std::string text = g->str();
  auto back = ir::parse(text);
  if (back->str() != text) return fmt::format("text: read back as\n{}", back->str());
  return ir::problem_of(*back);
}

std::string check_file(const std::shared_ptr<ir::Graph>& g) {
  std::string bytes = ir::encode_graph_file({g, g->params().size(), {}, {}});
  Tensor memory = Tensor::empty(DType::kUInt8, {static_cast<int64_t>(bytes.size())});
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(memory.mutable_raw()));
  auto* data = static_cast<std::byte*>(memory.mutable_raw());
  std::string back = ir::decode_graph_file({data, bytes.size()}, memory.impl()).graph->str();
  return back == g->str() ? "" : fmt::format("file: read back as\n{}", back);
}

std::string check_compiled(const ir::Graph& g, const Sample& s) {
  Tensors in = graph_checks::inputs_for(g, s.seed);
  Tensors want = runtime::run_graph(g, in);
  std::string wrong = graph_checks::differ(runtime::Plan::build(g)->run(in), want, s.tolerance());
  return wrong.empty() ? "" : "compiled: " + wrong;
}

// Some ops refuse values, as Cholesky's does matrices that are not positive definite; a program
// that meets such has nothing to compare.
bool has_values(const ir::Graph& g, const Sample& s) {
  try {
    runtime::run_graph(g, graph_checks::inputs_for(g, s.seed));
    return true;
  } catch (const UserError& e) {
    return e.kind() != ErrorKind::kValue;  // other kinds are faults
  }
}

std::string check_graph(const std::shared_ptr<ir::Graph>& g, const Sample& sample) {
  try {
    if (std::string s = ir::problem_of(*g); !s.empty()) return s;
    if (std::string s = check_text(g); !s.empty()) return s;
    if (std::string s = check_file(g); !s.empty()) return s;
    for (const auto& pass : graph_checks::all_passes()) {
      if (std::string s = graph_checks::check_pass(pass, *g, sample.seed, sample.tolerance());
          !s.empty())
        return s;
    }
    return check_compiled(*g, sample);
  } catch (const std::exception& e) {
    if (!has_values(*g, sample)) return "";
    return fmt::format("thrown: {}", e.what());
  }
}

std::string first_word(const std::string& s) { return s.substr(0, s.find(' ')); }

// False after a failure, which is reported with the smallest program that fails in the same way.
bool check_program(const Sample& s) {
  auto g = random_graph(s.seed, s.nodes, s.with_16_bit());
  std::string wrong = check_graph(g, s);
  if (wrong.empty()) return true;
  std::string kind = first_word(wrong);
  // Constants that are one tensor are several when read back from text.
  if (first_word(check_graph(ir::parse(g->str()), s)) != kind) {
    ADD_FAILURE() << "seed " << s.seed << ", " << s.nodes << " nodes: " << wrong << "\nof\n"
                  << g->str();
    return false;
  }
  auto small = graph_checks::shrink(g, [&](const ir::Graph& h) {
    auto copy = ir::parse(h.str());
    return first_word(check_graph(copy, s)) == kind;
  });
  ADD_FAILURE() << "seed " << s.seed << ", " << s.nodes
                << " nodes: " << check_graph(ir::parse(small->str()), s) << "\nof\n"
                << small->str();
  return false;
}

// MYCEL_SEED=n checks that program alone.
void check_programs(uint64_t from, uint64_t to, int (*nodes)(uint64_t)) {
  if (const char* one = std::getenv("MYCEL_SEED")) {
    from = std::strtoull(one, nullptr, 10);
    to = from + 1;
  }
  int failures = 0;
  for (uint64_t seed = from; seed < to && failures < 5; ++seed)
    failures += !check_program({seed, nodes(seed)});
}

// Damages a graph's text: it is refused with a UserError, or still a sound graph.
void check_damaged_text(uint64_t seed) {
  Philox draw(seed, 5);
  std::string text = random_graph(seed % 50, 12)->str();
  static constexpr const char* kPieces[] = {"%",
                                            "%0",
                                            "%999999999999",
                                            "-1",
                                            "?",
                                            "[",
                                            "]",
                                            "{",
                                            "}",
                                            "(",
                                            ")",
                                            ":",
                                            "\"",
                                            "@",
                                            "@f",
                                            "graph",
                                            "return",
                                            "tensor",
                                            "None",
                                            "_",
                                            "stack<",
                                            "1e999",
                                            "nan",
                                            ",",
                                            "9223372036854775807",
                                            "float32",
                                            "while_loop",
                                            "="};
  for (uint64_t n = 1 + draw.below(3); n > 0; --n) {
    size_t at = draw.below(text.size());
    switch (draw.below(4)) {
      case 0:
        text[at] = static_cast<char>(draw.below(256));
        break;
      case 1:
        text.erase(at, 1 + draw.below(8));
        break;
      case 2:
        text.insert(at, kPieces[draw.below(std::size(kPieces))]);
        break;
      default:
        text.insert(at, text.substr(draw.below(text.size()), 1 + draw.below(40)));
    }
    if (text.empty()) return;
  }
  try {
    auto g = ir::parse(text);
    EXPECT_EQ(ir::problem_of(*g), "") << text;
  } catch (const UserError&) {
  } catch (const std::exception& e) {
    ADD_FAILURE() << "seed " << seed << ": " << e.what() << "\n" << text;
  }
}

TEST(RandomGraph, SomePrograms) {
  check_programs(0, 200, [](uint64_t) { return 12; });
}
TEST(RandomGraph, DamagedText) {
  for (uint64_t seed = 0; seed < 2000; ++seed) check_damaged_text(seed);
}

TEST(CiRandomGraph, ManyPrograms) {
  check_programs(1000, 4000, [](uint64_t seed) { return 8 + static_cast<int>(seed % 40); });
}
TEST(CiRandomGraph, DamagedText) {
  for (uint64_t seed = 10000; seed < 60000; ++seed) check_damaged_text(seed);
}

}  // namespace
}  // namespace mycel
