// Names of records and of their enumerators, as programs show them. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/kernel_kind.hpp"
#include "trace/latest_records.hpp"

namespace reprise::trace {

// "digits 4711", "digits 4711, rank 2"; empty for a default-constructed session.
[[nodiscard]] std::string process_name(const Session& session);
// "rank 3 (digits 4711 on node7)".
[[nodiscard]] std::string rank_process_name(const Session& session);
// If several of the devices have its name, followed by its selector. Empty for an unknown id.
[[nodiscard]] std::string device_name(const ById<Device>& devices, std::uint32_t id);
// The label, or "graph 3" without one.
[[nodiscard]] std::string graph_name(std::uint32_t graph, const std::string& label);
[[nodiscard]] std::string graph_name(const GraphVersion& graph);
[[nodiscard]] std::string node_name(const GraphVersion& graph, std::uint32_t node);
// The label, or "pool 3" without one.
[[nodiscard]] std::string pool_name(std::uint32_t pool, const std::string& label);
// For example "epoch / forward"; empty for a node without a label.
[[nodiscard]] std::string label_path(const GraphVersion& graph, std::uint32_t label);
[[nodiscard]] const char* kind_name(NodeKind kind) noexcept;
// By node: the kind of its kernel, by the kernel's name, and of a child graph, such as an op's, by
// the node's name; Other of all other nodes.
[[nodiscard]] std::vector<detail::KernelKind> kernel_kinds(const GraphVersion& graph);
[[nodiscard]] const char* source_name(SampleSource source) noexcept;
// Where a sample of this source ran: "worker 3", "stream 7", "multiprocessor 12"; "other nodes" for
// nodes that do not know their multiprocessor.
[[nodiscard]] std::string worker_name(SampleSource source, std::uint32_t worker);
[[nodiscard]] const char* severity_name(Severity severity) noexcept;
[[nodiscard]] const char* collective_kind_name(CollectiveKind kind) noexcept;  // "all-reduce"
[[nodiscard]] const char* loss_name(LossKind kind) noexcept;
[[nodiscard]] const char* cause_name(EdgeCause cause) noexcept;
[[nodiscard]] const char* hazard_name(Hazard hazard) noexcept;
[[nodiscard]] const char* buffer_kind_name(BufferKind kind) noexcept;

}  // namespace reprise::trace
