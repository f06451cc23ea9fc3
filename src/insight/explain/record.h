// ExplainRecorder: the data contract of page Explain. Into event files go the pictures
// "explain/image" (samples), "explain/map" (saliency, grey) and "explain/masked" (steps of
// counterfactuals), and JSON: "explain/labels" [names]; "explain/sample" {"sample", "label" (-1:
// not known), "probabilities", "image", "maps": [{"method", "class", "map", "low", "high"}…]};
// "explain/counterfactual" {"sample", "class", "method", "steps": [{"image", "probability"}…]};
// "explain/score" {"method", "metric", "class" (-1: all), "value"}. image and map count the
// pictures of their tag from 0.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "insight/recorder.h"

namespace mycel::insight {

struct SaliencyMap {
  std::string method;
  int64_t cls = 0;
  Tensor values;  // [h, w], real
};

class ExplainRecorder {
 public:
  // One writer a run: pictures are named by their number.
  ExplainRecorder(const std::string& folder, const std::vector<std::string>& labels);
  // An image [c, h, w] with c = 1 or 3, its class (-1: not known), the probability of every class
  // (or none), saliency maps. Gives its number. ValueError and TypeError for what does not fit.
  int64_t sample(const Tensor& image, int64_t label, const std::vector<double>& probabilities,
                 const std::vector<SaliencyMap>& maps);
  // (image, probability of the class) as parts are masked; the first one is the image as it is.
  void counterfactual(int64_t sample, int64_t cls, const std::string& method,
                      const std::vector<std::pair<Tensor, double>>& steps);
  // The score of a method by a metric, for a class or (-1) over all.
  void score(const std::string& method, const std::string& metric, int64_t cls, double value);
  void close() { recorder_.close(); }

 private:
  void check_class(int64_t cls, bool may_be_none) const;
  Recorder recorder_;
  const int64_t classes_;
  int64_t samples_ = 0, maps_ = 0, masked_ = 0;
};

}  // namespace mycel::insight
