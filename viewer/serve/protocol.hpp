// The messages between the server and its page, which it served. A text message is a JSON object
// with a "type"; a binary one starts with its kind. Numbers are little-endian. Threads: values and
// pure functions.
//
// From the page, text:
//   hello {token, width, height, scale, dark, state, resume}   first; sizes in CSS pixels
//     state: the link, as {trace, graph, replay, view}, texts all
//   input {events: [["m",x,y], ["l"], ["b",button,down], ["w",dx,dy], ["k",code,down], ["t",text],
//          ["f",focused], ["d",kind]]}: pointer, it left, button (0 left, 1 right, 2 middle),
//          wheel, key (KeyboardEvent.code; down again: a repeat), typed text, focus, kind of the
//          pointer
//   resize {width, height, scale}, theme {dark}, ack {frame}, paste {text}, navigate {state},
//   upload {id, name, bytes}, uploaded {ids}, cancel {id}, alive {}: answered by the same
// From the page, binary: u8 1, u32 id, bytes of an upload
// From the server, text:
//   welcome {session}, error {reason, text} and the end (reason: token,
//   clients, protocol or drawing), cursor {shape}, title {text}, copy {text}, state
//   {state, replace}, keyboard {wanted, x, y, height}, progress {id, received}, refused {id, text},
//   download {id, name, bytes}, picture {name}
// From the server, binary:
//   frame: u8 1, u8 0, u16 lists, u32 frame, f32 width, f32 height, f32 pixels per point; per list
//     u8 ListChange, u8 0, u16 list of the previous frame; unless None a patch of the vertices, one
//     of the indices, u32 commands, and FrameCommand of each
//   patch: u32 items, u32 runs; per run u32 items, with kCopiedRun also u32 source, i32 dx, i32 dy;
//     then the items of the other runs: of vertices the x as four byte planes of the zigzag of the
//     difference to the one before, y alike, u16 u, v of all, u8 r, g, b, a of all; of indices two
//     byte planes of such differences
//   texture: u8 2, u8 0 (alpha), u16 0, u32 id, u32 width, u32 height, bytes
//   download: u8 3, u32 id, bytes
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace reprise::viewer {

inline constexpr std::uint8_t kUploadMessage = 1;
inline constexpr std::uint8_t kFrameMessage = 1, kTextureMessage = 2, kDownloadMessage = 3;
inline constexpr std::uint32_t kCopiedRun = 0x80000000;
enum class ListChange : std::uint8_t { None, New, Patch };

inline constexpr std::size_t kMaxMessage = 512u << 10;  // bytes, from the page
inline constexpr std::size_t kChunk = 256u << 10;       // bytes of an upload or download

// A message that the protocol does not allow; the text names it.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class T>
void put(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace reprise::viewer
