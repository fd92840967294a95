#include "profile/injection/describe_observed_graph.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/kernel_name.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint8_t kCapturedOrdering = 3;

// FNV-1a.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) value_ = (value_ ^ static_cast<std::uint8_t>(c)) * 1099511628211u;
  }
  void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) value_ = (value_ ^ ((number >> (8 * i)) & 0xff)) * 1099511628211u;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037u;
};

class Describer {
 public:
  Describer(const ObservedGraph& seen, const ProgramMemory& memory)
      : seen_(seen), memory_(memory) {}

  trace::GraphVersion describe(const ObservedIdentity& identity) {
    static_cast<void>(text(""));
    version_.labels.push_back({});
    version_.graph = identity.graph;
    version_.version = identity.version;
    version_.device = identity.device;
    version_.label = identity.label;
    version_.ordering = kCapturedOrdering;
    version_.compiled = identity.instantiated;
    version_.instantiate_time = identity.instantiate_time;
    for (const ObservedKernel& kernel : seen_.kernels) {
      version_.kernels.push_back({text(short_kernel_name(kernel.full_name)),
                                  text(demangled(kernel.full_name)), kernel.registers,
                                  kernel.static_shared_bytes});
    }
    version_.nodes.reserve(seen_.nodes.size());
    for (const ObservedNode& node : seen_.nodes) add(node);
    version_.edges.reserve(seen_.edges.size());
    for (const DirectedEdge& edge : seen_.edges) add(edge);
    version_.plan_hash = version_.lowering_hash = hash_.value();
    return std::move(version_);
  }

 private:
  std::uint32_t text(std::string words) {
    const auto [at, is_new] =
        strings_.try_emplace(std::move(words), static_cast<std::uint32_t>(version_.strings.size()));
    if (is_new) version_.strings.push_back(at->first);
    return at->second;
  }

  std::uint32_t label(const ScopePath& path) {
    std::uint32_t inner = 0;
    for (const std::string& name : path) {
      const std::uint32_t words = text(name);
      const auto [at, is_new] =
          labels_.try_emplace({inner, words}, static_cast<std::uint32_t>(version_.labels.size()));
      if (is_new) version_.labels.push_back({inner, words, 0});
      inner = at->second;
    }
    return inner;
  }

  void add(const ObservedNode& seen) {
    trace::Node node;
    node.kind = seen.kind;
    node.kernel = seen.kernel;
    std::string name = seen.kernel == trace::kNone
                           ? seen.name
                           : version_.strings[version_.kernels[seen.kernel].name];
    hash_.add(name);
    if (seen.enabled == ObservedNode::Enabled::No) name += " (disabled)";
    node.name = text(std::move(name));
    node.command = static_cast<std::uint32_t>(version_.nodes.size());
    if (seen.scope) node.label = label(*seen.scope);
    std::copy(std::begin(seen.grid), std::end(seen.grid), node.grid);
    std::copy(std::begin(seen.block), std::end(seen.block), node.block);
    for (const std::uint32_t extent : seen.grid) hash_.add(extent);
    node.shared_bytes = seen.shared_bytes;
    node.bytes = seen.bytes;
    node.first_access = static_cast<std::uint32_t>(version_.accesses.size());
    for (const ObservedAccess& touch : seen.touches) add(touch, node.first_access);
    node.access_count = static_cast<std::uint32_t>(version_.accesses.size()) - node.first_access;
    version_.nodes.push_back(node);
  }

  void add(const ObservedAccess& touch, std::uint32_t first) {
    const auto place = memory_.find(touch.address);
    if (!place) return;  // not an address, or unknown memory
    trace::NodeAccess access;
    access.access = touch.access;
    access.inferred = touch.origin == ObservedAccess::Origin::Guessed ? 1 : 0;
    access.begin = touch.address - place->allocation.address;
    const std::uint64_t left = place->allocation.bytes - access.begin;
    access.end = access.begin + (touch.bytes == 0 ? left : std::min(left, touch.bytes));
    access.buffer = buffer(*place);
    const bool is_there = std::find(version_.accesses.begin() + first, version_.accesses.end(),
                                    access) != version_.accesses.end();
    if (!is_there) version_.accesses.push_back(access);
  }

  std::uint32_t buffer(const ProgramMemory::Place& place) {
    const auto [at, is_new] =
        buffers_.try_emplace(place.buffer, static_cast<std::uint32_t>(version_.buffers.size()));
    if (is_new) {
      const bool is_host = place.allocation.source == ProgramMemory::Source::PinnedHost;
      version_.buffers.push_back(
          {text(ProgramMemory::name_of(place)),
           is_host ? trace::BufferKind::PinnedHost : trace::BufferKind::Device, place.buffer,
           place.pool, place.allocation.bytes, 0});
    }
    return at->second;
  }

  void add(const DirectedEdge& seen) {
    trace::Edge edge;
    edge.from = seen.from;
    edge.to = seen.to;
    edge.cause = trace::EdgeCause::Captured;
    hash_.add((std::uint64_t{seen.from} << 32) | seen.to);
    version_.edges.push_back(edge);
  }

  const ObservedGraph& seen_;
  const ProgramMemory& memory_;
  trace::GraphVersion version_;
  std::unordered_map<std::string, std::uint32_t> strings_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> labels_;
  std::unordered_map<std::uint32_t, std::uint32_t> buffers_;
  Hash hash_;
};

}  // namespace

trace::GraphVersion describe_observed_graph(const ObservedGraph& graph,
                                            const ObservedIdentity& identity,
                                            const ProgramMemory& memory) {
  return Describer(graph, memory).describe(identity);
}

}  // namespace reprise::detail
