// BindingState: what the nodes of one graph are given now: all updates so far, and which nodes each
// of them reaches. Knows no executable. Threads: as its owner says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "backend/exec_update.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

class BindingState {
 public:
  BindingState() = default;
  BindingState(std::shared_ptr<const Plan> plan, Bindings now);

  [[nodiscard]] const Bindings& now() const noexcept { return now_; }
  void note(const BindingChange& change) { apply(*plan_, change, now_); }

  // The value of a slot of plan.slots, as many bytes as it has.
  [[nodiscard]] std::span<const std::byte> value(std::uint32_t slot) const noexcept;
  // Lowered nodes, ascending.
  [[nodiscard]] std::span<const std::uint32_t> nodes_of_slot(std::uint32_t slot) const noexcept {
    return nodes_of_slot_[slot];
  }
  [[nodiscard]] std::span<const std::uint32_t> nodes_of_buffer(std::uint32_t buffer);
  // kNone for a barrier that became edges.
  [[nodiscard]] std::uint32_t node_of_command(std::uint32_t command);
  // In the recording; kNone for a buffer that it has not.
  [[nodiscard]] std::uint32_t index_of(const BufferCore* buffer);

 private:
  void index_commands();
  void index_buffers();

  std::shared_ptr<const Plan> plan_;
  Bindings now_;
  std::vector<std::vector<std::uint32_t>> nodes_of_slot_;
  // Made when they are first asked for.
  std::vector<std::uint32_t> node_of_command_;
  std::vector<std::uint32_t> first_of_buffer_, nodes_of_buffer_;
  std::unordered_map<const BufferCore*, std::uint32_t> index_of_;
};

}  // namespace reprise::detail
