#include "data/general/general.h"

namespace mycel::data {

TransformDefs general_transforms() {
  TransformDefs all;
  for (const auto& part : {number_transforms(), array_transforms(), compound_transforms()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace mycel::data
