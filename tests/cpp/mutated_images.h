// Damaged image files, for the decoders: each is a valid file with bytes changed, cut, moved or
// repeated, as its number says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mycel {

// The files of tests/data/images, by name.
std::vector<std::string> sample_images();
std::string mutated_image(const std::vector<std::string>& samples, uint64_t number);
// Decodes it alone, as a crop, and joined with resizing. True when pixels came out, false for a
// UserError; any other end is a fault of ours.
bool decodes(const std::string& file);

}  // namespace mycel
