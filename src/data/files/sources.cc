// The list of sources that read files.
#include "data/files/records.h"

namespace mycel::data {

SourceDefs file_sources() {
  SourceDefs all;
  for (const auto& some :
       {image_folder_sources, mnist_sources,       cifar_sources,        tfrecord_sources,
        text_file_sources,    csv_sources,         mindrecord_sources,   voc_sources,
        coco_sources,         picture_set_sources, street_set_sources,   face_set_sources,
        letter_set_sources,   paired_set_sources,  made_up_sources,      matlab_set_sources,
        hdf5_sources,         webdataset_sources,  numpy_sources,        geotiff_sources,
        sound_set_sources,    text_set_sources,    language_set_sources, translation_set_sources}) {
    const SourceDefs made = some();
    all.insert(all.end(), made.begin(), made.end());
  }
  return all;
}

}  // namespace mycel::data
