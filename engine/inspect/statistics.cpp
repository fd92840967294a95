#include "inspect/statistics.hpp"

#include <algorithm>

#include <statistics.shaders.hpp>

namespace reprise::detail {

const KernelDesc& statistics_kernel() noexcept { return shaders::reprise_content_statistics; }

ContentRows dense(const ContentRows& rows, ContentType type) {
  const std::uint64_t slice = rows.width * rows.height;
  const bool is_dense = rows.width % bytes_of(type) == 0 &&
                        (rows.height == 1 || rows.row_pitch == rows.width) &&
                        (rows.depth == 1 || rows.slice_pitch == slice);
  return is_dense ? ContentRows{.width = slice * rows.depth} : rows;
}

DispatchDesc statistics_dispatch(const ContentRows& rows, ContentType type) {
  constexpr std::uint64_t kValuesPerBlock = 16384;
  constexpr std::uint32_t kThreads = 256;
  const std::uint64_t values = values_per_row(rows, type) * rows.height * rows.depth,
                      blocks = values / kValuesPerBlock + (values % kValuesPerBlock != 0);
  return {.grid = static_cast<std::uint32_t>(
              std::clamp<std::uint64_t>(blocks, 1, kMaxStatisticsBlocks)),
          .block = kThreads,
          .shared_bytes = kThreads * sizeof(ValueSums)};
}

}  // namespace reprise::detail
