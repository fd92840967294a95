// TraceExport: a trace file in a format of `reprise export`, at the user's request in the window.
// Threads: a value; `write` runs on any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace reprise::viewer {

struct TraceExport {
  std::string name;  // proposed: "run.csv"
  // Throws std::exception with the reason, and leaves an existing file as it is.
  std::function<void(const std::string& path)> write;
};
// `format` as on the command line; empty: there is none of this name. `graph`: the shown one, for a
// format of one graph.
[[nodiscard]] std::optional<TraceExport> export_of(const std::string& file,
                                                   const std::string& format, std::uint32_t graph);

}  // namespace reprise::viewer
