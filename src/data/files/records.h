// The records of this room, a list a file.
#pragma once

#include "data/media/rooms.h"

namespace mycel::data {

SourceDefs image_folder_sources();
SourceDefs mnist_sources();
SourceDefs cifar_sources();
SourceDefs tfrecord_sources();
SourceDefs text_file_sources();
SourceDefs csv_sources();
SourceDefs mindrecord_sources();
SourceDefs text_set_sources();
SourceDefs hdf5_sources();
SourceDefs matlab_set_sources();
SourceDefs webdataset_sources();
SourceDefs numpy_sources();
SourceDefs geotiff_sources();
SourceDefs voc_sources();
SourceDefs coco_sources();
SourceDefs picture_set_sources();
SourceDefs street_set_sources();
SourceDefs face_set_sources();
SourceDefs letter_set_sources();
SourceDefs paired_set_sources();
SourceDefs made_up_sources();
SourceDefs sound_set_sources();
SourceDefs language_set_sources();
SourceDefs translation_set_sources();

}  // namespace mycel::data
