#include "runtime/graph/binding_state.hpp"

#include <algorithm>
#include <utility>

#include "plan/timing_layout.hpp"
#include "record/payload.hpp"

namespace reprise::detail {

BindingState::BindingState(std::shared_ptr<const Plan> plan, Bindings bindings)
    : plan_(std::move(plan)), current_(std::move(bindings)) {
  if (plan_->slots.slots.empty()) return;
  if (current_.scalars.empty()) current_.scalars = plan_->slots.first_values;
  nodes_of_slot_.resize(plan_->slots.slots.size());
  for (const ScalarSlots::Use& use : plan_->slots.uses) {
    std::vector<std::uint32_t>& nodes = nodes_of_slot_[use.slot];
    const std::uint32_t node = node_of_command(use.command);
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
  for (auto& nodes : nodes_of_slot_) std::sort(nodes.begin(), nodes.end());
}

std::span<const std::byte> BindingState::value(std::uint32_t slot) const noexcept {
  const ScalarSlots::Slot& of = plan_->slots.slots[slot];
  return {current_.scalars.data() + of.offset, of.type->size};
}

void BindingState::index_commands() {
  std::vector<std::uint32_t> nodes(plan_->recording->commands.size(), kNone);
  for (std::uint32_t i = 0; i < plan_->dependencies.node_count(); ++i)
    nodes[plan_->dependencies.node_command[i]] = plan_->lowered.node_of[i];
  node_of_command_ = std::move(nodes);
}

std::uint32_t BindingState::node_of_command(std::uint32_t command) {
  if (node_of_command_.empty()) index_commands();
  return node_of_command_[command];
}

// Visits the commands twice: to count, then to fill. Complete, or empty if memory runs out.
void BindingState::index_buffers() {
  const Recording& recording = *plan_->recording;
  std::vector<std::uint32_t> last(recording.buffers.size(), kNone);
  const auto for_each_use = [&](const auto& visit) {
    std::fill(last.begin(), last.end(), kNone);
    for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
      const std::uint32_t node = node_of_command(command);
      if (node == kNone) continue;
      const auto once = [&](std::uint32_t buffer) {
        if (std::exchange(last[buffer], command) != command) visit(buffer, node);
      };
      const Command& c = recording.commands[command];
      if (c.kind != CommandKind::Barrier) for_each_buffer(c.kind, c.payload, once);
      for (std::uint32_t a = 0; a < c.access_count; ++a)
        once(recording.accesses[c.first_access + a].buffer);
    }
  };
  std::vector<std::uint32_t> first(recording.buffers.size() + 1, 0);
  for_each_use([&](std::uint32_t buffer, std::uint32_t) { ++first[buffer + 1]; });
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<std::uint32_t> nodes(first.back()), next(first.begin(), first.end() - 1);
  for_each_use([&](std::uint32_t buffer, std::uint32_t node) { nodes[next[buffer]++] = node; });
  for (std::size_t i = 0; i < recording.buffers.size(); ++i)
    std::sort(nodes.begin() + first[i], nodes.begin() + first[i + 1]);
  nodes_of_buffer_ = std::move(nodes);
  first_of_buffer_ = std::move(first);
}

std::span<const std::uint32_t> BindingState::nodes_of_buffer(std::uint32_t buffer) {
  if (first_of_buffer_.empty()) index_buffers();
  return {nodes_of_buffer_.data() + first_of_buffer_[buffer],
          nodes_of_buffer_.data() + first_of_buffer_[buffer + 1]};
}

std::uint32_t BindingState::index_of(const BufferCore* buffer) {
  if (index_of_.empty()) {
    const auto& buffers = plan_->recording->buffers;
    std::unordered_map<const BufferCore*, std::uint32_t> indices;
    for (std::uint32_t i = 0; i < buffers.size(); ++i) indices.emplace(buffers[i].get(), i);
    index_of_ = std::move(indices);
  }
  const auto found = index_of_.find(buffer);
  return found == index_of_.end() ? kNone : found->second;
}

std::vector<std::uint8_t> renumber_disabled(const std::vector<std::uint8_t>& disabled,
                                            const Plan& from, const Plan& to) {
  if (disabled.empty()) return {};
  std::vector<std::uint32_t> number(from.total_nodes, kNone);  // in `to`, by number in `from`
  for (std::uint32_t node = 0; node < to.dependencies.node_count(); ++node)
    number[from.lowered.node_of[node]] = to.lowered.node_of[node];
  const TimingLayout old_layout = timing_layout(from), new_layout = timing_layout(to);
  for (const BodyLayout& body : old_layout.bodies) {
    const BodyLayout& same =
        new_layout.bodies[new_layout.first_body(number[body.parent]) + body.branch];
    for (std::uint32_t node = 0; node < body.nodes; ++node)
      number[body.first_node + node] = same.first_node + node;
  }
  std::vector<std::uint8_t> result(to.total_nodes, 0);
  for (std::uint32_t node = 0; node < disabled.size(); ++node) {
    if (number[node] != kNone) result[number[node]] = disabled[node];
  }
  return result;
}

}  // namespace reprise::detail
