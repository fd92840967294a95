// Changes of one replica between its launches. Replays that are queued already are not affected;
// <reprise/graph_update.hpp> documents the methods.
// Threads: one of plan_update(), apply_update(), rebind() and switch_command() at a time for each
// graph, which CompiledGraph ensures; the others from any thread. The caller holds no other lock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <reprise/command_buffer.hpp>
#include <reprise/graph_update.hpp>

#include "runtime/graph/compile_graph.hpp"
#include "runtime/graph/graph_replica.hpp"

namespace reprise::detail {

// Throws as Device::compile() and require_updatable().
[[nodiscard]] PlannedGraph plan_update(const GraphReplica& replica, const CommandBuffer& commands);

// Makes `replica` run `next`, by the cheapest method that `desc` allows. The replica becomes a
// pending source of `commands`. An error or a refusal changes nothing.
[[nodiscard]] UpdateReport apply_update(const std::shared_ptr<GraphReplica>& replica,
                                        const CommandBuffer& commands, const PlannedGraph& next,
                                        const UpdateDesc& desc);

// Replaces recorded buffers. An error or a refusal changes nothing.
[[nodiscard]] UpdateReport rebind(GraphReplica& replica, std::span<const BufferBinding> bindings,
                                  const UpdateDesc& desc);

// The index of a scalar slot; throws InvalidArgument if the graph has none of this name.
[[nodiscard]] std::uint32_t find_scalar(GraphReplica& replica, std::string_view name);
// Throws ArgumentType unless the slot holds a value of this type.
void check_scalar(GraphReplica& replica, std::uint32_t scalar, const ValueType& type);
// Sets a slot to the bytes at `value`. Returns the number of nodes that changed.
std::uint32_t set_scalar(GraphReplica& replica, std::uint32_t scalar, const void* value);

enum class CommandSwitch : std::uint8_t { Enable, Disable };
void switch_command(GraphReplica& replica, const CommandRef& command, CommandSwitch to);
[[nodiscard]] bool is_enabled(GraphReplica& replica, const CommandRef& command);

// Adds the result of an update to the trace as a message.
void trace_update_report(const GraphReplica& replica, const UpdateReport& report);

}  // namespace reprise::detail
