#include "backend/host/host_backend.hpp"

#include <limits>
#include <new>
#include <string>

#include <reprise/host_kernel_runtime.hpp>

#include "backend/host/host_exec.hpp"
#include "backend/host/host_kernel.hpp"
#include "backend/host/host_queue.hpp"
#include "backend/host/host_virtual_allocation.hpp"
#include "backend/host/worker_arena.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kMaxInt = std::numeric_limits<std::int32_t>::max();

// Equal to a GPU's limits where kernels depend on them, so that a graph valid here is valid there.
DeviceLimits make_limits() {
  DeviceLimits limits;
  limits.max_grid = {kMaxInt, 65535, 65535};
  limits.max_block = {1024, 1024, 64};
  limits.max_block_threads = 1024;
  limits.max_shared_bytes = host_kernel::kMaxSharedBytes;
  limits.max_parameter_bytes = 32764;
  limits.max_segment_blocks = 128;  // about as many as a GPU has multiprocessors
  limits.max_pitch = kMaxInt;
  limits.buffer_alignment = HostMemory::kAlignment;
  limits.conditionals = DeviceLimits::Conditionals::All;
  return limits;
}

[[noreturn]] void refuse_gpu_only(std::string_view kind, std::string_view name,
                                  std::string_view source) {
  fail(ErrorCode::KernelNotFound, Stage::Load, name,
       concat(kind, name, " of ", source,
              " exists on GPUs only; compile it for C++ too, outside of #ifdef __CUDACC__"));
}

}  // namespace

const DeviceLimits& host_limits() noexcept {
  static const DeviceLimits limits = make_limits();
  return limits;
}

DeviceInfo host_device_info() {
  DeviceInfo info;
  const std::uint32_t threads = WorkerArena::default_threads();
  info.name = concat("host (", threads, threads == 1 ? " thread)" : " threads)");
  info.selector = "host";
  info.kind = DeviceKind::Host;
  info.multiprocessors = threads;
  info.memory_bytes = HostMemory::physical_memory();
  info.limits = host_limits();
  return info;
}

HostBackend::HostBackend(std::shared_ptr<DeviceStatus> status)
    : info_(host_device_info()),
      status_(std::move(status)),
      memory_(info_.memory_bytes),
      queues_(std::make_shared<QueueRegistry>()) {}

void HostBackend::require_usable(Stage stage) const {
  if (status_->lost.load())
    fail(ErrorCode::DeviceLost, stage, status_->selector,
         concat("device ", status_->selector, " is lost; call Device::rebuild"));
}

std::byte* HostBackend::allocate(BufferKind, std::uint64_t bytes) {
  require_usable(Stage::Allocate);
  return memory_.allocate(bytes);
}

void HostBackend::free(BufferKind, std::byte* address) noexcept { memory_.free(address); }

std::unique_ptr<VirtualAllocation> HostBackend::allocate_pages(std::uint64_t bytes) {
  require_usable(Stage::Allocate);
  return HostVirtualAllocation::make(memory_, bytes);
}

std::unique_ptr<VirtualAllocation> HostBackend::reserve_pages(std::uint64_t bytes) {
  require_usable(Stage::Allocate);
  return HostVirtualAllocation::reserve(memory_, bytes);
}

std::unique_ptr<BackendQueue> HostBackend::create_queue(const QueueDesc& desc) {
  require_usable(Stage::Open);
  auto work_queue =
      std::make_shared<HostWorkQueue>(desc.label, DeviceGeneration(status_), info_.multiprocessors);
  queues_->add(work_queue);
  return std::make_unique<HostQueue>(std::move(work_queue));
}

KernelCore HostBackend::load_kernel(const KernelDesc& desc) {
  if (desc.host == nullptr) refuse_gpu_only("kernel ", desc.name, desc.source);
  KernelCore kernel;
  kernel.name = desc.name;
  kernel.parameters.assign(desc.parameters.begin(), desc.parameters.end());
  if (!kernel.parameters.empty())
    kernel.parameter_bytes = kernel.parameters.back().offset + kernel.parameters.back().size;
  kernel.max_dynamic_shared_bytes = info_.limits.max_shared_bytes;
  kernel.backend = std::make_shared<HostKernel>(desc);
  return kernel;
}

ConstantMemory HostBackend::find_constant(const ConstantDesc& desc) {
  if (desc.host == nullptr) refuse_gpu_only("constant ", desc.name, desc.source);
  return {static_cast<std::byte*>(desc.host), desc.bytes, nullptr};
}

std::unique_ptr<BackendExec> HostBackend::instantiate(std::shared_ptr<const Plan> plan,
                                                      const Bindings& bindings, Instrumentation) {
  require_usable(Stage::Instantiate);
  const DeviceGeneration generation(status_);
  const std::string label = plan->label;
  try {
    return std::make_unique<HostExec>(std::move(plan), bindings, generation, queues_);
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::OutOfMemory, Stage::Instantiate, label,
         concat("out of host memory for graph ", label));
  }
}

void HostBackend::simulate_loss() {
  status_->mark_lost();
  queues_->abandon_all();
}

void HostBackend::rebuild() {
  queues_->abandon_all();
  queues_->wait_until_idle();
  status_->lost.store(false);
}

}  // namespace reprise::detail
