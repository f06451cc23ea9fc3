// What data/mindrecord.h promises, on this side of the library.
#pragma once

#include "data/mindrecord.h"

namespace mycel::data {

std::unique_ptr<RecordWriter> record_writer(const RecordFile& file);

}  // namespace mycel::data
