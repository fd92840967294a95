#include "image.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace photo {
namespace {

constexpr std::uint64_t kMaxFileBytes = 1ull << 28;
constexpr std::array<std::uint8_t, 3> kJpegStart = {0xff, 0xd8, 0xff};
constexpr std::array<std::uint8_t, 8> kPngStart = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw std::runtime_error("it is no file");
  }
  const std::uint64_t size = std::filesystem::file_size(file, error);
  if (error) {
    throw std::runtime_error(error.message());
  }
  if (size > kMaxFileBytes) {
    throw std::runtime_error("it is larger than 256 MiB");
  }
  std::vector<std::uint8_t> bytes(size);
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) {
    throw std::runtime_error(errno != 0 ? std::strerror(errno) : "reading stopped early");
  }
  return bytes;
}

template <std::size_t N>
bool starts_with(std::span<const std::uint8_t> bytes, const std::array<std::uint8_t, N>& start) {
  return bytes.size() >= N && std::equal(start.begin(), start.end(), bytes.begin());
}

Image decode(std::span<const std::uint8_t> bytes) {
  if (starts_with(bytes, kJpegStart)) {
    return decode_jpeg(bytes);
  }
  if (starts_with(bytes, kPngStart)) {
    return decode_png(bytes);
  }
  throw std::runtime_error("it is neither a JPEG nor a PNG");
}

}  // namespace

Image read_image(const std::filesystem::path& file) {
  try {
    return decode(read_bytes(file));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("cannot read " + file.string() + ": " + error.what());
  }
}

}  // namespace photo
