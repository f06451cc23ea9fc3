// The records of each file of this folder; media/rooms.h lists them all as text_transforms().
#pragma once

#include "data/media/rooms.h"

namespace mycel::data {

TransformDefs split_transforms();          // words, characters, scripts, regular expressions
TransformDefs basic_transforms();          // BERT's words
TransformDefs wordpiece_transforms();      // pieces of words
TransformDefs form_transforms();           // normal forms, replacements
TransformDefs sequence_transforms();       // n-grams, windows, lengths
TransformDefs string_number_transforms();  // strings to numbers
TransformDefs vocabulary_transforms();     // tokens to ids and back
TransformDefs vector_transforms();         // tokens to vectors
TransformDefs sentencepiece_transforms();
TransformDefs bpe_transforms();
TransformDefs jieba_transforms();

}  // namespace mycel::data
