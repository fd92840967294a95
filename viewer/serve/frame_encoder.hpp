// FrameEncoder: the draw lists of a frame as a message that refers to the previous one: unchanged
// lists by their number, others as patches of runs that are copied, moved or new (see
// protocol.hpp). Coordinates are integers, so what is encoded and decoded is exactly equal. Depends
// only on ImGui's draw data. Threads: drawing thread only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

struct ImDrawData;
struct ImDrawList;

namespace reprise::viewer {

inline constexpr float kUnitsPerPoint = 64;  // of coordinates in messages

struct FrameVertex {
  std::int32_t x = 0, y = 0;   // in units
  std::uint16_t u = 0, v = 0;  // normalised
  std::uint32_t colour = 0;    // red in the lowest byte
  friend bool operator==(const FrameVertex&, const FrameVertex&) = default;
};

struct FrameCommand {
  float clip[4] = {};  // left, top, right, bottom, in points
  std::uint32_t texture = 0, vertex_offset = 0, index_offset = 0, count = 0;
  friend bool operator==(const FrameCommand&, const FrameCommand&) = default;
};

struct FrameList {
  std::string name;  // of the window that drew it
  std::vector<FrameVertex> vertices;
  std::vector<std::uint16_t> indices;
  std::vector<FrameCommand> commands;
  friend bool operator==(const FrameList&, const FrameList&) = default;
};

class FrameEncoder {
 public:
  // The message of the frame, which then is the previous one; empty: nothing changed.
  [[nodiscard]] std::string encode(const ImDrawData& data, std::uint32_t frame);
  // The next frame refers to none: it is decoded by somebody else.
  void reset() { *this = FrameEncoder(); }

 private:
  std::array<float, 3> size_ = {};  // zero: there is no previous frame
  std::vector<FrameList> previous_;
};

// The list as it is sent. Commands that only call a function are left out.
[[nodiscard]] FrameList frame_list_of(const ImDrawList& list);

}  // namespace reprise::viewer
