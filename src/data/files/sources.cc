// The list of sources that read files.
#include "data/files/records.h"

namespace mycel::data {

SourceDefs file_sources() {
  SourceDefs all;
  for (const SourceDefs& some :
       {image_folder_sources(), mnist_sources(), cifar_sources(), tfrecord_sources(),
        text_file_sources(), csv_sources(), mindrecord_sources(), text_set_sources(),
        language_set_sources(), translation_set_sources()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace mycel::data
