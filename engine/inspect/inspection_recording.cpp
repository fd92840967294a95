#include "inspect/inspection_recording.hpp"

#include <array>
#include <cstring>

#include "inspect/statistics.hpp"
#include "record/linear_writer.hpp"

namespace reprise::detail {

namespace {

// The parameter block of reprise_content_statistics.
struct StatisticsParameters {
  std::uint64_t data = 0, partials = 0;
  std::uint64_t width = 0, height = 0, depth = 0, row_pitch = 0, slice_pitch = 0;
  std::uint32_t type = 0;
};

void add_statistics(LinearWriter& writer, std::uint32_t kernel, std::uint32_t results,
                    const InspectedValues::Range& range, std::uint64_t offset) {
  const ContentRows rows = rows_of(range);
  const DispatchDesc launch = statistics_dispatch(rows, range.type);
  const StatisticsParameters parameters{.width = rows.width,
                                        .height = rows.height,
                                        .depth = rows.depth,
                                        .row_pitch = rows.row_pitch,
                                        .slice_pitch = rows.slice_pitch,
                                        .type = static_cast<std::uint32_t>(range.type)};
  std::array<BufferArgument, 2> arguments{
      BufferArgument{offsetof(StatisticsParameters, data), range.buffer, range.begin},
      BufferArgument{offsetof(StatisticsParameters, partials), results, offset}};
  DispatchPayload dispatch;
  dispatch.kernel = kernel;
  dispatch.grid = launch.grid;
  dispatch.block = launch.block;
  dispatch.shared_bytes = launch.shared_bytes;
  dispatch.parameter_bytes = offsetof(StatisticsParameters, type) + sizeof(parameters.type);
  dispatch.parameters = reinterpret_cast<const std::byte*>(&parameters);
  dispatch.buffer_argument_count = arguments.size();
  dispatch.buffer_arguments = arguments.data();
  writer.dispatch(dispatch,
                  std::array{BufferAccess{range.buffer, Access::Read, 0, range.begin, range.end},
                             BufferAccess{results, Access::Write, 0, offset,
                                          offset + launch.grid.x * sizeof(PartialStatistics)}});
}

}  // namespace

std::shared_ptr<const Recording> inspection_recording(const Recording& recording,
                                                      const InspectionRecordingDesc& desc) {
  std::vector<std::shared_ptr<BufferCore>> buffers = recording.buffers;
  const auto results = static_cast<std::uint32_t>(buffers.size());
  buffers.push_back(desc.results);
  LinearWriter writer(recording, std::move(buffers));
  const std::uint32_t kernel = writer.add_kernel(desc.statistics);
  std::uint32_t next = 0;
  const auto read = [&](std::uint32_t position, bool is_before) {
    const auto& ranges = desc.values.ranges;
    for (; next < ranges.size() && ranges[next].position == position &&
           ranges[next].is_before == is_before;
         ++next) {
      const ValueReading& reading = desc.readings[next];
      if (reading.partials != ValueReading::kNowhere)
        add_statistics(writer, kernel, results, ranges[next], reading.partials);
      if (reading.contents != ValueReading::kNowhere)
        writer.copy(ranges[next].buffer, {ranges[next].begin, ranges[next].end}, results,
                    reading.contents);
    }
  };
  for (std::uint32_t position = 0; position < desc.order.size(); ++position) {
    read(position, true);
    writer.add(desc.order[position]);
    read(position, false);
  }
  return writer.finish();
}

ContentRows rows_of(const InspectedValues::Range& range) {
  return dense({range.extent.width, range.extent.height, range.extent.depth, range.pitch.row,
                range.pitch.slice},
               range.type);
}

}  // namespace reprise::detail
