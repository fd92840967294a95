// Exports of the hand-made trace. Threads: one at a time.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/paths.hpp"
#include "trace/export/exporter.hpp"
#include "viewer/hand_made_trace.hpp"

namespace reprise::test {

struct Exported {
  std::filesystem::path trace, output;
  trace::ExportReport report;
};

// Writes the trace and exports it as `name` to the scratch directory.
[[nodiscard]] inline Exported export_hand_made(trace::ExportFormat format, const std::string& name,
                                               const std::string& graph = {},
                                               std::uint64_t flow_replays = 100) {
  Exported e{scratch_folder() / "made.reprise", scratch_folder() / name, {}};
  write_hand_made_trace(e.trace);
  e.report =
      trace::export_trace(format, trace::TraceReader(e.trace),
                          {.output = e.output, .graph = graph, .flow_replays = flow_replays});
  return e;
}

[[nodiscard]] inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace reprise::test
