// A tool that listens to NVTX from within the program that it is linked into, and keeps what it
// hears. Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::test {

struct Heard {
  enum class Kind : std::uint8_t { Push, Pop, Start, End, Register, Category, Queue, Memory };
  Kind kind = Kind::Push;
  std::string text = {};  // of what begins, of a name
  std::uint64_t id = 0;   // of a range that starts or ends
  std::uint64_t payload = 0;
  std::uint32_t category = 0;
  const void* subject = nullptr;  // the stream or address that got a name
  enum class Message : std::uint8_t { None, Ascii, Registered } message = Message::None;
};

// What was heard since the last call, in order.
[[nodiscard]] std::vector<Heard> take_heard();
// The domain that was created first; empty before that.
[[nodiscard]] std::string heard_domain();

}  // namespace reprise::test
