#include "trace/live/live_request.hpp"

#include <algorithm>

namespace reprise::trace {

std::vector<std::uint8_t> encode_request(const LiveRequest& request) {
  const auto kind = static_cast<std::uint16_t>(request.kind);
  std::vector<std::uint8_t> out = {
      2, 0, 0, 0, static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(kind >> 8)};
  if (request.kind == LiveRequest::Kind::SetProfile) {
    out[0] = 3;
    out.push_back(static_cast<std::uint8_t>(request.profile));
  }
  return out;
}

std::optional<std::size_t> decode_request_head(
    std::span<const std::uint8_t, kRequestHeadBytes> head) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < head.size(); ++i)
    bytes |= static_cast<std::size_t>(head[i]) << (8 * i);
  if (bytes < 2 || bytes > kMaxRequestBytes) return {};
  return bytes;
}

std::optional<LiveRequest> decode_request(std::span<const std::uint8_t> body) {
  if (body.size() < 2) return {};
  switch (body[0] | body[1] << 8) {
    case static_cast<int>(LiveRequest::Kind::SetProfile):
      if (body.size() < 3 || body[2] > static_cast<std::uint8_t>(LiveProfile::Every)) return {};
      return LiveRequest{LiveRequest::Kind::SetProfile, static_cast<LiveProfile>(body[2])};
    case static_cast<int>(LiveRequest::Kind::Flush): return LiveRequest{LiveRequest::Kind::Flush};
    default:  // the value comes from the peer
      return {};
  }
}

std::optional<LiveRequest> capped(LiveRequest request, std::optional<LiveProfile> most) {
  if (!most) return {};
  request.profile = std::min(request.profile, *most);
  return request;
}

}  // namespace reprise::trace
