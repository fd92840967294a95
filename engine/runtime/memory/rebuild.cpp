// Device::rebuild: new memory, kernels and recordings for a lost device.
#include <unordered_map>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/recorded_op.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_core.hpp"

namespace reprise::detail {

namespace {

std::shared_ptr<PoolBuffer> make_replacement(const PoolBuffer& before) {
  return PoolBuffer::make(before.pool(), {.kind = before.kind,
                                          .bytes = before.bytes,
                                          .alignment = before.alignment,
                                          .name = before.name,
                                          .adopted = before.is_adopted ? before.address : nullptr});
}

// Replacements for the buffers and kernels that are alive at construction, which it keeps alive.
class Replacements {
 public:
  explicit Replacements(DeviceCore& device)
      : device_(device), buffers_(device.live_buffers()), kernels_(device.live_kernels()) {
    std::erase_if(buffers_, [](const auto& b) { return b->kind == BufferKind::BorrowedHost; });
    for (const auto& [kernel, desc] : kernels_) desc_of_.emplace(kernel.get(), &desc);
    for (const auto& before : buffers_) {
      auto after = make_replacement(*before);
      rebuilt_.push_back({make_handle<BufferView>(before, 0u, before->bytes),
                          make_handle<BufferView>(after, 0u, after->bytes)});
      buffer_for_.emplace(before.get(), std::move(after));
    }
    for (const auto& before : buffers_) {
      for (const auto& copy : before->copies)
        buffer_for_.at(before.get())->copies.push_back(of(copy));
    }
  }

  [[nodiscard]] std::shared_ptr<BufferCore> of(const std::shared_ptr<BufferCore>& before) {
    const auto found = buffer_for_.find(before.get());
    if (found != buffer_for_.end()) return found->second;
    auto workspace = recreate_workspace(*before);
    return workspace ? buffer_for_[before.get()] = std::move(workspace) : before;
  }
  // Loads each kernel once, when a recording needs it. An adopted kernel stays stale.
  [[nodiscard]] std::shared_ptr<const KernelCore> of(
      const std::shared_ptr<const KernelCore>& before) {
    const auto desc = desc_of_.find(before.get());
    if (desc == desc_of_.end()) return before;
    auto& after = kernel_for_[before.get()];
    if (!after) after = device_.load_kernel(*desc->second);
    return after;
  }

  void load_kernels(const Recording& recording) {
    for (const auto& kernel : recording.kernels) static_cast<void>(of(kernel));
    for (const auto& body : recording.bodies) load_kernels(*body);
  }

  [[nodiscard]] const std::vector<std::shared_ptr<PoolBuffer>>& buffers() const noexcept {
    return buffers_;
  }
  [[nodiscard]] std::vector<RebuiltBuffer> take() { return std::move(rebuilt_); }

 private:
  DeviceCore& device_;
  std::vector<std::shared_ptr<PoolBuffer>> buffers_;
  std::vector<LoadedKernel> kernels_;
  std::vector<RebuiltBuffer> rebuilt_;
  std::unordered_map<const BufferCore*, std::shared_ptr<BufferCore>> buffer_for_;
  std::unordered_map<const KernelCore*, const KernelDesc*> desc_of_;
  std::unordered_map<const KernelCore*, std::shared_ptr<const KernelCore>> kernel_for_;
};

// Performs everything that can fail first: an error leaves buffers and recordings unchanged.
std::vector<RebuiltBuffer> replace_all(DeviceCore& device) {
  Replacements replacements(device);
  const auto commands = device.live_commands();
  for (const auto& one : commands) {
    if (const auto recording = one->recording()) replacements.load_kernels(*recording);
  }
  for (const auto& one : commands) {
    one->rebind(
        [&](const std::shared_ptr<BufferCore>& before) { return replacements.of(before); },
        [&](const std::shared_ptr<const KernelCore>& before) { return replacements.of(before); });
  }
  std::lock_guard order(device.order());
  for (const auto& before : replacements.buffers()) before->leave_pool();
  return replacements.take();
}

}  // namespace

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

std::vector<RebuiltBuffer> Device::rebuild() {
  detail::DeviceStatus& status =
      *detail::require_handle(core_, "Device", "rebuild", Stage::Open).status();
  detail::require_outside_callback("Device", "rebuild", Stage::Open, status.selector);
  if (status.shut_down.load(std::memory_order_acquire)) {
    detail::fail(ErrorCode::InvalidState, Stage::Open, status.selector,
                 detail::concat("device ", status.selector,
                                " was shut down and cannot be rebuilt; open it again with "
                                "Instance::open_device"));
  }
  // Objects without references need no replacement.
  if (status.lost.load(std::memory_order_acquire)) core_->deferred().flush();
  std::lock_guard one_at_a_time(core_->rebuild_mutex());
  if (!status.lost.load(std::memory_order_acquire)) {
    detail::fail(
        ErrorCode::InvalidState, Stage::Open, status.selector,
        detail::concat("device ", status.selector, " is not lost; there is nothing to rebuild"));
  }
  core_->backend().rebuild();
  try {
    auto rebuilt = detail::replace_all(*core_);
    status.lost.store(false, std::memory_order_release);
    return rebuilt;
  } catch (...) {
    status.lost.store(true, std::memory_order_release);  // the caller can try again
    throw;
  }
}

}  // namespace reprise::inline REPRISE_ABI
