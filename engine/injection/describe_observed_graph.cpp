#include "injection/describe_observed_graph.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/kernel_kind.hpp"
#include "base/kernel_name.hpp"
#include "base/text.hpp"
#include "injection/nccl_calls.hpp"
#include "injection/range_name.hpp"

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
  Describer(const ObservedGraph& observed, const AccessLocations& locations)
      : observed_(observed), location_(locations.begin()) {}

  trace::GraphVersion describe(const ObservedIdentity& identity,
                               const std::vector<LaunchCount>& launches) {
    static_cast<void>(text(""));
    version_.labels.push_back({});
    version_.graph = identity.graph;
    version_.version = kObservedVersion;
    version_.device = identity.device;
    version_.label = identity.label;
    version_.ordering = kCapturedOrdering;
    version_.compiled = identity.instantiated;
    version_.instantiate_time = identity.instantiate_time;
    for (const ObservedKernel& kernel : observed_.kernels) {
      version_.kernels.push_back({text(short_kernel_name(kernel.full_name)),
                                  text(demangled(kernel.full_name)), kernel.registers,
                                  kernel.static_shared_bytes});
    }
    version_.nodes.reserve(observed_.nodes.size());
    for (const ObservedNode& node : observed_.nodes) add(node);
    version_.stack = frame(without_driver(identity.stack));
    for (const LaunchCount& one : launches) add(one);
    version_.edges.reserve(observed_.edges.size());
    for (const DirectedEdge& edge : observed_.edges) add(edge);
    version_.plan_hash = version_.lowering_hash = hash_.value();
    return std::move(version_);
  }

 private:
  std::uint32_t text(std::string value) {
    const auto [at, is_new] =
        strings_.try_emplace(std::move(value), static_cast<std::uint32_t>(version_.strings.size()));
    if (is_new) version_.strings.push_back(at->first);
    return at->second;
  }

  // Ranges of different names are different labels: where their labels are equal, as of two calls
  // of one operator, a number distinguishes them.
  std::uint32_t label(const ScopePath& path) {
    std::uint32_t inner = 0;
    for (const std::string& name : path) {
      const auto [at, is_new] =
          labels_.try_emplace({inner, name}, static_cast<std::uint32_t>(version_.labels.size()));
      if (is_new) {
        std::string shown(range_name(name).label);
        if (const std::uint32_t number = ++label_counts_[{inner, shown}]; number > 1)
          shown = concat(shown, " #", number);
        version_.labels.push_back({inner, text(std::move(shown)), 0});
      }
      inner = at->second;
    }
    return inner;
  }

  std::uint32_t frame(const CallFrame* of) {
    if (of == nullptr) return trace::kNone;
    const auto known = frames_.find(of);
    if (known != frames_.end()) return known->second;
    trace::Frame made;
    made.caller = frame(of->caller);
    if (of->code != nullptr) {
      made.function = text(of->code->function);
      made.file = text(of->code->file);
      made.line = of->line;
    } else {
      NativeName name = native_name(of->address);
      made.function = text(std::move(name.function));
      made.file = text(std::move(name.module));
      made.offset = name.offset;
    }
    const auto index = static_cast<std::uint32_t>(version_.frames.size());
    version_.frames.push_back(made);
    frames_.emplace(of, index);
    return index;
  }

  void add_stack(const CallFrame* innermost, trace::Node& node) {
    innermost = without_driver(innermost);
    if (innermost == nullptr) return;
    version_.stacks.push_back(
        {static_cast<std::uint32_t>(version_.nodes.size()), frame(innermost)});
    set_source(innermost, node);
  }

  // The innermost line of the user's own code, if the stack has one.
  void set_source(const CallFrame* innermost, auto& of) {
    const CallFrame* const user = user_frame(innermost);
    if (user == nullptr || user->line == 0) return;
    of.file = text(user->code->file);
    of.line = user->line;
  }

  void add(const LaunchCount& of) {
    const CallFrame* const innermost = without_driver(of.stack);
    if (innermost == nullptr) return;
    trace::LaunchStack made{of.launches, frame(innermost), 0, 0};
    set_source(innermost, made);
    version_.launch_stacks.push_back(made);
  }

  void add_collective(const ObservedNode& observed) {
    const std::string_view kernel = nccl_operation(observed_.kernels[observed.kernel].full_name);
    if (kernel.empty()) return;
    const NcclOperations* const launched = observed.origin.operations.get();
    trace::Collective collective = nccl_collective(kernel, launched);
    collective.node = static_cast<std::uint32_t>(version_.nodes.size());
    collective.index = collective_counts_[collective.communicator]++;
    // The parts of operations that several kernels execute are unknown.
    const auto [first, is_first] =
        launched_by_.try_emplace({launched, collective.communicator}, version_.collectives.size());
    if (!is_first) version_.collectives[first->second].bytes = collective.bytes = 0;
    version_.collectives.push_back(collective);
  }

  void add(const ObservedNode& observed) {
    trace::Node node;
    node.kind = observed.kind;
    node.kernel = observed.kernel;
    std::string name = observed.kernel == trace::kNone
                           ? observed.name
                           : version_.strings[version_.kernels[observed.kernel].name];
    hash_.add(name);
    if (observed.enabled == ObservedNode::Enabled::No) name += " (disabled)";
    node.name = text(std::move(name));
    node.command = static_cast<std::uint32_t>(version_.nodes.size());
    if (observed.origin.scope) node.label = label(*observed.origin.scope);
    add_stack(observed.origin.stack, node);
    std::copy(std::begin(observed.grid), std::end(observed.grid), node.grid);
    std::copy(std::begin(observed.block), std::end(observed.block), node.block);
    node.shared_bytes = observed.shared_bytes;
    node.bytes = observed.bytes;
    node.first_access = static_cast<std::uint32_t>(version_.accesses.size());
    for (const ObservedAccess& access : observed.accesses)
      add(access, *location_++, node.first_access);
    node.access_count = static_cast<std::uint32_t>(version_.accesses.size()) - node.first_access;
    if (observed.kernel != trace::kNone && observed.enabled == ObservedNode::Enabled::Yes)
      add_collective(observed);
    version_.nodes.push_back(node);
  }

  void add(const ObservedAccess& observed, const AccessLocations::value_type& location,
           std::uint32_t first) {
    if (!location) return;  // not an address, or unknown memory
    trace::NodeAccess access;
    access.access = observed.access;
    access.inferred = observed.origin == ObservedAccess::Origin::Guessed ? 1 : 0;
    access.begin = observed.address - location->allocation.address;
    const std::uint64_t left = location->allocation.bytes - access.begin;
    access.end = access.begin + (observed.bytes == 0 ? left : std::min(left, observed.bytes));
    access.buffer = buffer(*location);
    const bool is_there = std::find(version_.accesses.begin() + first, version_.accesses.end(),
                                    access) != version_.accesses.end();
    if (!is_there) version_.accesses.push_back(access);
  }

  std::uint32_t buffer(const ProgramMemory::Location& location) {
    const auto [at, is_new] =
        buffers_.try_emplace(location.buffer, static_cast<std::uint32_t>(version_.buffers.size()));
    if (is_new) {
      const bool is_host = location.allocation.source == ProgramMemory::Source::PinnedHost;
      version_.buffers.push_back(
          {text(ProgramMemory::name_of(location)),
           is_host ? trace::BufferKind::PinnedHost : trace::BufferKind::Device, location.buffer,
           location.pool, location.allocation.bytes, 0});
    }
    return at->second;
  }

  void add(const DirectedEdge& observed) {
    trace::Edge edge;
    edge.from = observed.from;
    edge.to = observed.to;
    edge.cause = trace::EdgeCause::Captured;
    hash_.add((std::uint64_t{observed.from} << 32) | observed.to);
    version_.edges.push_back(edge);
  }

  const ObservedGraph& observed_;
  AccessLocations::const_iterator location_;  // of the next access
  trace::GraphVersion version_;
  std::unordered_map<std::string, std::uint32_t> strings_;
  std::unordered_map<const CallFrame*, std::uint32_t> frames_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> labels_;  // by parent and range
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> label_counts_;  // and label
  std::unordered_map<std::uint32_t, std::uint32_t> buffers_;
  std::unordered_map<std::uint64_t, std::uint32_t> collective_counts_;  // by communicator
  // The first collective of operations that were launched together on a communicator.
  std::map<std::pair<const NcclOperations*, std::uint64_t>, std::size_t> launched_by_;
  Hash hash_;
};

// The outermost label of all labelled nodes; empty: several or none.
std::string_view common_label(const ObservedGraph& graph) {
  std::string_view common;
  for (const ObservedNode& node : graph.nodes) {
    if (!node.origin.scope) continue;
    const std::string& range = node.origin.scope->front();
    if (range.starts_with(kChildGraphScope) || range.starts_with(kBodyScope)) continue;
    const std::string_view label = range_name(range).label;
    if (!common.empty() && common != label) return {};
    common = label;
  }
  return common;
}

// How much a kernel of this kind says about a graph.
int significance(KernelKind kind) {
  switch (kind) {
    case KernelKind::Gemm:
    case KernelKind::Convolution:
    case KernelKind::Attention: return 3;
    case KernelKind::Collective:
    case KernelKind::Reduction:
    case KernelKind::SortScan:
    case KernelKind::Other: return 2;
    case KernelKind::Elementwise: return 1;
    case KernelKind::Copy:
    case KernelKind::Fill: break;
  }
  return 0;
}

// The first of the kernels that characterise the graph best; trace::kNone: it has no kernel.
std::uint32_t characteristic_kernel(const ObservedGraph& graph) {
  std::vector<std::size_t> nodes(graph.kernels.size());
  for (const ObservedNode& node : graph.nodes) {
    if (node.kernel != trace::kNone) ++nodes[node.kernel];
  }
  std::uint32_t best = trace::kNone;
  std::pair<int, std::size_t> weight;  // significance and nodes
  for (std::uint32_t k = 0; k < nodes.size(); ++k) {
    if (nodes[k] == 0) continue;
    const std::pair of_kernel{significance(kernel_kind(demangled(graph.kernels[k].full_name))),
                              nodes[k]};
    if (best != trace::kNone && of_kernel <= weight) continue;
    best = k;
    weight = of_kernel;
  }
  return best;
}

}  // namespace

AccessLocations locate_accesses(const ObservedGraph& graph, const ProgramMemory& memory) {
  AccessLocations locations;
  for (const ObservedNode& node : graph.nodes) {
    for (const ObservedAccess& access : node.accesses)
      locations.push_back(memory.find(access.address));
  }
  return locations;
}

std::string graph_label(const ObservedGraph& graph) {
  if (const std::string_view label = common_label(graph); !label.empty()) return std::string(label);
  if (graph.nodes.empty()) return "empty graph";
  const std::uint32_t kernel = characteristic_kernel(graph);
  const std::string name = kernel == trace::kNone
                               ? graph.nodes.front().name
                               : short_kernel_name(graph.kernels[kernel].full_name);
  const std::size_t others = graph.nodes.size() - 1;
  if (others == 0) return name;
  return concat(name, " and ", others, others == 1 ? " other" : " others");
}

trace::GraphVersion describe_observed_graph(const ObservedGraph& graph,
                                            const ObservedIdentity& identity,
                                            const AccessLocations& locations,
                                            const std::vector<LaunchCount>& launches) {
  return Describer(graph, locations).describe(identity, launches);
}

std::string describe_observed_node(const ObservedGraph& graph, std::uint32_t index) {
  const ObservedNode& node = graph.nodes[index];
  const auto extents = [](const std::uint32_t(&of)[3]) {
    return concat(of[0], " x ", of[1], " x ", of[2]);
  };
  std::string text = concat("node ", index, " ");
  if (node.kernel == trace::kNone) {
    text += concat(node.name, ": ", node.bytes, " bytes");
  } else {
    text += concat(short_kernel_name(graph.kernels[node.kernel].full_name), ": grid ",
                   extents(node.grid), ", block ", extents(node.block));
    if (node.shared_bytes != 0) text += concat(", ", node.shared_bytes, " bytes of shared memory");
  }
  if (node.enabled == ObservedNode::Enabled::No) text += ", disabled";
  const char* separator = ", addresses ";
  for (const ObservedAccess& access : node.accesses) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, access.address, 16).ptr;
    text += concat(separator, "0x", std::string_view(digits, end));
    separator = ", ";
  }
  return text;
}

}  // namespace reprise::detail
