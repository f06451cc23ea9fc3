#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "data/vision/codec.h"
#include "data/vision/decode.h"
#include "data/vision/jpeg.h"
#include "data/vision/passes.h"
#include "data/vision/step.h"

namespace mycel::data::vision {
namespace {

// The largest of 8, 4, 2 by which an image of h x w can be divided while it is decoded and still be
// resized to no more than it has; 1 for the filters that sample by definition. Areas need a
// rectangle of whole divided pixels; the linear filter reads between them.
int divisor(const Frame& f, int64_t h, int64_t w) {
  if (!f.resized || (f.filter != Filter::kLinear && f.filter != Filter::kArea)) return 1;
  const Crop& r = f.source;
  const auto whole = [](int64_t begin, int64_t n, int64_t all, int by) {
    return begin % by == 0 && (n % by == 0 || begin + n == all);
  };
  for (const int by : {8, 4, 2}) {
    if (r.h < by * f.full.h || r.w < by * f.full.w) continue;
    if (f.filter == Filter::kLinear || (whole(r.top, r.h, h, by) && whole(r.left, r.w, w, by)))
      return by;
  }
  return 1;
}

// The frame of an image of h x w: false when a step has to run alone.
bool frame_of(const Steps& steps, int64_t h, int64_t w, Philox& draw, Frame* f) {
  f->source = {0, 0, h, w};
  f->window = {0, 0, h, w};
  for (const Step& s : steps) {
    if (const auto* c = std::get_if<CropStep>(&s)) {
      Crop r;
      if (!c->choose(f->window.h, f->window.w, draw, &r)) return false;
      if (f->flip_x) r.left = f->window.w - r.left - r.w;
      if (f->flip_y) r.top = f->window.h - r.top - r.h;
      f->window = {f->window.top + r.top, f->window.left + r.left, r.h, r.w};
    } else if (const auto* z = std::get_if<ResizeStep>(&s)) {
      f->source = f->window;
      f->resized = true;
      f->filter = z->filter;
      f->full = z->to(f->source.h, f->source.w);
      f->window = {0, 0, f->full.h, f->full.w};
    } else if (const auto* m = std::get_if<FlipStep>(&s)) {
      if (!m->random || draw.uniform() < m->probability) {
        bool& flip = m->upside_down ? f->flip_y : f->flip_x;
        flip = !flip;
      }
    }
  }
  if (!f->resized) {
    f->source = f->window;
    f->full = {f->source.h, f->source.w};
    f->window = {0, 0, f->source.h, f->source.w};
  }
  return true;
}

// The numbers that pixels become; false when the steps ask for other channels than three.
bool finish_of(const Steps& steps, Finish* out) {
  for (const Step& s : steps) {
    if (std::holds_alternative<PlanesStep>(s)) out->planes = true;
    const auto* a = std::get_if<AffineStep>(&s);
    if (!a) continue;
    const size_t n = a->affine.scale.size();
    if (n != 1 && (n != 3 || a->hwc == out->planes)) return false;
    for (size_t k = 0; k < 3; ++k) {
      const float scale = a->affine.scale[n == 1 ? 0 : k], shift = a->affine.shift[n == 1 ? 0 : k];
      out->scale[k] = out->scale[k] * scale;
      out->shift[k] = out->shift[k] * scale + shift;
    }
    out->floats = true;
  }
  return true;
}

class Fused final : public Transform {
 public:
  explicit Fused(std::vector<TransformPtr> all) : all_(std::move(all)) {
    for (const TransformPtr& t : all_) {
      const Steps& steps = dynamic_cast<const Stepped&>(*t).steps();
      steps_.insert(steps_.end(), steps.begin(), steps.end());
      random_ = random_ || t->random();
    }
    decodes_ = std::holds_alternative<DecodeStep>(steps_[0]);
    known_ = finish_of(steps_, &finish_);
  }

  bool random() const override { return random_; }

  void run(Row* values, Philox& draw) const override {
    const Philox start = draw;
    try {
      if (known_ && values->size() == 1) {
        if (Tensor t = joined((*values)[0], draw)) {
          (*values)[0] = t;
          return;
        }
      }
    } catch (const UserError&) {  // told by the transform that it comes from
    }
    draw = start;
    run_all(all_, values, draw);
  }

 private:
  // No tensor when the steps have to run alone.
  Tensor joined(const Value& v, Philox& draw) const {
    Frame f;
    if (decodes_) {
      const std::span<const uint8_t> data = encoded(v);
      if (format_of(data) == Format::kJpeg) {
        JpegReader reader(data);
        check_size(reader.height(), reader.width(), "JPEG");
        if (!frame_of(steps_, reader.height(), reader.width(), draw, &f)) return {};
        return framed(&reader, f, divisor(f, reader.height(), reader.width()), finish_);
      }
      const Tensor t = decode(data, Channels::kColour);
      if (!frame_of(steps_, t.dim(0), t.dim(1), draw, &f)) return {};
      return framed(t, f, finish_);
    }
    if (!v.is_tensor()) return {};
    const Tensor& t = v.tensor();
    if (t.rank() != 3 || t.dim(2) != 3 || t.dtype() != DType::kUInt8 || t.size() == 0) return {};
    if (!frame_of(steps_, t.dim(0), t.dim(1), draw, &f)) return {};
    return framed(t, f, finish_);
  }

  std::vector<TransformPtr> all_;
  Steps steps_;
  Finish finish_;
  bool decodes_ = false, known_ = false, random_ = false;
};

// Whether `s` may follow: decoding first, then crops, one resize, crops and flips, then numbers.
class Grammar {
 public:
  bool accepts(const Steps& steps) {
    Grammar next = *this;
    for (const Step& s : steps) {
      if (!next.accept(s)) return false;
    }
    *this = next;
    return true;
  }

 private:
  bool accept(const Step& s) {
    const bool first = !began_;
    began_ = true;
    if (std::holds_alternative<DecodeStep>(s)) return first;
    if (std::holds_alternative<CropStep>(s)) return !numbers_;
    if (std::holds_alternative<ResizeStep>(s)) {
      const bool good = !numbers_ && !resized_ && !flipped_;
      resized_ = true;
      return good;
    }
    if (std::holds_alternative<FlipStep>(s)) {
      flipped_ = true;
      return !numbers_;
    }
    numbers_ = true;
    if (!std::holds_alternative<PlanesStep>(s)) return true;
    const bool good = !planes_;
    planes_ = true;
    return good;
  }

  bool began_ = false, resized_ = false, flipped_ = false, numbers_ = false, planes_ = false;
};

}  // namespace

std::vector<TransformPtr> fused_images(std::vector<TransformPtr> transforms) {
  std::vector<TransformPtr> out;
  size_t i = 0;
  while (i < transforms.size()) {
    Grammar grammar;
    size_t end = i;
    while (end < transforms.size()) {
      const auto* s = dynamic_cast<const Stepped*>(transforms[end].get());
      if (!s || !grammar.accepts(s->steps())) break;
      ++end;
    }
    if (end - i < 2) {
      out.push_back(transforms[i++]);
      continue;
    }
    std::vector<TransformPtr> group(transforms.begin() + static_cast<int64_t>(i),
                                    transforms.begin() + static_cast<int64_t>(end));
    std::string text;
    for (const TransformPtr& t : group) text += (text.empty() ? "" : " + ") + t->description();
    auto joined = std::make_shared<Fused>(std::move(group));
    joined->set_name("", text);  // an error is named after the step that it comes from
    out.push_back(std::move(joined));
    i = end;
  }
  return out;
}

}  // namespace mycel::data::vision
