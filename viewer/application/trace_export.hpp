// TraceExport: a trace file, or what a live session has sent, in a format of `reprise export`, at
// the user's request in the window. Threads: a value; `write` runs on any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "model/trace_feed.hpp"

namespace reprise::viewer {

struct TraceExport {
  std::string name;  // proposed: "run.csv"
  // Throws std::exception with the reason, and leaves an existing file as it is.
  std::function<void(const std::string& path)> write;
};
// `format` as on the command line; empty: there is none of this name. `name`: a file name for the
// trace. `graph`: the shown one, for a format of one graph.
[[nodiscard]] std::optional<TraceExport> export_of(std::shared_ptr<model::TraceFeed> feed,
                                                   const std::string& name,
                                                   const std::string& format, std::uint32_t graph);

}  // namespace reprise::viewer
