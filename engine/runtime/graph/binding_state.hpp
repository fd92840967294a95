// BindingState: the addresses, scalar values and disabled nodes of one executable after all updates
// so far, and the nodes that an update of each reaches. Knows no executable.
// Threads: the owner's lock.
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
  BindingState(std::shared_ptr<const Plan> plan, Bindings bindings);

  [[nodiscard]] const Bindings& current() const noexcept { return current_; }
  void record(const BindingChange& change) { apply(*plan_, change, current_); }

  // The bytes of a slot of plan.slots.
  [[nodiscard]] std::span<const std::byte> value(std::uint32_t slot) const noexcept;
  // Lowered nodes, ascending.
  [[nodiscard]] std::span<const std::uint32_t> nodes_of_slot(std::uint32_t slot) const noexcept {
    return nodes_of_slot_[slot];
  }
  [[nodiscard]] std::span<const std::uint32_t> nodes_of_buffer(std::uint32_t buffer);
  // kNone for a barrier that was lowered to edges.
  [[nodiscard]] std::uint32_t node_of_command(std::uint32_t command);
  // The buffer's index in the recording; kNone if the recording does not use it.
  [[nodiscard]] std::uint32_t index_of(const BufferCore* buffer);

 private:
  void index_commands();
  void index_buffers();

  std::shared_ptr<const Plan> plan_;
  Bindings current_;
  std::vector<std::vector<std::uint32_t>> nodes_of_slot_;
  // Built on first use.
  std::vector<std::uint32_t> node_of_command_;
  std::vector<std::uint32_t> first_of_buffer_, nodes_of_buffer_;
  std::unordered_map<const BufferCore*, std::uint32_t> index_of_;
};

// `disabled`, the disabled nodes of `from`, with the node numbers of `to`, which is another
// lowering of the same dependencies.
[[nodiscard]] std::vector<std::uint8_t> renumber_disabled(const std::vector<std::uint8_t>& disabled,
                                                          const Plan& from, const Plan& to);

}  // namespace reprise::detail
