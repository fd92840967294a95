#include "backend/cuda/cuda_backend.hpp"

#include <algorithm>
#include <entry_exit.shaders.hpp>
#include <fault_markers.shaders.hpp>
#include <transfers.shaders.hpp>

#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/cuda_virtual_allocation.hpp"
#include "backend/cuda/graph/cuda_exec.hpp"
#include "backend/cuda/graph/transfer_nodes.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"
#include "plan/collectives.hpp"
#include "plan/loops.hpp"

namespace reprise::detail {
namespace {

// The image of a kernel or a constant.
template <class Desc>
std::span<const std::byte> image_of(std::string_view kind, const Desc& desc) {
  const std::span<const std::byte> image =
      desc.image == nullptr ? std::span<const std::byte>{} : desc.image();
  if (image.empty()) {
    fail(ErrorCode::KernelNotFound, Stage::Load, desc.name,
         concat(kind, desc.name, " has no GPU code: ", desc.source,
                " was built without CUDA; build it with a CUDA toolkit"));
  }
  return image;
}

[[noreturn]] void unsupported(std::string_view text) {
  ErrorDetails details;
  details.code = ErrorCode::Unsupported;
  details.stage = Stage::Open;
  throw Error(std::move(details), std::string(text));
}

}  // namespace

std::byte* CudaBackend::allocate(BufferKind kind, std::uint64_t bytes) {
  const SetupScope scope(*context_, Stage::Allocate);
  const std::string subject = concat(bytes, " bytes");
  return context_->pools->allocate(kind, bytes, context_->at(Stage::Allocate, subject));
}

void CudaBackend::free(BufferKind kind, std::byte* address) noexcept {
  const SetupScope scope(*context_, std::nothrow);
  if (scope) context_->pools->free(kind, address);
}

std::unique_ptr<VirtualAllocation> CudaBackend::allocate_pages(std::uint64_t bytes) {
  return CudaVirtualAllocation::make(context_, bytes);
}

std::unique_ptr<VirtualAllocation> CudaBackend::reserve_pages(std::uint64_t bytes) {
  return CudaVirtualAllocation::reserve(context_, bytes);
}

std::unique_ptr<BackendQueue> CudaBackend::create_queue(const QueueDesc& desc) {
  return std::make_unique<CudaQueue>(context_, desc.label, desc.priority);
}

std::shared_ptr<CudaLibrary> CudaBackend::library(std::span<const std::byte> image,
                                                  std::string_view name) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<CudaLibrary>& known = libraries_[image.data()];
  if (!known) known = std::make_shared<CudaLibrary>(context_, image, name);
  return known;
}

KernelCore CudaBackend::load_kernel(const KernelDesc& desc) {
  std::shared_ptr<CudaLibrary> from = library(image_of("kernel ", desc), desc.source);
  const CUfunction function = from->function(desc.name);
  const bool is_gpu_only = desc.host == nullptr && desc.parameters.empty();
  const std::span<const KernelParameter> parameters =
      is_gpu_only ? from->signature(desc.name) : desc.parameters;
  const std::uint32_t capability = context_->info.compute_major * 10 + context_->info.compute_minor;
  const KernelPtx ptx = desc.ptx == nullptr ? KernelPtx() : ptx_for(desc.ptx(), capability);
  auto kernel =
      std::make_shared<const CudaKernel>(context_, function, std::move(from), desc.name, ptx);
  const std::vector<KernelParameter> compiled = kernel->parameters();
  check_parameters(desc.name, parameters, compiled);
  return CudaKernel::core(std::move(kernel), {parameters.begin(), parameters.end()}, compiled);
}

ConstantMemory CudaBackend::find_constant(const ConstantDesc& desc) {
  std::shared_ptr<CudaLibrary> from = library(image_of("constant ", desc), desc.source);
  const std::span<std::byte> memory = from->global(desc.name);
  if (memory.empty()) {
    fail(ErrorCode::KernelNotFound, Stage::Load, desc.name,
         concat(desc.source, " contains no constant \"", desc.name, "\"; rebuild it"));
  }
  return {memory.data(), memory.size(), std::move(from)};
}

std::shared_ptr<const CudaKernel> CudaBackend::cuda_kernel(const KernelDesc& desc) {
  return std::static_pointer_cast<const CudaKernel>(load_kernel(desc).backend);
}

template <class T, class Make>
std::shared_ptr<T> CudaBackend::once(std::shared_ptr<T>& slot, const Make& make) {
  {
    const std::lock_guard lock(mutex_);
    if (slot) return slot;
  }
  std::shared_ptr<T> made = make();
  const std::lock_guard lock(mutex_);
  if (!slot) slot = std::move(made);
  return slot;
}

std::shared_ptr<const CudaKernel> CudaBackend::entry_exit() {
  return once(entry_exit_, [this] { return cuda_kernel(shaders::reprise_entry_exit); });
}

std::shared_ptr<const CudaKernel> CudaBackend::copy() {
  return once(copy_, [this] { return cuda_kernel(shaders::reprise_copy); });
}

std::shared_ptr<SegmentKernels> CudaBackend::segment_kernels() {
  return once(segment_kernels_, [this] {
    return std::make_shared<SegmentKernels>(TransferKernels{
        cuda_kernel(shaders::reprise_segment_copy), cuda_kernel(shaders::reprise_segment_fill)});
  });
}

std::shared_ptr<const CudaInstrumentation> CudaBackend::instrumentation() {
  return once(instrumentation_, [this] {
    return std::make_shared<const CudaInstrumentation>(
        context_, [this](const KernelDesc& desc) { return cuda_kernel(desc); });
  });
}

std::unique_ptr<const FaultMarkers> CudaBackend::fault_markers(const LoweredGraph& lowered) {
  return std::make_unique<const FaultMarkers>(context_, cuda_kernel(shaders::reprise_fault_mark),
                                              static_cast<std::uint32_t>(lowered.nodes.size()));
}

std::unique_ptr<const LoopCounters> CudaBackend::loop_counters(const Plan& plan) {
  const std::uint32_t loops = count_loops(*plan.recording);
  if (loops == 0) return nullptr;
  const std::vector<RankAgreement*> ranks = launched_collectives(*plan.recording).ranks;
  return std::make_unique<const LoopCounters>(
      context_, [this](const KernelDesc& desc) { return cuda_kernel(desc); }, loops,
      ranks.empty() ? nullptr : ranks.front()->lost_word());
}

std::unique_ptr<BackendExec> CudaBackend::instantiate(std::shared_ptr<const Plan> plan,
                                                      const Bindings& bindings,
                                                      Instrumentation requested) {
  const auto& joins = plan->dependencies.is_join;
  const bool has_joins = std::find(joins.begin(), joins.end(), std::uint8_t{1}) != joins.end();
  ExecKernels kernels;
  if (plan->lowered.entry_exit.any() || has_joins) kernels.entry_exit = entry_exit();
  if (has_large_copies(*plan->recording)) kernels.copy = copy();
  std::shared_ptr<const CudaInstrumentation> timestamps =
      requested != Instrumentation::None ? instrumentation() : nullptr;
  // CUPTI knows a segment as one kernel, whose commands time themselves.
  const TimedBy nodes_by = requested == Instrumentation::Cupti && !CudaSegments::has_segments(*plan)
                               ? TimedBy::Cupti
                               : TimedBy::Timestamp;
  std::unique_ptr<const FaultMarkers> markers =
      plan->lowered.fault_markers ? fault_markers(plan->lowered) : nullptr;
  std::unique_ptr<const LoopCounters> loops = loop_counters(*plan);
  std::unique_ptr<CudaSegments> segments;
  if (CudaSegments::has_segments(*plan))
    segments = std::make_unique<CudaSegments>(context_, segment_kernels(), *plan, bindings);
  return std::make_unique<CudaExec>(context_, std::move(plan), bindings, std::move(kernels),
                                    std::move(timestamps), nodes_by, std::move(markers),
                                    std::move(loops), std::move(segments));
}

void CudaBackend::simulate_loss() {
  unsupported("a GPU cannot simulate a device loss; the host device can");
}

// A device reset would not help: CUDA reports success and then refuses every call, and the reset
// would invalidate handles that destructors still use. The function therefore queries the driver
// and reports its answer.
void CudaBackend::rebuild() {
  const SetupScope scope(*context_, std::nothrow);
  const cudaError_t result = scope ? cudaDeviceSynchronize() : cudaErrorDevicesUnavailable;
  if (result == cudaSuccess) return;
  cuda_ignore(result);
  ErrorDetails details;
  details.code = ErrorCode::Unsupported;
  details.stage = Stage::Open;
  details.label = context_->status->selector;
  details.native_call = scope ? "cudaDeviceSynchronize" : "cuCtxPushCurrent";
  details.native_code = result;
  details.native_name = cudaGetErrorName(result);
  const std::string text =
      concat("the CUDA driver no longer gives this process access to ", context_->status->selector,
             ": ", cudaGetErrorString(result), ". Start a new process");
  throw Error(std::move(details), text);
}

}  // namespace reprise::detail
