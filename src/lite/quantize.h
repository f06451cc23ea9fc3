// Post-training quantization: a float network and samples of its inputs give a network whose
// convolutions and products compute on 8-bit integers. The result is an ordinary network
// ("dequantize, compute, quantize" around each layer, as exporters write it): it runs, is saved and
// converted like any other, and the passes make integer kernels of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/model_file.h"

namespace mycel::lite {

enum class Observer : uint8_t {
  kMinMax,         // the range that was seen
  kMovingAverage,  // the ranges of the samples, averaged with weight 0.9 for what came before
  kPercentile,     // without the rarest values, `percentile` per cent stay
  kEntropy,        // the clipping whose distribution is closest (Kullback-Leibler, as TensorRT)
};
struct QuantizeOptions {
  Observer observer = Observer::kMinMax;
  double percentile = 99.99;
  bool per_channel = true;        // scales of weights
  bool symmetric = true;          // zero points 0: int8, or uint8 where nothing negative is seen
  bool bias_correction = true;    // takes the mean error of the quantized weights off
  std::vector<std::string> skip;  // layers that stay as they are, by the name of their weight or
                                  // the start of it
};

struct QuantizedLayer {
  std::string name, op;
  bool quantized = false;
  std::string why;  // it is not
  DType input = DType::kFloat32;
  double input_scale = 0;
  int64_t input_zero = 0;
  double weight_sqnr = 0, output_sqnr = 0;  // dB; the output's with all errors before it
};

struct QuantizeReport {
  std::vector<QuantizedLayer> layers;
  double output_sqnr = 0;                     // dB, of the network's results
  int64_t bytes_before = 0, bytes_after = 0;  // of weights
  std::vector<std::string> lines() const;
};

struct QuantizedModel {
  runtime::TracedModel model;
  QuantizeReport report;
};

// "minmax", "moving_average", "percentile", "entropy". ValueError naming what there is otherwise.
Observer observer_named(const std::string& name);

// `samples`: for each, the inputs of the network. UserError kValue when there is
// none or one does not fit, or when an option makes no sense.
QuantizedModel quantize(const runtime::TracedModel& model, std::span<const Tensors> samples,
                        const QuantizeOptions& options = {});

}  // namespace mycel::lite
