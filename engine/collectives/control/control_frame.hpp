// Frames of the control channel: a type and a length, each 32 bits in little-endian order, and a
// body of integers and texts. Knows no sockets. Threads: values.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace reprise::detail {

// From a rank to the hub: Hello, Proof, Gather, Report. From the hub: Challenge, Welcome, Refused,
// Gathered, Failed, Table, Time. Both ways: Abort, Goodbye.
enum class FrameType : std::uint32_t {
  Hello = 1,
  Challenge,
  Proof,
  Welcome,
  Refused,
  Gather,
  Gathered,
  Failed,
  Report,
  Table,
  Abort,
  Goodbye,
  Time
};

inline constexpr std::uint64_t kControlMagic = 0x6b6e617265736970U;  // "piserank"
inline constexpr std::uint32_t kControlVersion = 3;
inline constexpr std::uint32_t kMaxFrameBytes = 16U << 20;
inline constexpr std::uint32_t kMaxGreetingBytes = 4096;  // of frames before authentication
inline constexpr std::size_t kFrameHeaderBytes = 8;

using FrameHeader = std::array<char, kFrameHeaderBytes>;
using Frame = std::shared_ptr<const std::string>;  // header and body

class FrameWriter {
 public:
  explicit FrameWriter(FrameType type) { u32(static_cast<std::uint32_t>(type)).u32(0); }
  FrameWriter& u32(std::uint32_t value) { return integer(value, 4); }
  FrameWriter& u64(std::uint64_t value) { return integer(value, 8); }
  FrameWriter& text(std::string_view value) {
    u32(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
    return *this;
  }
  [[nodiscard]] Frame finish() {
    const std::size_t length = bytes_.size() - kFrameHeaderBytes;
    for (std::size_t i = 0; i < 4; ++i) bytes_[4 + i] = static_cast<char>(length >> (8 * i));
    return std::make_shared<const std::string>(std::move(bytes_));
  }

 private:
  FrameWriter& integer(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  std::string bytes_;
};

// Ends the connection of the sender, "rank 3", with a text like "rank 3 sent a malformed message".
class MalformedFrame : public std::exception {
 public:
  MalformedFrame() = default;
  explicit MalformedFrame(const char* fault) noexcept : fault_(fault) {}  // a literal
  [[nodiscard]] const char* what() const noexcept override { return fault_; }

 private:
  const char* fault_ = "sent a malformed message";
};

class FrameReader {
 public:
  explicit FrameReader(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }
  [[nodiscard]] std::uint64_t u64() { return integer(8); }
  [[nodiscard]] std::string text() { return std::string(take(u32())); }
  void expect_end() const {
    if (!rest_.empty()) throw MalformedFrame{};
  }

 private:
  std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size()) throw MalformedFrame{};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::uint64_t integer(std::size_t bytes) {
    std::uint64_t value = 0;
    std::size_t shift = 0;
    for (const char c : take(bytes)) {
      value |= std::uint64_t{static_cast<unsigned char>(c)} << shift;
      shift += 8;
    }
    return value;
  }
  std::string_view rest_;
};

}  // namespace reprise::detail
