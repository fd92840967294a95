// FrameDecoder: the frames of a served viewer as a page decodes them, independently of the encoder.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace reprise::test {

struct DecodedVertex {
  float x = 0, y = 0, u = 0, v = 0;
  std::uint32_t colour = 0;
};

struct DecodedCommand {
  float clip[4] = {};
  std::uint32_t texture = 0, vertex_offset = 0, index_offset = 0, count = 0;
};

struct DecodedList {
  std::vector<std::int32_t> x, y;  // 1/64 of a point
  std::vector<std::uint16_t> u, v, indices;
  std::vector<std::uint32_t> colours;
  std::vector<DecodedCommand> commands;

  [[nodiscard]] DecodedVertex vertex(std::size_t at) const;
};

class FrameDecoder {
 public:
  // Fails the test if the message is no frame, refers to what does not exist, or is too long.
  void decode(std::string_view message);

  std::uint32_t frame = 0;
  float width = 0, height = 0, scale = 0;
  std::vector<DecodedList> lists;
  std::size_t kept = 0, patched = 0;  // lists of the last frame that refer to the one before
};

}  // namespace reprise::test
