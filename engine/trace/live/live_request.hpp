// Requests of a viewer to its session: small frames of a length (4 bytes), a kind (2 bytes) and the
// kind's arguments. Knows nothing about sockets. Threads: values and pure functions.
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
  LiveProfile profile = LiveProfile::Off;  // argument of SetProfile
  friend bool operator==(const LiveRequest&, const LiveRequest&) = default;
};

inline constexpr std::size_t kRequestHeadBytes = 4;
inline constexpr std::size_t kMaxRequestBytes = 256;  // limit of a request's body

[[nodiscard]] std::vector<std::uint8_t> encode_request(const LiveRequest& request);
// Size of the body that follows; empty: outside the limits of a request.
[[nodiscard]] std::optional<std::size_t> decode_request_head(
    std::span<const std::uint8_t, kRequestHeadBytes> head);
// Empty: a kind that this version does not know.
[[nodiscard]] std::optional<LiveRequest> decode_request(std::span<const std::uint8_t> body);
// Limits the level of `request` to `most`. Empty: the request is not allowed; without `most`, none
// is.
[[nodiscard]] std::optional<LiveRequest> capped(LiveRequest request,
                                                std::optional<LiveProfile> most);

}  // namespace reprise::trace
