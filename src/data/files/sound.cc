#include "data/files/sound.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <sndfile.h>

#include "base/error.h"

namespace mycel::data {
namespace {

constexpr int64_t kMostFrames = int64_t{1} << 31;

// libsndfile's view of Bytes. Errors end the read; they are told apart by the caller.
struct Position {
  const Bytes* file;
  int64_t at = 0;
};

SF_VIRTUAL_IO io() {
  SF_VIRTUAL_IO v{};
  v.get_filelen = [](void* p) {
    return static_cast<sf_count_t>(static_cast<Position*>(p)->file->size());
  };
  v.seek = [](sf_count_t offset, int whence, void* p) -> sf_count_t {
    auto* pos = static_cast<Position*>(p);
    const auto size = static_cast<int64_t>(pos->file->size());
    const int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? pos->at : size;
    pos->at = std::clamp<int64_t>(base + offset, 0, size);
    return pos->at;
  };
  v.read = [](void* out, sf_count_t n, void* p) -> sf_count_t {
    auto* pos = static_cast<Position*>(p);
    n = std::clamp<sf_count_t>(n, 0, static_cast<int64_t>(pos->file->size()) - pos->at);
    try {  // no exception may cross the library, which is C
      pos->file->read_at(pos->at, out, n);
    } catch (const UserError&) {
      return 0;
    }
    pos->at += n;
    return n;
  };
  v.write = [](const void*, sf_count_t, void*) -> sf_count_t { return 0; };
  v.tell = [](void* p) -> sf_count_t { return static_cast<Position*>(p)->at; };
  return v;
}

}  // namespace

Sound read_sound(const Bytes& file, int64_t begin, int64_t count) {
  Position position{&file};
  SF_VIRTUAL_IO v = io();
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> sound(
      sf_open_virtual(&v, SFM_READ, &info, &position), sf_close);
  if (!sound)
    fail(ErrorKind::kOs, "cannot read the sound file '{}': {}", file.name(), sf_strerror(nullptr));
  if (count < 0) count = std::max<int64_t>(info.frames - begin, 0);
  if (begin < 0 || begin > info.frames || count > info.frames - begin || count > kMostFrames ||
      info.channels < 1)
    fail(ErrorKind::kOs, "'{}' has {} frames; {} from frame {} are wanted", file.name(),
         info.frames, count, begin);
  if (begin > 0 && sf_seek(sound.get(), begin, SEEK_SET) != begin)
    fail(ErrorKind::kOs, "cannot read '{}' from frame {}", file.name(), begin);
  // Piece by piece: a broken header may claim more frames than there are bytes.
  const int64_t channels = info.channels;
  std::vector<float> mixed;
  int64_t have = 0;
  while (have < count) {
    const int64_t some = std::min<int64_t>(count - have, 1 << 20);
    mixed.resize((have + some) * channels);
    const int64_t got = sf_readf_float(sound.get(), mixed.data() + have * channels, some);
    if (got <= 0)
      fail(ErrorKind::kOs, "'{}' is truncated: it has {} frames, not {}", file.name(), have, count);
    have += got;
  }
  // 16-bit samples over 32767, as the published sources give them; others as libsndfile does.
  const bool short_samples = (info.format & SF_FORMAT_SUBMASK) == SF_FORMAT_PCM_16;
  if (short_samples) {
    for (float& v : mixed) v = v * 32768.0f / 32767.0f;
  }
  Sound out{Tensor::empty(DType::kFloat32, {channels, count}), info.samplerate};
  auto* to = static_cast<float*>(out.waveform.mutable_raw());
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < count; ++i) to[c * count + i] = mixed[i * channels + c];
  }
  return out;
}

}  // namespace mycel::data
