// Encodes the samples of one replay column by column as variable-length integers (7 bits per byte,
// low bits first); signed values are zigzag-coded. Columns: node (delta to the previous sample),
// start (delta), duration, then worker and occurrence, each a single 0 byte if all values are 0.
// Knows nothing about FlatBuffers. Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/records.hpp"

namespace reprise::trace {

// Appends to `out`: about 5 bytes per sample before compression.
void encode_samples(std::span<const Sample> samples, std::vector<std::uint8_t>& out);

// Decodes exactly `count` samples. Throws TraceError (Corrupt) if the bytes do not hold them.
// Checks `count` against the size before it allocates: a sample takes at least kMinSampleBytes.
inline constexpr std::size_t kMinSampleBytes = 3;
[[nodiscard]] std::vector<Sample> decode_samples(std::span<const std::uint8_t> bytes,
                                                 std::uint32_t count);

}  // namespace reprise::trace
