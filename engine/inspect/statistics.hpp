// How statistics of memory contents are computed on the device: one dispatch of
// reprise_content_statistics (statistics.cu), whose partial results combine() adds up. Threads:
// pure functions.
//
//   cmd.dispatch(kernel, statistics_dispatch(rows, type), read(bytes), write(partials), rows.width,
//                rows.height, rows.depth, rows.row_pitch, rows.slice_pitch,
//                static_cast<std::uint32_t>(type));
//
// Parameters: (const unsigned char* data, PartialStatistics* partials, the five members of
// ContentRows, unsigned type). `data`, the address of the first row, and the pitches are multiples
// of the type's size; contents for which they are not are Bytes. Block b writes partials[b].
#pragma once

#include <reprise/command_desc.hpp>
#include <reprise/kernel_desc.hpp>

#include "base/content_statistics.hpp"

namespace reprise::detail {

[[nodiscard]] const KernelDesc& statistics_kernel() noexcept;

// The same values as one row if nothing is between the rows: the kernel is then faster.
[[nodiscard]] ContentRows dense(const ContentRows& rows, ContentType type);

// One block per 16,384 values, at least one and at most kMaxStatisticsBlocks: grid.x parts.
inline constexpr std::uint32_t kMaxStatisticsBlocks = 256;
[[nodiscard]] DispatchDesc statistics_dispatch(const ContentRows& rows, ContentType type);

}  // namespace reprise::detail
