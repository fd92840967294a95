// An NVTX tool that is linked into the program and records events. Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::test {

struct NvtxEvent {
  enum class Kind : std::uint8_t { Push, Pop, Start, End, Register, Category, Queue, Memory };
  Kind kind = Kind::Push;
  std::string text = {};  // of a range or a name
  std::uint64_t id = 0;   // of a range that starts or ends
  std::uint64_t payload = 0;
  std::uint32_t category = 0;
  const void* subject = nullptr;  // the stream or address that is named
  enum class Message : std::uint8_t { None, Ascii, Registered } message = Message::None;
};

// Events since the last call, in order.
[[nodiscard]] std::vector<NvtxEvent> take_events();
// The first created domain; empty: none.
[[nodiscard]] std::string heard_domain();

}  // namespace reprise::test
