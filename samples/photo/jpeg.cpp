// Reading JPEG with libjpeg, whose own error handler would end the process.
#include <cstddef>
#include <cstdio>
// libjpeg's header needs the two above.
#include <jpeglib.h>

#include <csetjmp>
#include <stdexcept>

#include "image.hpp"

namespace photo {
namespace {

struct ErrorState {
  jpeg_error_mgr manager;  // first: libjpeg hands back its address
  std::jmp_buf leave;
  char text[JMSG_LENGTH_MAX] = "";
};

ErrorState& state_of(j_common_ptr jpeg) { return *reinterpret_cast<ErrorState*>(jpeg->err); }

[[noreturn]] void on_error(j_common_ptr jpeg) {
  ErrorState& state = state_of(jpeg);
  jpeg->err->format_message(jpeg, state.text);
  std::longjmp(state.leave, 1);
}

// libjpeg warns about damaged data and fills the rest with grey; here damaged data is an error.
void on_message(j_common_ptr jpeg, int level) {
  if (level < 0) {
    on_error(jpeg);
  }
}

struct Decoder {
  jpeg_decompress_struct jpeg{};
  ErrorState error{};
  Decoder() {
    jpeg.err = jpeg_std_error(&error.manager);
    error.manager.error_exit = on_error;
    error.manager.emit_message = on_message;
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { jpeg_destroy_decompress(&jpeg); }
};

// The two functions that longjmp may leave have no objects with destructors.
bool start(Decoder& decoder, std::span<const std::uint8_t> file) {
  if (setjmp(decoder.error.leave) != 0) {
    return false;
  }
  jpeg_create_decompress(&decoder.jpeg);
  jpeg_mem_src(&decoder.jpeg, file.data(), file.size());
  jpeg_read_header(&decoder.jpeg, TRUE);
  decoder.jpeg.out_color_space = JCS_RGB;
  jpeg_calc_output_dimensions(&decoder.jpeg);
  return true;
}

bool read_rows(Decoder& decoder, std::uint8_t* rgb) {
  if (setjmp(decoder.error.leave) != 0) {
    return false;
  }
  jpeg_start_decompress(&decoder.jpeg);
  while (decoder.jpeg.output_scanline < decoder.jpeg.output_height) {
    JSAMPROW row =
        rgb + std::size_t{decoder.jpeg.output_scanline} * decoder.jpeg.output_width * kChannels;
    jpeg_read_scanlines(&decoder.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&decoder.jpeg);
  return true;
}

}  // namespace

Image decode_jpeg(std::span<const std::uint8_t> file) {
  Decoder decoder;
  if (!start(decoder, file)) {
    throw std::runtime_error(decoder.error.text);
  }
  Image image;
  image.size = {decoder.jpeg.output_width, decoder.jpeg.output_height};
  if (image.size.pixels() > kMaxPixels) {
    throw std::runtime_error("it has more than 64 million pixels");
  }
  image.rgb.resize(image.size.pixels() * kChannels);
  if (!read_rows(decoder, image.rgb.data())) {
    throw std::runtime_error(decoder.error.text);
  }
  return image;
}

}  // namespace photo
