// Statistics of memory contents: partial results of parts of a range, which one block of the kernel
// in inspect/statistics.cu computes on the device, and their sum. Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <reprise/inspection.hpp>

namespace reprise::detail {

// Rows of bytes: `depth` slices of `height` rows of `width` bytes, which start every `row_pitch`
// bytes, slices every `slice_pitch`. No extent is 0.
struct ContentRows {
  std::uint64_t width = 0, height = 1, depth = 1, row_pitch = 0, slice_pitch = 0;
};

// Values per row: those that do not fill a row are left out.
[[nodiscard]] inline std::uint64_t values_per_row(const ContentRows& rows, ContentType type) {
  return rows.width / bytes_of(type);
}

// Of the values of one part. Compiles for devices too, so it has no members with constructors.
struct ValueSums {
  double sum, sum_of_squares;  // of the finite values
  double min, max;
  std::uint64_t count, finite, zeros, denormals, infinities, nans;
  std::uint64_t first_nan, first_infinity;
  std::uint64_t hash;
};
struct PartialStatistics : ValueSums {
  std::uint32_t histogram[ContentStatistics::kBins];
};

// Combines the parts of one range, in their order. Bins of the histogram saturate.
[[nodiscard]] ContentStatistics combine(std::span<const PartialStatistics> parts);

// `bytes` contains all rows.
[[nodiscard]] ContentStatistics statistics_of(std::span<const std::byte> bytes,
                                              const ContentRows& rows, ContentType type);

// The rows without what is between them. `bytes` contains all rows.
[[nodiscard]] std::vector<std::byte> packed(std::span<const std::byte> bytes,
                                            const ContentRows& rows);

// One value as a double; integers of 64 bits are rounded. `at`: bytes_of(type) bytes, unaligned.
[[nodiscard]] double value_at(const std::byte* at, ContentType type) noexcept;
// The value in decimal, with all digits that distinguish it from others of its type.
[[nodiscard]] std::string value_text(const std::byte* at, ContentType type);

}  // namespace reprise::detail
