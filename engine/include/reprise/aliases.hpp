// Free functions that other capture APIs have, beside the members that do their work. New code
// calls the members. engine/docs/reference.md lists all names of other APIs. Threads: as the
// members.
#pragma once

#include <filesystem>

#include <reprise/captured_graph.hpp>
#include <reprise/command_buffer.hpp>
#include <reprise/dot.hpp>
#include <reprise/graph_update.hpp>

namespace reprise::inline REPRISE_ABI {

inline void export_dot(const CapturedGraph& graph, const std::filesystem::path& path,
                       DotFlags flags = DotFlags::Default) {
  graph.export_dot(path, flags);
}

inline UpdateReport exec_update(CapturedGraph& graph, const CommandBuffer& commands) {
  return graph.exec_update(commands);
}

}  // namespace reprise::inline REPRISE_ABI
