#include "backend/cpu/onednn/weight_gradient.h"

#include <algorithm>
#include <optional>

#include "backend/cpu/onednn/convolution_desc.h"
#include "base/threads.h"
#include "tensor/storage.h"

namespace mycel::cpu::onednn {
namespace {

using dnnl::memory;
using Dims = memory::dims;

int64_t product_of(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

int64_t pixels_of(const Convolution& c) { return c.batch * product_of(c.out); }

// Pixel for pixel with channels last, the gradient of the weights is one product, yᵀ x. oneDNN's
// matmul computes it faster than its convolution where there are many weights, and writes them as
// they are wanted. Measured with AVX-512 and AMX on 2 threads, GFLOP/s of convolution and product,
// float32: 7x7 2048 to 512 channels 155, 273; 14x14 1024 to 256 240, 262; bfloat16: 603, 1003; 891,
// 1282. With fewer weights matmul shares out the pixels, and the sums depend on the threads.
bool is_one_product(const Convolution& c) {
  auto all = [](const std::vector<int64_t>& list, int64_t n) {
    return std::all_of(list.begin(), list.end(), [n](int64_t v) { return v == n; });
  };
  if (!c.channel_last || c.groups != 1 || !all(c.kernel, 1) || !all(c.stride, 1)) return false;
  if (!all(c.pad_begin, 0) || !all(c.pad_end, 0)) return false;
  constexpr int64_t kChannels = 128, kWeights = 1 << 17;
  return std::min(c.in_channels, c.out_channels) >= kChannels &&
         c.in_channels * c.out_channels >= kWeights;
}

Recipe product_of_weights(const Convolution& c) {
  const int64_t rows = c.out_channels, cols = c.in_channels, depth = pixels_of(c);
  memory::data_type type = data_type_of(c.dtype);
  memory::desc y({rows, depth}, type, Dims{1, rows}), x({depth, cols}, type, Dims{cols, 1}),
      w({rows, cols}, type, Dims{cols, 1});
  dnnl::matmul::primitive_desc pd(engine(), y, x, w, user_scratchpad());
  if (!skip_reference(pd)) return refuse("oneDNN has only its reference matmul for this");
  auto program = std::make_shared<Program>();
  program->add(dnnl::matmul(pd), pd,
               {{DNNL_ARG_SRC, program->operand(y, c.y_at)},
                {DNNL_ARG_WEIGHTS, program->operand(x, c.x_at)},
                {DNNL_ARG_DST, program->operand(w, c.w_at)}});
  program->set_implementation(pd.impl_info_str());
  return {program, ""};
}

// How a problem is cut. More tasks than threads keep all of them busy; many parts of a batch cost
// memory and sums (no more than the activations are read anyway), narrow slices cost speed.
struct Cut {
  int64_t parts = 1, part = 1;  // of the batch: how many, images in each but the last
  int64_t slices = 1;           // of the output channels, all of one width
};

int64_t weights_of(const Convolution& c) {
  return c.out_channels * (c.in_channels / c.groups) * product_of(c.kernel);
}

Cut cut_of(const Convolution& c) {
  constexpr int64_t kTasks = 16, kEnough = 8, kVector = 16;  // channels of a vector
  Cut cut;
  if (flops_of(c) < kSerialFlops) {
    cut.part = c.batch;
    return cut;
  }
  const int64_t activations =
      c.batch * (c.in_channels * product_of(c.in) + c.out_channels * product_of(c.out));
  const int64_t most =
      std::clamp<int64_t>(activations / weights_of(c), 1, std::min(kTasks, c.batch));
  cut.part = (c.batch + most - 1) / most;
  cut.parts = (c.batch + cut.part - 1) / cut.part;
  if (cut.parts >= kEnough || c.groups > 1) return cut;
  for (int64_t n = 2; n * cut.parts <= kTasks; n *= 2) {
    if (c.out_channels % (n * kVector) == 0) cut.slices = n;
  }
  return cut;
}

using Desc = dnnl::convolution_backward_weights::primitive_desc;

// Nothing where oneDNN has only its reference.
std::optional<Desc> desc_of(const Convolution& c, const Layouts& l) {
  auto hint = forward_desc(c, layouts_of(c), dnnl::prop_kind::forward_training);
  Desc pd(engine(), dnnl::algorithm::convolution_direct, l.any_x, l.any_w, l.any_y, c.stride,
          minus_one(c.dilation), c.pad_begin, c.pad_end, hint, user_scratchpad());
  if (!skip_reference(pd)) return {};
  return pd;
}

// Buffers of a part: activations, gradient of the result, gradient of the weights.
enum PartBuffer { kX, kY, kW };

std::shared_ptr<const Program> program_of(const Desc& pd, const Layouts& l, const memory::desc& w) {
  auto program = std::make_shared<Program>();
  add_computation<dnnl::convolution_backward_weights>(
      *program, pd,
      {{DNNL_ARG_SRC, program->operand(l.x, kX)}, {DNNL_ARG_DIFF_DST, program->operand(l.y, kY)}},
      {DNNL_ARG_DIFF_WEIGHTS, program->operand(w, kW)});
  return program;
}

// One slice of the channels for `images` of the batch; y is read where it lies. The weights are
// sums to go on with: float32 whatever the elements are.
struct Part {
  Convolution c;
  Layouts l;

  Part(const Convolution& whole, const Cut& cut, int64_t images) : c(whole) {
    c.batch = images;
    c.out_channels /= cut.slices;
    l = layouts_of(c);
    l.any_w = memory::desc(l.w.get_dims(), memory::data_type::f32, memory::format_tag::any);
    l.y = activation_desc(images, c.out_channels, c.out, data_type_of(c.dtype), c.channel_last,
                          whole.out_channels);
  }
};

class Parted final : public Prepared {
 public:
  using Shared = std::shared_ptr<const Program>;

  // `last`: of the last part of the batch, which may be shorter. `sums`: the layout of a part's
  // result, `weights` the one that is wanted.
  Parted(const Convolution& c, const Cut& cut, Shared part, Shared last, const memory::desc& sums,
         const memory::desc& weights)
      : c_(c),
        cut_(cut),
        part_(std::move(part)),
        last_(std::move(last)),
        as_wanted_(reorder(sums, weights)) {
    bytes_ = (sums.get_size() + kAlignment - 1) / kAlignment * kAlignment;
    floats_ = static_cast<int64_t>(sums.get_size() / sizeof(float));
    const int64_t size = static_cast<int64_t>(size_of(c.dtype));
    const int64_t pixels = product_of(c.out), width = c.out_channels / cut.slices;
    x_part_ = cut.part * c.in_channels * product_of(c.in) * size;
    y_part_ = cut.part * c.out_channels * pixels * size;
    y_slice_ = width * (c.channel_last ? 1 : pixels) * size;
    w_slice_ = weights_of(c) / cut.slices * size;
  }

  void run(void* const* buffers) const override {
    auto* x = static_cast<char*>(buffers[c_.x_at]);
    auto* y = static_cast<char*>(buffers[c_.y_at]);
    auto* w = static_cast<char*>(buffers[c_.w_at]);
    const int64_t tasks = cut_.parts * cut_.slices;
    Ref<Storage> block = Storage::allocate(bytes_ * static_cast<size_t>(tasks));
    auto* sums = static_cast<char*>(block->data());
    parallel_for(tasks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t p = t / cut_.slices, s = t % cut_.slices;
        void* at[] = {x + p * x_part_, y + p * y_part_ + s * y_slice_, sums + bytes_ * t};
        (p + 1 < cut_.parts ? part_ : last_)->run(at);
      }
    });
    if (cut_.parts > 1) add_up(sums);
    for (int64_t s = 0; s < cut_.slices; ++s) {
      void* at[] = {sums + bytes_ * s, w + s * w_slice_};
      as_wanted_->run(at);
    }
  }
  const char* implementation() const override { return part_->implementation(); }

 private:
  // Into the first part, in order.
  void add_up(char* sums) const {
    constexpr int64_t kGrain = 4096;
    for (int64_t s = 0; s < cut_.slices; ++s) {
      auto* to = reinterpret_cast<float*>(sums + bytes_ * s);
      parallel_for(floats_, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t p = 1; p < cut_.parts; ++p) {
          auto* from = reinterpret_cast<const float*>(sums + bytes_ * (p * cut_.slices + s));
          for (int64_t i = begin; i < end; ++i) to[i] += from[i];
        }
      });
    }
  }

  Convolution c_;
  Cut cut_;
  Shared part_, last_, as_wanted_;
  size_t bytes_;                                 // of one part's sums
  int64_t floats_;                               // the same, with the padding of blocked layouts
  int64_t x_part_, y_part_, y_slice_, w_slice_;  // bytes from one to the next
};

}  // namespace

Recipe weight_gradient(const Convolution& c) {
  if (is_one_product(c)) {
    Recipe product = product_of_weights(c);
    if (product.refusal.empty()) return product;
  }
  const OneThread alone(true);  // each part is made for one
  const Cut cut = cut_of(c);
  const Part first(c, cut, cut.part);
  const std::optional<Desc> desc = desc_of(first.c, first.l);
  if (!desc) return refuse("oneDNN has only its reference convolution for this");
  const memory::desc sums = desc->diff_weights_desc();
  auto program = program_of(*desc, first.l, sums), last = program;
  if (const int64_t rest = c.batch % cut.part) {
    Part shorter(c, cut, rest);
    shorter.l.any_w = sums;
    const std::optional<Desc> rest_desc = desc_of(shorter.c, shorter.l);
    if (!rest_desc) return refuse("oneDNN has only its reference convolution for the last images");
    last = program_of(*rest_desc, shorter.l, sums);
  }
  Recipe recipe;
  recipe.kernel = std::make_shared<Parted>(c, cut, program, last, sums, first.l.w);
  return recipe;
}

}  // namespace mycel::cpu::onednn
