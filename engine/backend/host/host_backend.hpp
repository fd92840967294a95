// HostBackend: the CPU as a complete device. Threads: as Backend.
#pragma once

#include <memory>

#include <reprise/error.hpp>

#include "backend/backend.hpp"
#include "backend/host/host_memory.hpp"
#include "backend/host/queue_registry.hpp"

namespace reprise::detail {

[[nodiscard]] DeviceInfo host_device_info();

class HostBackend final : public Backend {
 public:
  explicit HostBackend(std::shared_ptr<DeviceStatus> status);

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::byte* allocate(BufferKind kind, std::uint64_t bytes) override;
  void free(BufferKind kind, std::byte* address) noexcept override;
  [[nodiscard]] std::unique_ptr<VirtualAllocation> allocate_pages(std::uint64_t bytes) override;
  [[nodiscard]] std::unique_ptr<VirtualAllocation> reserve_pages(std::uint64_t bytes) override;
  [[nodiscard]] std::unique_ptr<BackendQueue> create_queue(const QueueDesc& desc) override;
  [[nodiscard]] KernelCore load_kernel(const KernelDesc& desc) override;
  [[nodiscard]] ConstantMemory find_constant(const ConstantDesc& desc) override;
  [[nodiscard]] std::unique_ptr<BackendExec> instantiate(std::shared_ptr<const Plan> plan,
                                                         const Bindings& bindings,
                                                         Instrumentation instrumentation) override;
  void simulate_loss() override;  // the running node runs to its end
  void rebuild() override;        // waits until running nodes have ended

 private:
  void require_usable(Stage stage) const;  // throws DeviceLost

  DeviceInfo info_;
  std::shared_ptr<DeviceStatus> status_;
  HostMemory memory_;
  std::shared_ptr<QueueRegistry> queues_;
};

}  // namespace reprise::detail
