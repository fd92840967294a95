// DeviceCore::rebuild: new memory, kernels and recordings for a device that was lost.
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

std::shared_ptr<PoolBuffer> make_again(const PoolBuffer& before) {
  return PoolBuffer::make(before.pool(),
                          {.kind = before.kind,
                           .bytes = before.bytes,
                           .alignment = before.alignment,
                           .name = before.name,
                           .adopted = before.is_adopted() ? before.address : nullptr});
}

}  // namespace

// Knows the buffers and kernels that were alive when it was made, and keeps them alive.
class DeviceCore::Replacements {
 public:
  explicit Replacements(DeviceCore& device) : device_(device), buffers_(device.live_buffers()) {
    {
      std::lock_guard lock(device.registry_);
      for (const Loaded& loaded : device.kernels_) {
        if (auto kernel = loaded.kernel.lock())
          kernels_.push_back({std::move(kernel), loaded.desc});
      }
    }
    for (const auto& kernel : kernels_) desc_of_.emplace(kernel.first.get(), &kernel.second);
    for (const auto& before : buffers_) {
      auto after = make_again(*before);
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
    auto workspace = make_workspace_again(*before);
    return workspace ? buffer_for_[before.get()] = std::move(workspace) : before;
  }
  // Loaded once, when a recording needs it. One that was adopted stays as it is, and stale.
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
  std::vector<RebuiltBuffer> rebuilt_;
  std::unordered_map<const BufferCore*, std::shared_ptr<BufferCore>> buffer_for_;
  std::vector<std::pair<std::shared_ptr<const KernelCore>, KernelDesc>> kernels_;
  std::unordered_map<const KernelCore*, const KernelDesc*> desc_of_;
  std::unordered_map<const KernelCore*, std::shared_ptr<const KernelCore>> kernel_for_;
};

std::vector<RebuiltBuffer> DeviceCore::rebuild() {
  if (status_->shut_down.load(std::memory_order_acquire)) {
    fail(ErrorCode::InvalidState, Stage::Open, status_->selector,
         concat("device ", status_->selector,
                " was shut down and cannot be rebuilt; open it again with Instance::open_device"));
  }
  if (status_->lost.load(std::memory_order_acquire))
    retired_.flush();  // what nobody holds any more needs no replacement
  std::lock_guard one_at_a_time(rebuilding_);
  if (!status_->lost.load(std::memory_order_acquire)) {
    fail(ErrorCode::InvalidState, Stage::Open, status_->selector,
         concat("device ", status_->selector, " is not lost; there is nothing to rebuild"));
  }
  backend_->rebuild();
  try {
    auto rebuilt = replace_everything();
    status_->lost.store(false, std::memory_order_release);
    return rebuilt;
  } catch (...) {
    status_->lost.store(true, std::memory_order_release);  // so that it can be tried again
    throw;
  }
}

std::vector<RebuiltBuffer> DeviceCore::replace_everything() {
  // Whatever may fail comes first: an error leaves buffers and recordings as they were.
  Replacements replacements(*this);
  std::vector<std::shared_ptr<CommandBufferCore>> commands;
  {
    std::lock_guard lock(registry_);
    for (const auto& weak : commands_) {
      if (auto one = weak.lock()) commands.push_back(std::move(one));
    }
  }
  for (const auto& one : commands) {
    const auto recording = one->recording();
    if (!recording) continue;
    replacements.load_kernels(*recording);
  }
  for (const auto& one : commands) {
    one->rebind(
        [&](const std::shared_ptr<BufferCore>& before) { return replacements.of(before); },
        [&](const std::shared_ptr<const KernelCore>& before) { return replacements.of(before); });
  }
  std::lock_guard order(order_);
  for (const auto& before : replacements.buffers()) before->leave_pool();
  return replacements.take();
}

}  // namespace reprise::detail
