// What both ends of a live connection say before the trace begins. A viewer sends its hello (8
// bytes and the token), the session answers (8 bytes and the session's line), and then come the
// preamble and the chunks, as in a file. Every size has a limit that is checked before the bytes
// behind it are read. Knows no socket. Threads: values and pure functions.
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

inline constexpr std::size_t kGreetingHeadBytes = 8;  // of either side
inline constexpr std::size_t kMaxTokenBytes = 256;
inline constexpr std::size_t kMaxSessionLineBytes = 1024;

// How closely replays are looked at; the same steps as the engine's own.
enum class LiveProfile : std::uint8_t { Off, Replays, Sampled, Every };

enum class LiveAnswer : std::uint8_t { Welcome, WrongToken };

// Who is at the other end.
struct SessionLine {
  std::uint32_t pid = 0;
  std::string application, host;
  friend bool operator==(const SessionLine&, const SessionLine&) = default;
};

struct AnswerHead {
  LiveAnswer answer = LiveAnswer::WrongToken;
  std::optional<LiveProfile> allowed;  // the most that a viewer may ask for; empty: nothing
  std::size_t line_bytes = 0;          // of the session's line, which follows
};

// `token` has at most kMaxTokenBytes.
[[nodiscard]] std::vector<std::uint8_t> encode_hello(std::string_view token);
// Bytes of the token, which follows. Empty: no viewer sent this.
[[nodiscard]] std::optional<std::size_t> decode_hello(
    std::span<const std::uint8_t, kGreetingHeadBytes> head);
// Takes the same time for all wrong tokens of up to kMaxTokenBytes.
[[nodiscard]] bool same_token(std::string_view expected, std::string_view given) noexcept;

[[nodiscard]] std::vector<std::uint8_t> encode_answer(LiveAnswer answer,
                                                      std::optional<LiveProfile> allowed,
                                                      const SessionLine& line);
// Empty: no session sent this.
[[nodiscard]] std::optional<AnswerHead> decode_answer(
    std::span<const std::uint8_t, kGreetingHeadBytes> head);
[[nodiscard]] SessionLine decode_session_line(std::string_view text);

}  // namespace reprise::trace
