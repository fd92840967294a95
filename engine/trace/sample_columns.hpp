// How the samples of one replay become bytes: one column after the other, each a run of
// variable-length integers (7 bits a byte, low bits first), signed ones zigzag-coded. Columns: node
// (difference to the one before), start (difference; the first to 0), duration, then worker and
// occurrence, which are one 0 byte each where all their values are 0. Knows no FlatBuffers.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/records.hpp"

namespace reprise::trace {

// Appends to `out`; about 5 bytes a sample for the nodes of one replay, before compression.
void encode_samples(std::span<const Sample> samples, std::vector<std::uint8_t>& out);

// The inverse. Throws Error (trace_error.hpp) where the bytes are no `count` samples; allocates
// nothing before `count` is known to be possible: a sample takes at least kMinSampleBytes.
inline constexpr std::size_t kMinSampleBytes = 3;
[[nodiscard]] std::vector<Sample> decode_samples(std::span<const std::uint8_t> bytes,
                                                 std::uint32_t count);

}  // namespace reprise::trace
