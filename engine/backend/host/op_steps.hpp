// OpSteps: the work of one op in a replay on the host device: kernels and functions, in order.
// Threads: filled by one thread; run by one thread at a time, with its arena.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/callback_errors.hpp"
#include "backend/host/dispatch_node.hpp"
#include "backend/host/host_kernel.hpp"
#include "record/recorded_op.hpp"

namespace reprise::detail {

class OpSteps final : public OpTarget {
 public:
  // Reads `bindings` only while the op records.
  explicit OpSteps(const Bindings& bindings) : bindings_(&bindings) {}
  OpSteps(const OpSteps&) = delete;
  OpSteps& operator=(const OpSteps&) = delete;

  [[nodiscard]] const DeviceLimits& limits() const noexcept override { return host_limits(); }
  [[nodiscard]] std::byte* address(std::uint32_t buffer) const override {
    return bindings_->address[buffer];
  }
  void dispatch(const KernelCore& kernel, const DispatchDesc& desc,
                std::span<const std::byte> parameters) override;
  void host(std::function<void(std::uint32_t)> step, std::uint32_t pieces) override;
  void host_async(std::function<void(std::function<void(std::exception_ptr)>)> start) override {
    async_ = std::move(start);
  }
  // unused: the host device has no stream.
  [[nodiscard]] void* native_stream() override { return nullptr; }
  void keep(std::shared_ptr<const void> thing) override { kept_.push_back(std::move(thing)); }

  [[nodiscard]] bool has_checked_kernels() const noexcept { return has_checked_kernels_; }
  // Sets the checks of all kernels of the op. Functions report no accesses, so they are not
  // checked.
  void set_checks(const std::shared_ptr<CheckedDispatch>& checks);

  // True if the op is one step that waits without a thread.
  [[nodiscard]] bool is_async() const noexcept { return async_ != nullptr; }
  // For such an op: starts the step. `done` is called when it has ended, on any thread.
  void start(std::uint64_t replay, CallbackErrors& errors, std::function<void()> done) noexcept;

  // Adds the exceptions of steps to `errors`; later steps run nevertheless.
  void run(WorkerArena& workers, std::uint64_t replay, CallbackErrors& errors) noexcept;

 private:
  struct Function {
    std::function<void(std::uint32_t)> call;
    CallbackErrors* errors = nullptr;  // of the current replay
    std::uint64_t replay = 0;
  };
  static void run_piece(const HostBlock& block);

  const Bindings* bindings_;
  std::function<void(std::function<void(std::exception_ptr)>)> async_;  // null: see nodes_
  std::vector<std::shared_ptr<const void>> kept_;
  std::deque<Function> functions_;  // nodes point to the elements
  std::deque<std::vector<std::byte>> parameters_;
  std::vector<DispatchNode> nodes_;
  std::shared_ptr<CheckedDispatch> checks_;
  bool has_checked_kernels_ = false;
};

}  // namespace reprise::detail
