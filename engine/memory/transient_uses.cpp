#include "memory/transient_uses.hpp"

#include <algorithm>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

// The limit of the sum of all transients with their padding, far above the memory of any device:
// no sum, offset or flow of bytes overflows below it.
constexpr std::uint64_t kMaxTotalBytes = std::uint64_t{1} << 62;

// Calls visit(transient, node) for each access of a work node to a transient, in creation order of
// the nodes.
template <class Visit>
void for_each_use(const Recording& recording, const DependencyGraph& dependencies,
                  const LoweredGraph& lowered, const std::vector<std::uint32_t>& transient_of,
                  Visit visit) {
  for (std::uint32_t node = 0; node < lowered.nodes.size(); ++node) {
    const std::uint32_t dependency_node = lowered.nodes[node].dependency_node;
    if (dependency_node == kNone || dependencies.is_join[dependency_node] != 0) continue;
    const Command& command = recording.commands[dependencies.node_command[dependency_node]];
    for (std::uint32_t i = 0; i < command.access_count; ++i) {
      const std::uint32_t transient =
          transient_of[recording.accesses[command.first_access + i].buffer];
      if (transient != kNone) visit(transient, node);
    }
  }
}

}  // namespace

TransientUses collect_transient_uses(const Recording& recording,
                                     const DependencyGraph& dependencies,
                                     const LoweredGraph& lowered, std::uint32_t alignment) {
  TransientUses result;
  std::uint64_t mask = std::max(alignment, 1u) - 1;
  for (std::uint32_t i = 0; i < recording.buffers.size(); ++i) {
    const BufferCore& buffer = *recording.buffers[i];
    if (buffer.kind != BufferKind::Transient) continue;
    mask |= std::max(buffer.alignment, 1u) - 1;
    result.transients.push_back({i, buffer.bytes, 0, 0});
  }
  if (result.transients.empty()) return result;

  std::vector<std::uint32_t> transient_of(recording.buffers.size(), kNone);
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < result.transients.size(); ++i) {
    Transient& transient = result.transients[i];
    if (transient.bytes > kMaxTotalBytes - mask ||
        (sum += (transient.bytes + mask) & ~mask) > kMaxTotalBytes) {
      const BufferCore& buffer = *recording.buffers[transient.buffer];
      fail(ErrorCode::OutOfMemory, Stage::Memory, recording.label,
           concat("transient ", display_name(buffer), " has ", buffer.bytes,
                  " bytes, and the transients of ", recording.label,
                  " up to it exceed 2^62 bytes, which no device has; use smaller ones"));
    }
    transient.bytes = (transient.bytes + mask) & ~mask;
    transient_of[transient.buffer] = i;
  }
  // A node that accesses a buffer several times counts once; its accesses are visited
  // consecutively.
  std::vector<std::uint32_t> last_node(result.transients.size(), kNone);
  std::uint32_t total = 0;
  for_each_use(recording, dependencies, lowered, transient_of,
               [&](std::uint32_t transient, std::uint32_t node) {
                 if (last_node[transient] == node) return;
                 if (last_node[transient] == kNone) result.by_first_use.push_back(transient);
                 last_node[transient] = node;
                 ++result.transients[transient].use_count;
                 ++total;
               });
  result.nodes.resize(total);
  std::uint32_t first = 0;
  for (Transient& transient : result.transients) {
    transient.first_use = first;
    first += transient.use_count;
    transient.use_count = 0;
  }
  for_each_use(recording, dependencies, lowered, transient_of,
               [&](std::uint32_t index, std::uint32_t node) {
                 Transient& transient = result.transients[index];
                 std::uint32_t* const uses = result.nodes.data() + transient.first_use;
                 if (transient.use_count != 0 && uses[transient.use_count - 1] == node) return;
                 uses[transient.use_count++] = node;
               });
  return result;
}

}  // namespace reprise::detail
