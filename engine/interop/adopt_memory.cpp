// Adopts memory of the application as buffers, after checking it.
#include <reprise/cuda_interop.hpp>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "capture/pointer_resolver.hpp"
#include "interop/cuda_access.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_core.hpp"

namespace reprise::detail {
namespace {

// CUDA's attributes of an address; zeros if CUDA does not know it.
struct PointerAttributes {
  unsigned memory_type = 0;  // CUmemorytype
  int ordinal = -1;
  unsigned managed = 0;
  CUdeviceptr start = 0;
  std::size_t size = 0;
  CUdeviceptr on_device = 0;
};

PointerAttributes attributes_of(const CudaContext& context, const void* address) {
  PointerAttributes attributes;
  CUpointer_attribute asked[] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
      CU_POINTER_ATTRIBUTE_IS_MANAGED,  CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
      CU_POINTER_ATTRIBUTE_RANGE_SIZE,  CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
  void* answers[] = {&attributes.memory_type, &attributes.ordinal, &attributes.managed,
                     &attributes.start,       &attributes.size,    &attributes.on_device};
  const SetupScope scope(context, Stage::Allocate);
  cuda_check(context.driver.cuPointerGetAttributes(std::size(asked), asked, answers,
                                                   reinterpret_cast<CUdeviceptr>(address)),
             "cuPointerGetAttributes", context.at(Stage::Allocate));
  return attributes;
}

}  // namespace

BufferView adopt_memory(const Device& device, BufferKind kind, void* address, std::uint64_t count,
                        std::uint64_t element_bytes, std::uint64_t alignment, std::string_view name,
                        std::shared_ptr<void> owner) {
  const std::string_view call = kind == BufferKind::Device ? "from_native" : "from_native_host";
  const CudaContext& context = *cuda_backend(device, call).context();
  core_of(device)->require_usable(Stage::Allocate);
  const auto refuse = [&](ErrorCode code, const std::string& text) {
    fail(code, Stage::Allocate, name, concat(call, name.empty() ? "" : " of ", name, ": ", text));
  };
  if (count == 0)
    refuse(ErrorCode::InvalidArgument, "the number of elements is 0; it must be at least 1");
  if (count > ~std::uint64_t{0} / element_bytes)
    refuse(ErrorCode::OutOfRange,
           concat(count, " elements of ", element_bytes, " bytes exceed 64 bits"));
  const std::uint64_t bytes = count * element_bytes;
  const auto value = reinterpret_cast<CUdeviceptr>(address);
  if (address == nullptr) refuse(ErrorCode::InvalidArgument, "the address is null");
  if (value % alignment != 0)
    refuse(ErrorCode::InvalidArgument,
           concat("the address is not aligned to ", alignment, " bytes, as its type requires"));

  const PointerAttributes attributes = attributes_of(context, address);
  const bool managed = attributes.managed != 0;
  if (attributes.memory_type == 0 && !managed)
    refuse(ErrorCode::InvalidArgument,
           "CUDA does not know this memory; allocate or register it with CUDA");
  if (kind == BufferKind::Device) {
    if (attributes.memory_type == CU_MEMORYTYPE_HOST && !managed) {
      refuse(ErrorCode::InvalidArgument, "this is pinned host memory; use from_native_host");
    }
    if (attributes.ordinal != context.ordinal && !managed) {
      refuse(ErrorCode::WrongDevice, concat("the memory belongs to cuda:", attributes.ordinal,
                                            ", and the buffer to ", context.info.selector));
    }
  } else {
    if (attributes.memory_type != CU_MEMORYTYPE_HOST || managed)
      refuse(ErrorCode::InvalidArgument,
             "this is not pinned host memory; allocate or register it with CUDA");
    if (attributes.on_device != value)
      refuse(ErrorCode::Unsupported,
             "the GPU accesses this host memory at a different address; allocate it with "
             "cudaHostAlloc");
  }
  if (attributes.size != 0 &&
      (value < attributes.start || bytes > attributes.start + attributes.size - value)) {
    refuse(ErrorCode::OutOfRange,
           concat(bytes, " bytes were requested, but ", attributes.start + attributes.size - value,
                  " remain in the allocation from this address"));
  }

  const std::shared_ptr<CapturePool> pool = device.create_pool({.label = "adopted"});
  BufferDesc desc;
  desc.kind = kind;
  desc.bytes = bytes;
  desc.alignment = alignment;
  desc.name = name;
  desc.adopted = static_cast<std::byte*>(address);
  desc.owner = std::move(owner);
  return core_of(*pool)->add(desc);
}

BufferView adopt_allocation(const Device& device, const void* address) {
  const CudaContext& context = *cuda_backend(device, "StreamCapture").context();
  const PointerAttributes attributes = attributes_of(context, address);
  if ((attributes.memory_type == 0 && attributes.managed == 0) || attributes.size == 0) return {};
  const BufferKind kind = attributes.memory_type == CU_MEMORYTYPE_HOST && attributes.managed == 0
                              ? BufferKind::PinnedHost
                              : BufferKind::Device;
  const BufferView whole = adopt_memory(device, kind, reinterpret_cast<void*>(attributes.start),
                                        attributes.size, 1, 1, "", nullptr);
  return whole.subview(reinterpret_cast<CUdeviceptr>(address) - attributes.start,
                       attributes.start + attributes.size - reinterpret_cast<CUdeviceptr>(address));
}

}  // namespace reprise::detail
