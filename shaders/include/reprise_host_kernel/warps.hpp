// Functions of a warp: 32 consecutive threads of a block. Lanes meet at each call; those of the
// mask that have ended take no part. Reading a lane that takes no part gives the caller's own
// value, where CUDA leaves it undefined.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <reprise/host_kernel_runtime.hpp>

#include <reprise_host_kernel/threads.hpp>

namespace reprise::inline REPRISE_ABI::host_kernel {

template <class T>
std::uint64_t to_lane(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t),
                "warp functions take values of up to 8 bytes");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T from_lane(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline std::uint64_t call_warp(const WarpCall& call, std::uint64_t value,
                               std::uint32_t argument = 0) {
  const language::uint3 mine = language::threadIdx;
  const std::uint64_t result =
      meet_warp(*block_run, {mine.x, mine.y, mine.z}, call, value, argument);
  language::threadIdx = mine;
  return result;
}

// Calls set(lane, Lane&) for each lane that is present.
template <class Set>
void for_lanes(Lane (&lanes)[kWarpSize], std::uint32_t present, Set set) {
  for (std::uint32_t rest = present; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    set(lane, lanes[lane]);
  }
}
// Gives every present lane the same result.
inline void set_results(Lane (&lanes)[kWarpSize], std::uint32_t present, std::uint64_t result) {
  for_lanes(lanes, present, [&](std::uint32_t, Lane& lane) { lane.result = result; });
}

// The argument of a shuffle: source, distance or mask, and the width of the segments.
constexpr std::uint32_t shuffle_argument(std::uint32_t source, int width) {
  return (source & 31u) | static_cast<std::uint32_t>(width) << 8;
}
// `Source`: (lane, argument, first lane of the segment, width) -> the lane to read; a lane outside
// the warp means the caller's own.
template <std::uint32_t (*Source)(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t)>
void shuffle(Lane (&lanes)[kWarpSize], std::uint32_t present) noexcept {
  for_lanes(lanes, present, [&](std::uint32_t lane, Lane& to) {
    const std::uint32_t width = to.argument >> 8;
    const std::uint32_t from = Source(lane, to.argument & 31u, lane & ~(width - 1), width);
    const bool is_present = from < kWarpSize && (present >> from & 1) != 0;
    to.result = is_present ? lanes[from].value : to.value;
  });
}
constexpr std::uint32_t source_indexed(std::uint32_t, std::uint32_t source, std::uint32_t first,
                                       std::uint32_t width) {
  return first + (source & (width - 1));
}
constexpr std::uint32_t source_up(std::uint32_t lane, std::uint32_t delta, std::uint32_t first,
                                  std::uint32_t) {
  return lane >= first + delta ? lane - delta : lane;
}
constexpr std::uint32_t source_down(std::uint32_t lane, std::uint32_t delta, std::uint32_t first,
                                    std::uint32_t width) {
  return lane + delta < first + width ? lane + delta : lane;
}
constexpr std::uint32_t source_xor(std::uint32_t lane, std::uint32_t mask, std::uint32_t first,
                                   std::uint32_t width) {
  return (lane ^ mask) < first + width ? lane ^ mask : lane;
}

inline void vote(Lane (&lanes)[kWarpSize], std::uint32_t present) noexcept {
  std::uint32_t set = 0;
  for_lanes(lanes, present, [&](std::uint32_t lane, Lane& of) {
    if (of.value != 0) set |= 1u << lane;
  });
  // any() and all() need both.
  set_results(lanes, present, std::uint64_t{present} << 32 | set);
}
inline void match(Lane (&lanes)[kWarpSize], std::uint32_t present) noexcept {
  for_lanes(lanes, present, [&](std::uint32_t, Lane& to) {
    std::uint32_t equal = 0;
    for_lanes(lanes, present, [&](std::uint32_t lane, Lane& other) {
      if (other.value == to.value) equal |= 1u << lane;
    });
    to.result = std::uint64_t{present} << 32 | equal;
  });
}
template <class T, class Operation>
void reduce(Lane (&lanes)[kWarpSize], std::uint32_t present) noexcept {
  T result{};
  bool is_first = true;
  for_lanes(lanes, present, [&](std::uint32_t, Lane& of) {
    const T value = from_lane<T>(of.value);
    result = is_first ? value : Operation()(result, value);
    is_first = false;
  });
  set_results(lanes, present, to_lane(result));
}
struct Smaller {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Larger {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Sum {
  unsigned operator()(unsigned a, unsigned b) const { return a + b; }
};
struct BitAnd {
  unsigned operator()(unsigned a, unsigned b) const { return a & b; }
};
struct BitOr {
  unsigned operator()(unsigned a, unsigned b) const { return a | b; }
};
struct BitXor {
  unsigned operator()(unsigned a, unsigned b) const { return a ^ b; }
};
inline void only_meet(Lane (&)[kWarpSize], std::uint32_t) noexcept {}

namespace language {

inline constexpr int warpSize = 32;

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  return from_lane<T>(call_warp({"__shfl_sync", mask, &shuffle<source_indexed>}, to_lane(value),
                                shuffle_argument(static_cast<unsigned>(source), width)));
}
// A distance of 32 or more reads the caller's own lane, as one that leaves the segment.
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const bool leaves = delta >= kWarpSize;
  const T result = from_lane<T>(call_warp({"__shfl_up_sync", mask, &shuffle<source_up>},
                                          to_lane(value), shuffle_argument(delta, width)));
  return leaves ? value : result;
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const bool leaves = delta >= kWarpSize;
  const T result = from_lane<T>(call_warp({"__shfl_down_sync", mask, &shuffle<source_down>},
                                          to_lane(value), shuffle_argument(delta, width)));
  return leaves ? value : result;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
  return from_lane<T>(call_warp({"__shfl_xor_sync", mask, &shuffle<source_xor>}, to_lane(value),
                                shuffle_argument(static_cast<unsigned>(lane_mask), width)));
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return static_cast<unsigned>(call_warp({"__ballot_sync", mask, &vote}, predicate != 0));
}
inline int __any_sync(unsigned mask, int predicate) {
  return static_cast<unsigned>(call_warp({"__any_sync", mask, &vote}, predicate != 0)) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  const std::uint64_t votes = call_warp({"__all_sync", mask, &vote}, predicate != 0);
  return static_cast<unsigned>(votes) == votes >> 32;
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
  return static_cast<unsigned>(call_warp({"__match_any_sync", mask, &match}, to_lane(value)));
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  const std::uint64_t matches = call_warp({"__match_all_sync", mask, &match}, to_lane(value));
  const bool all = static_cast<unsigned>(matches) == matches >> 32;
  *predicate = all ? 1 : 0;
  return all ? static_cast<unsigned>(matches) : 0;
}

#define REPRISE_REDUCE(name, T, Operation)                                                \
  inline T name(unsigned mask, T value) {                                                 \
    return from_lane<T>(call_warp({#name, mask, &reduce<T, Operation>}, to_lane(value))); \
  }
REPRISE_REDUCE(__reduce_add_sync, unsigned, Sum)
REPRISE_REDUCE(__reduce_min_sync, unsigned, Smaller)
REPRISE_REDUCE(__reduce_max_sync, unsigned, Larger)
REPRISE_REDUCE(__reduce_min_sync, int, Smaller)
REPRISE_REDUCE(__reduce_max_sync, int, Larger)
REPRISE_REDUCE(__reduce_and_sync, unsigned, BitAnd)
REPRISE_REDUCE(__reduce_or_sync, unsigned, BitOr)
REPRISE_REDUCE(__reduce_xor_sync, unsigned, BitXor)
#undef REPRISE_REDUCE
inline int __reduce_add_sync(unsigned mask, int value) {
  return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value)));
}

inline void __syncwarp(unsigned mask = ~0u) {
  static_cast<void>(call_warp({"__syncwarp", mask, &only_meet}, 0));
}
inline unsigned __activemask(unsigned line = __builtin_LINE()) {
  const uint3 mine = threadIdx;
  const unsigned lanes = active_lanes(*block_run, {mine.x, mine.y, mine.z}, line);
  threadIdx = mine;
  return lanes;
}

}  // namespace language
}  // namespace reprise::inline REPRISE_ABI::host_kernel
