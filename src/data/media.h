// libmycel_media: the rooms of transforms and of file formats, with the foreign libraries they need
// (JPEG, PNG, audio, Unicode). It is a library of its own, loaded with the first record that is
// looked up, so that programs without such data neither load nor need any of them.
#pragma once

#include <memory>
#include <vector>

#include "data/mindrecord.h"
#include "data/source.h"
#include "data/transform.h"

namespace mycel::data {

struct Media {
  std::vector<const TransformDef*> transforms;
  std::vector<const SourceDef*> sources;
  std::vector<TransformPtr> (*fused)(std::vector<TransformPtr>) = nullptr;
  const RecordFormat* records = nullptr;
};

// RuntimeError when the library cannot be loaded.
const Media& media();

}  // namespace mycel::data
