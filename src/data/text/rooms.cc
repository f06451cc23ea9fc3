#include "data/text/text.h"

namespace mycel::data {

TransformDefs text_transforms() {
  TransformDefs all;
  for (auto* room :
       {split_transforms, basic_transforms, wordpiece_transforms, form_transforms,
        sequence_transforms, string_number_transforms, vocabulary_transforms, vector_transforms,
        sentencepiece_transforms, bpe_transforms, jieba_transforms}) {
    const TransformDefs some = room();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace mycel::data
