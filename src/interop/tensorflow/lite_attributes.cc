#include "interop/tensorflow/lite_attributes.h"

#include <fmt/format.h>

#include "base/error.h"

namespace mycel::interop::tensorflow {
namespace {

using Which = fb::BuiltinOptions;

class Reader {
 public:
  Reader(const fb::Operator& from, Node& n) : from_(from), n_(n) {}

  void read() {
    windows();
    arithmetic();
    shapes();
    others();
  }

 private:
  // The options when they are of this kind; null otherwise, and where a file leaves them out.
  template <typename T>
  const T* table(Which which) const {
    if (from_.builtin_options_type() != which) return nullptr;
    return static_cast<const T*>(from_.builtin_options());
  }
  void set(const char* key, AttrValue v) { n_.attrs.emplace_back(key, std::move(v)); }
  void set_int(const char* key, int64_t v) { set(key, v); }

  void padding(int code) {
    if (code != 0 && code != 1)
      value_error("{} {} '{}': padding {}; 0 (SAME) and 1 (VALID) are allowed", n_.op, n_.at,
                  n_.name, code);
    set("padding", std::string(code == 0 ? "SAME" : "VALID"));
  }
  void activation(int code) {
    static constexpr const char* kNames[] = {"",      "RELU", "RELU_N1_TO_1",
                                             "RELU6", "TANH", "SIGN_BIT"};
    if (code < 0 || code > 5)
      value_error("{} {} '{}': activation {}; 0 to 5 are allowed", n_.op, n_.at, n_.name, code);
    if (code) set("activation", std::string(kNames[code]));
  }
  void strides(int h, int w) { set("strides", Ints{h, w}); }
  void type(const char* key, int code) {
    set(key, dtype_of_code(code, n_.op + " '" + n_.name + "'"));
  }
  void ints(const char* key, const flatbuffers::Vector<int32_t>* v) {
    if (v) set(key, Ints(v->begin(), v->end()));
  }

  void windows() {
    if (auto* o = table<fb::Conv2DOptions>(Which::Conv2DOptions)) {
      padding(o->padding());
      strides(o->stride_h(), o->stride_w());
      set("dilations", Ints{o->dilation_h_factor(), o->dilation_w_factor()});
      activation(o->fused_activation_function());
    }
    if (auto* o = table<fb::DepthwiseConv2DOptions>(Which::DepthwiseConv2DOptions)) {
      padding(o->padding());
      strides(o->stride_h(), o->stride_w());
      set("dilations", Ints{o->dilation_h_factor(), o->dilation_w_factor()});
      activation(o->fused_activation_function());
    }
    if (auto* o = table<fb::Conv3DOptions>(Which::Conv3DOptions)) {
      padding(o->padding());
      set("strides", Ints{o->stride_d(), o->stride_h(), o->stride_w()});
      set("dilations",
          Ints{o->dilation_d_factor(), o->dilation_h_factor(), o->dilation_w_factor()});
      activation(o->fused_activation_function());
    }
    if (auto* o = table<fb::TransposeConvOptions>(Which::TransposeConvOptions)) {
      padding(o->padding());
      strides(o->stride_h(), o->stride_w());
      activation(o->fused_activation_function());
    }
    if (auto* o = table<fb::Pool2DOptions>(Which::Pool2DOptions)) {
      padding(o->padding());
      strides(o->stride_h(), o->stride_w());
      set("ksize", Ints{o->filter_height(), o->filter_width()});
      activation(o->fused_activation_function());
    }
    if (auto* o = table<fb::ResizeBilinearOptions>(Which::ResizeBilinearOptions)) {
      set("align_corners", o->align_corners());
      set("half_pixel_centers", o->half_pixel_centers());
    }
    if (auto* o = table<fb::ResizeNearestNeighborOptions>(Which::ResizeNearestNeighborOptions)) {
      set("align_corners", o->align_corners());
      set("half_pixel_centers", o->half_pixel_centers());
    }
  }

  void arithmetic() {
    if (auto* o = table<fb::AddOptions>(Which::AddOptions)) {
      activation(o->fused_activation_function());
      set("pot_scale_int16", o->pot_scale_int16());
    }
    if (auto* o = table<fb::SubOptions>(Which::SubOptions)) {
      activation(o->fused_activation_function());
      set("pot_scale_int16", o->pot_scale_int16());
    }
    if (auto* o = table<fb::MulOptions>(Which::MulOptions))
      activation(o->fused_activation_function());
    if (auto* o = table<fb::DivOptions>(Which::DivOptions))
      activation(o->fused_activation_function());
    if (auto* o = table<fb::L2NormOptions>(Which::L2NormOptions))
      activation(o->fused_activation_function());
    if (auto* o = table<fb::FullyConnectedOptions>(Which::FullyConnectedOptions)) {
      activation(o->fused_activation_function());
      if (o->weights_format() != 0)
        fail(ErrorKind::kUnsupported, "{} '{}': weights in format {}; only 0 is read", n_.op,
             n_.name, o->weights_format());
      set("keep_num_dims", o->keep_num_dims());
      set("asymmetric_quantize_inputs", o->asymmetric_quantize_inputs());
    }
    if (auto* o = table<fb::BatchMatMulOptions>(Which::BatchMatMulOptions)) {
      set("adj_x", o->adj_x());
      set("adj_y", o->adj_y());
    }
    if (auto* o = table<fb::SoftmaxOptions>(Which::SoftmaxOptions))
      set("beta", static_cast<double>(o->beta()));
    if (auto* o = table<fb::LeakyReluOptions>(Which::LeakyReluOptions))
      set("alpha", static_cast<double>(o->alpha()));
    if (auto* o = table<fb::GeluOptions>(Which::GeluOptions)) set("approximate", o->approximate());
    if (auto* o = table<fb::FakeQuantOptions>(Which::FakeQuantOptions)) {
      set("min", static_cast<double>(o->min()));
      set("max", static_cast<double>(o->max()));
      set_int("num_bits", o->num_bits());
      set("narrow_range", o->narrow_range());
    }
    if (auto* o = table<fb::LocalResponseNormalizationOptions>(
            Which::LocalResponseNormalizationOptions)) {
      set_int("depth_radius", o->radius());
      set("bias", static_cast<double>(o->bias()));
      set("alpha", static_cast<double>(o->alpha()));
      set("beta", static_cast<double>(o->beta()));
    }
    if (auto* o = table<fb::CumsumOptions>(Which::CumsumOptions)) {
      set("exclusive", o->exclusive());
      set("reverse", o->reverse());
    }
    if (auto* o = table<fb::ReducerOptions>(Which::ReducerOptions))
      set("keep_dims", o->keep_dims());
    if (auto* o = table<fb::UnidirectionalSequenceLSTMOptions>(
            Which::UnidirectionalSequenceLSTMOptions)) {
      activation(o->fused_activation_function());
      set("cell_clip", static_cast<double>(o->cell_clip()));
      set("proj_clip", static_cast<double>(o->proj_clip()));
      set("time_major", o->time_major());
      set("diagonal", o->diagonal_recurrent_tensors());
    }
    if (auto* o = table<fb::SVDFOptions>(Which::SVDFOptions)) {
      set_int("rank", o->rank());
      activation(o->fused_activation_function());
    }
  }

  void shapes() {
    if (auto* o = table<fb::ConcatenationOptions>(Which::ConcatenationOptions)) {
      set_int("axis", o->axis());
      activation(o->fused_activation_function());
    }
    if (auto* o = table<fb::ReshapeOptions>(Which::ReshapeOptions)) ints("shape", o->new_shape());
    if (auto* o = table<fb::SqueezeOptions>(Which::SqueezeOptions))
      ints("squeeze_dims", o->squeeze_dims());
    if (auto* o = table<fb::SpaceToDepthOptions>(Which::SpaceToDepthOptions))
      set_int("block_size", o->block_size());
    if (auto* o = table<fb::DepthToSpaceOptions>(Which::DepthToSpaceOptions))
      set_int("block_size", o->block_size());
    if (auto* o = table<fb::GatherOptions>(Which::GatherOptions)) {
      set_int("axis", o->axis());
      set_int("batch_dims", o->batch_dims());
    }
    if (auto* o = table<fb::SplitOptions>(Which::SplitOptions))
      set_int("num_split", o->num_splits());
    if (auto* o = table<fb::SplitVOptions>(Which::SplitVOptions))
      set_int("num_split", o->num_splits());
    if (auto* o = table<fb::StridedSliceOptions>(Which::StridedSliceOptions)) {
      set_int("begin_mask", o->begin_mask());
      set_int("end_mask", o->end_mask());
      set_int("ellipsis_mask", o->ellipsis_mask());
      set_int("new_axis_mask", o->new_axis_mask());
      set_int("shrink_axis_mask", o->shrink_axis_mask());
      set("offset", o->offset());
    }
    if (auto* o = table<fb::PackOptions>(Which::PackOptions)) set_int("axis", o->axis());
    if (auto* o = table<fb::UnpackOptions>(Which::UnpackOptions)) {
      set_int("num", o->num());
      set_int("axis", o->axis());
    }
    if (auto* o = table<fb::MirrorPadOptions>(Which::MirrorPadOptions)) {
      if (o->mode() != 0 && o->mode() != 1)
        value_error("{} '{}': mode {}; 0 and 1 are allowed", n_.op, n_.name, o->mode());
      set("mode", std::string(o->mode() == 0 ? "REFLECT" : "SYMMETRIC"));
    }
    if (auto* o = table<fb::ReverseSequenceOptions>(Which::ReverseSequenceOptions)) {
      set_int("seq_dim", o->seq_dim());
      set_int("batch_dim", o->batch_dim());
    }
    if (auto* o = table<fb::OneHotOptions>(Which::OneHotOptions)) set_int("axis", o->axis());
  }

  void others() {
    if (auto* o = table<fb::ArgMaxOptions>(Which::ArgMaxOptions))
      type("output_type", o->output_type());
    if (auto* o = table<fb::ArgMinOptions>(Which::ArgMinOptions))
      type("output_type", o->output_type());
    if (auto* o = table<fb::ShapeOptions>(Which::ShapeOptions)) type("out_type", o->out_type());
    if (auto* o = table<fb::UniqueOptions>(Which::UniqueOptions))
      type("out_idx", o->idx_out_type());
    if (auto* o = table<fb::BucketizeOptions>(Which::BucketizeOptions)) {
      if (o->boundaries())
        set("boundaries", std::vector<double>(o->boundaries()->begin(), o->boundaries()->end()));
    }
    if (auto* o = table<fb::IfOptions>(Which::IfOptions)) {
      n_.graphs = {{"then_branch", o->then_subgraph_index()},
                   {"else_branch", o->else_subgraph_index()}};
    }
    if (auto* o = table<fb::WhileOptions>(Which::WhileOptions))
      n_.graphs = {{"cond", o->cond_subgraph_index()}, {"body", o->body_subgraph_index()}};
  }

  const fb::Operator& from_;
  Node& n_;
};

}  // namespace

DType dtype_of_code(int code, const std::string& owner) {
  switch (code) {
    case 0:
      return DType::kFloat32;
    case 1:
      return DType::kFloat16;
    case 2:
      return DType::kInt32;
    case 3:
      return DType::kUInt8;
    case 4:
      return DType::kInt64;
    case 6:
      return DType::kBool;
    case 7:
      return DType::kInt16;
    case 8:
      return DType::kComplex64;
    case 9:
    case 17:
      return DType::kInt8;
    case 10:
      return DType::kFloat64;
    case 11:
      return DType::kComplex128;
    case 12:
      return DType::kUInt64;
    case 15:
      return DType::kUInt32;
    case 16:
      return DType::kUInt16;
    case 18:
      return DType::kBFloat16;
    default:
      break;
  }
  static constexpr const char* kNames[] = {"STRING", "RESOURCE",      "VARIANT",    "INT2",
                                           "UINT4",  "FLOAT8_E4M3FN", "FLOAT8_E5M2"};
  static constexpr int kCodes[] = {5, 13, 14, 19, 20, 21, 22};
  for (size_t i = 0; i < std::size(kCodes); ++i) {
    if (kCodes[i] == code)
      fail(ErrorKind::kUnsupported, "{}: Mycel has no tensors of type {}", owner, kNames[i]);
  }
  value_error("{}: there is no element type {}", owner, code);
}

void read_attributes(const fb::Operator& from, Node& n) { Reader(from, n).read(); }

}  // namespace mycel::interop::tensorflow
