// The handshake of a live connection. The viewer sends its hello (8 bytes and the token); the
// session answers (8 bytes and the session line); then the session sends the preamble and the
// chunks, in the file's format. Every size is checked against a limit before the bytes that it
// announces are read. Knows nothing about sockets. Threads: values and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::trace {

inline constexpr std::size_t kGreetingHeadBytes = 8;  // fixed part of hello and answer
inline constexpr std::size_t kMaxTokenBytes = 256;
inline constexpr std::size_t kMaxSessionLineBytes = 1024;

// How closely a session profiles its replays; the same levels as ProfileMode of the engine.
enum class LiveProfile : std::uint8_t { Off, Replays, Sampled, Every };

enum class LiveAnswer : std::uint8_t { Welcome, WrongToken };

// Identifies a session.
struct SessionLine {
  std::uint32_t pid = 0;
  std::string application, host;
  friend bool operator==(const SessionLine&, const SessionLine&) = default;
};

struct AnswerHead {
  LiveAnswer answer = LiveAnswer::WrongToken;
  std::optional<LiveProfile> allowed;  // highest level that a viewer may request; empty: none
  std::size_t line_bytes = 0;          // size of the session line that follows
};

// `token`: at most kMaxTokenBytes.
[[nodiscard]] std::vector<std::uint8_t> encode_hello(std::string_view token);
// Size of the token that follows; empty: malformed.
[[nodiscard]] std::optional<std::size_t> decode_hello(
    std::span<const std::uint8_t, kGreetingHeadBytes> head);
// The time of a comparison does not depend on where the tokens differ, for tokens of at most
// kMaxTokenBytes.
[[nodiscard]] bool same_token(std::string_view expected, std::string_view given) noexcept;

[[nodiscard]] std::vector<std::uint8_t> encode_answer(LiveAnswer answer,
                                                      std::optional<LiveProfile> allowed,
                                                      const SessionLine& line);
// Empty: malformed.
[[nodiscard]] std::optional<AnswerHead> decode_answer(
    std::span<const std::uint8_t, kGreetingHeadBytes> head);
[[nodiscard]] SessionLine decode_session_line(std::string_view text);

}  // namespace reprise::trace
