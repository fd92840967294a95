#include <reprise/captured_graph.hpp>
#include <reprise/dot.hpp>

namespace reprise {

namespace {

DotOptions options_of(DotFlags flags) {
  return {.accesses = has_flag(flags, DotFlags::Accesses),
          .causes = has_flag(flags, DotFlags::Causes),
          .added_edges = has_flag(flags, DotFlags::AddedEdges),
          .locations = has_flag(flags, DotFlags::Locations),
          .flags = flags};
}

}  // namespace

std::string to_dot(const CapturedGraph& graph, DotFlags flags) {
  return graph.to_dot(options_of(flags));
}

void export_dot(const CapturedGraph& graph, const std::filesystem::path& path, DotFlags flags) {
  graph.export_dot(path, options_of(flags));
}

}  // namespace reprise
