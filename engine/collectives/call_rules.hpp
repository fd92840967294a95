// Rules for one rank's part of a collective, which all transports share. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "collectives/host_transport.hpp"

namespace reprise::detail {

[[nodiscard]] constexpr bool is_reduction(CollectiveKind kind) noexcept {
  return kind == CollectiveKind::AllReduce || kind == CollectiveKind::Reduce ||
         kind == CollectiveKind::ReduceScatter;
}
[[nodiscard]] constexpr bool has_root(CollectiveKind kind) noexcept {
  return kind == CollectiveKind::Reduce || kind == CollectiveKind::Broadcast;
}
// A send or a receive.
[[nodiscard]] constexpr bool is_point_to_point(CollectiveKind kind) noexcept {
  return kind == CollectiveKind::Send || kind == CollectiveKind::Receive;
}
// `peer` counts: it is the root, or the other rank.
[[nodiscard]] constexpr bool has_peer(CollectiveKind kind) noexcept {
  return has_root(kind) || is_point_to_point(kind);
}
[[nodiscard]] constexpr bool is_floating_point(ElementType type) noexcept {
  return type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F32 ||
         type == ElementType::F64;
}
// Whether `rank` passes data, or gets data.
[[nodiscard]] constexpr bool has_input(const CollectiveCall& call, std::uint32_t rank) noexcept {
  return call.kind != CollectiveKind::Receive &&
         (call.kind != CollectiveKind::Broadcast || call.peer == rank);
}
[[nodiscard]] constexpr bool has_output(const CollectiveCall& call, std::uint32_t rank) noexcept {
  return call.kind != CollectiveKind::Send &&
         (call.kind != CollectiveKind::Reduce || call.peer == rank);
}

// "reduce of 12 f32 (sum) on rank 2", for messages.
[[nodiscard]] std::string describe(const CollectiveCall& call);

// Throws InvalidArgument if `rank` of `size` ranks cannot make the call: a peer that does not
// exist, an average of integers, a missing buffer, a size that overflows.
void check_call(const CollectiveCall& call, std::uint32_t rank, std::uint32_t size);

}  // namespace reprise::detail
