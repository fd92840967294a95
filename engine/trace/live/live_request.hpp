// What a viewer may ask of a session once it is attached: small frames, a length (4 bytes) and then
// a kind (2 bytes) with what belongs to it. Knows no socket. Threads: values and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/live/greeting.hpp"

namespace reprise::trace {

struct LiveRequest {
  enum class Kind : std::uint16_t { SetProfile = 1, Flush = 2 };
  Kind kind = Kind::Flush;
  LiveProfile profile = LiveProfile::Off;  // of SetProfile
  friend bool operator==(const LiveRequest&, const LiveRequest&) = default;
};

inline constexpr std::size_t kRequestHeadBytes = 4;
inline constexpr std::size_t kMaxRequestBytes = 256;  // after the head

[[nodiscard]] std::vector<std::uint8_t> encode_request(const LiveRequest& request);
// Bytes that follow. Empty: longer than any request, or too short to be one.
[[nodiscard]] std::optional<std::size_t> decode_request_head(
    std::span<const std::uint8_t, kRequestHeadBytes> head);
// Empty: of a kind that this version does not know.
[[nodiscard]] std::optional<LiveRequest> decode_request(std::span<const std::uint8_t> body);
// The request as far as it is allowed: a mode beyond `most` becomes `most`. Empty: not allowed at
// all.
[[nodiscard]] std::optional<LiveRequest> capped(LiveRequest request,
                                                std::optional<LiveProfile> most);

}  // namespace reprise::trace
