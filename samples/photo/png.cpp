// Reading and writing PNG with libpng's simplified interface, which reports errors by return
// values.
#include <png.h>

#include <stdexcept>

#include "image.hpp"

namespace photo {
namespace {

// Owns the memory that libpng attaches to a png_image.
struct PngImage {
  png_image png{};
  PngImage() { png.version = PNG_IMAGE_VERSION; }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  ~PngImage() { png_image_free(&png); }
};

}  // namespace

Image decode_png(std::span<const std::uint8_t> file) {
  PngImage reader;
  if (png_image_begin_read_from_memory(&reader.png, file.data(), file.size()) == 0) {
    throw std::runtime_error(reader.png.message);
  }
  Image image;
  image.size = {reader.png.width, reader.png.height};
  if (image.size.pixels() > kMaxPixels) {
    throw std::runtime_error("it has more than 64 million pixels");
  }
  reader.png.format = PNG_FORMAT_RGB;
  image.rgb.resize(PNG_IMAGE_SIZE(reader.png));
  const png_color black = {0, 0, 0};
  if (png_image_finish_read(&reader.png, &black, image.rgb.data(), 0, nullptr) == 0) {
    throw std::runtime_error(reader.png.message);
  }
  return image;
}

void write_png(const std::filesystem::path& file, Size size, std::uint32_t bytes_per_pixel,
               std::span<const std::uint8_t> pixels) {
  PngImage writer;
  writer.png.width = size.width;
  writer.png.height = size.height;
  writer.png.format = bytes_per_pixel == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (pixels.size() != PNG_IMAGE_SIZE(writer.png)) {
    throw std::logic_error("the pixels of " + file.string() + " do not fill it");
  }
  if (png_image_write_to_file(&writer.png, file.c_str(), 0, pixels.data(), 0, nullptr) == 0) {
    throw std::runtime_error("cannot write " + file.string() + ": " + writer.png.message);
  }
}

}  // namespace photo
