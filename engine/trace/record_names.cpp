#include "trace/record_names.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace reprise::trace {

std::string process_name(const Session& session) {
  if (session.pid == 0) return session.application;
  return session.application + (session.application.empty() ? "process " : " ") +
         std::to_string(session.pid) +
         (session.rank == kNone ? "" : ", rank " + std::to_string(session.rank));
}

std::string rank_process_name(const Session& session) {
  Session process = session;
  process.rank = kNone;
  return "rank " + std::to_string(session.rank) + " (" + process_name(process) +
         (session.host.empty() ? "" : " on " + session.host) + ")";
}

std::string device_name(const ById<Device>& devices, std::uint32_t id) {
  const auto found = devices.find(id);
  if (found == devices.end()) return {};
  const Device& one = found->second;
  const auto namesakes = std::count_if(devices.begin(), devices.end(), [&](const auto& other) {
    return other.second.name == one.name;
  });
  return namesakes == 1 ? one.name : one.name + " [" + one.selector + "]";
}

std::string graph_name(std::uint32_t graph, const std::string& label) {
  return label.empty() ? "graph " + std::to_string(graph) : label;
}

std::string graph_name(const GraphVersion& graph) { return graph_name(graph.graph, graph.label); }

std::string node_name(const GraphVersion& graph, std::uint32_t node) {
  if (node >= graph.nodes.size()) return "node " + std::to_string(node);
  const std::string& name = graph.strings[graph.nodes[node].name];
  return name.empty() ? kind_name(graph.nodes[node].kind) : name;
}

std::string pool_name(std::uint32_t pool, const std::string& label) {
  return label.empty() ? "pool " + std::to_string(pool) : label;
}

std::string label_path(const GraphVersion& graph, std::uint32_t label) {
  std::vector<std::uint32_t> path;
  for (std::uint32_t l = label; l != 0; l = graph.labels[l].parent) path.push_back(l);
  std::string text;
  for (auto l = path.rbegin(); l != path.rend(); ++l)
    text += (text.empty() ? "" : " / ") + graph.strings[graph.labels[*l].name];
  return text;
}

const char* kind_name(NodeKind kind) noexcept {
  switch (kind) {
    case NodeKind::Dispatch: return "dispatch";
    case NodeKind::Copy: return "copy";
    case NodeKind::Fill: return "fill";
    case NodeKind::Update: return "update";
    case NodeKind::Host: return "host";
    case NodeKind::Join: return "join";
    case NodeKind::Entry: return "entry";
    case NodeKind::Exit: return "exit";
    case NodeKind::Child: return "child graph";
    case NodeKind::Conditional: return "conditional";
    case NodeKind::Other: break;
  }
  return "other";
}

std::vector<detail::KernelKind> kernel_kinds(const GraphVersion& graph) {
  constexpr std::string_view kOp = "op ";                       // before the name of an op
  std::unordered_map<std::uint32_t, detail::KernelKind> known;  // by text: nodes share them
  const auto kind_of = [&](std::uint32_t text) {
    const auto [at, is_new] = known.try_emplace(text, detail::KernelKind::Other);
    std::string_view name = graph.strings[text];
    if (name.starts_with(kOp)) name.remove_prefix(kOp.size());
    if (is_new) at->second = detail::kernel_kind(name);
    return at->second;
  };
  std::vector<detail::KernelKind> kinds;
  kinds.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    kinds.push_back(detail::KernelKind::Other);
    if (node.kernel != kNone) {
      const Kernel& kernel = graph.kernels[node.kernel];
      kinds.back() =
          kind_of(graph.strings[kernel.full_name].empty() ? kernel.name : kernel.full_name);
    } else if (node.kind == NodeKind::Child) {
      kinds.back() = kind_of(node.name);
    }
  }
  return kinds;
}

const char* source_name(SampleSource source) noexcept {
  switch (source) {
    case SampleSource::Host: return "host";
    case SampleSource::Timestamp: return "timestamp";
    case SampleSource::Cupti: break;
  }
  return "cupti";
}

std::string worker_name(SampleSource source, std::uint32_t worker) {
  switch (source) {
    case SampleSource::Host: break;
    case SampleSource::Timestamp:
      return worker == 0 ? "other nodes" : "multiprocessor " + std::to_string(worker - 1);
    case SampleSource::Cupti: return "stream " + std::to_string(worker);
  }
  return "worker " + std::to_string(worker);
}

const char* severity_name(Severity severity) noexcept {
  switch (severity) {
    case Severity::Info: return "info";
    case Severity::Warning: return "warning";
    case Severity::Error: break;
  }
  return "error";
}

const char* collective_kind_name(CollectiveKind kind) noexcept {
  switch (kind) {
    case CollectiveKind::AllReduce: return "all-reduce";
    case CollectiveKind::Reduce: return "reduce";
    case CollectiveKind::Broadcast: return "broadcast";
    case CollectiveKind::AllGather: return "all-gather";
    case CollectiveKind::ReduceScatter: return "reduce-scatter";
    case CollectiveKind::AllToAll: return "all-to-all";
    case CollectiveKind::Send: return "send";
    case CollectiveKind::Receive: return "receive";
    case CollectiveKind::Group: break;
  }
  return "group";
}

const char* loss_name(LossKind kind) noexcept {
  switch (kind) {
    case LossKind::Replays: return "replays";
    case LossKind::Samples: return "samples";
    case LossKind::Events: return "events";
    case LossKind::DeviceRecords: return "device records";
    case LossKind::NodeRuns: return "node executions in loops";
    case LossKind::ZeroTimestamps: break;
  }
  return "zero timestamps";
}

const char* cause_name(EdgeCause cause) noexcept {
  switch (cause) {
    case EdgeCause::Hazard: return "hazard";
    case EdgeCause::Barrier: return "barrier";
    case EdgeCause::User: return "user";
    case EdgeCause::Linear: return "linear";
    case EdgeCause::Lane: return "lane";
    case EdgeCause::EntryExit: return "entry-exit";
    case EdgeCause::Captured: break;
  }
  return "captured";
}

const char* hazard_name(Hazard hazard) noexcept {
  switch (hazard) {
    case Hazard::None: return "none";
    case Hazard::ReadAfterWrite: return "RAW";
    case Hazard::WriteAfterRead: return "WAR";
    case Hazard::WriteAfterWrite: break;
  }
  return "WAW";
}

const char* buffer_kind_name(BufferKind kind) noexcept {
  switch (kind) {
    case BufferKind::Device: return "device";
    case BufferKind::Transient: return "transient";
    case BufferKind::PinnedHost: return "pinned host";
    case BufferKind::Foreign: break;
  }
  return "foreign";
}

}  // namespace reprise::trace
