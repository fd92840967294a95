#include "window/picture.hpp"

#include <png.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace reprise::viewer {

void write_png(const std::filesystem::path& path, PictureSize size,
               std::span<const std::uint8_t> rgb, std::vector<detail::FileAccess> sources) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = size.width;
  image.height = size.height;
  image.format = PNG_FORMAT_RGB;
  errno = 0;
  detail::AtomicFile file(path, {.sources = std::move(sources)});
  if (!png_image_write_to_file(&image, file.temporary().c_str(), 0, rgb.data(), 0, nullptr)) {
    const int error = errno;
    const std::string reason = error ? std::strerror(error) : image.message;
    png_image_free(&image);
    throw detail::FileError(path, {error, std::generic_category()}, reason);
  }
  file.commit();
}

}  // namespace reprise::viewer
