#include "backend/cuda/cuda_memory.hpp"

#include "backend/cuda/cuda_context.hpp"

namespace reprise::detail {
namespace {

// A pool keeps up to this much unused memory, so that small buffers come and go quickly.
constexpr std::uint64_t kKeptBytes = std::uint64_t{32} << 20;

bool supports(int ordinal, cudaDeviceAttr attribute) {
  int value = 0;
  cuda_ignore(cudaDeviceGetAttribute(&value, attribute, ordinal));
  return value != 0;
}

cudaMemPool_t make_pool(cudaMemLocation location, const CallContext& call) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = location;
  cudaMemPool_t pool = nullptr;
  cuda_check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate", call);
  std::uint64_t kept = kKeptBytes;
  cuda_ignore(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
  return pool;
}

#if CUDART_VERSION >= 13000
// Pinned memory that every GPU of the process can access.
cudaMemPool_t make_host_pool(const CallContext& call) {
  const cudaMemPool_t pool = make_pool({cudaMemLocationTypeHost, 0}, call);
  int count = 0;
  cuda_ignore(cudaGetDeviceCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    if (!supports(ordinal, cudaDevAttrHostMemoryPoolsSupported)) continue;
    const cudaMemAccessDesc access{{cudaMemLocationTypeDevice, ordinal},
                                   cudaMemAccessFlagsProtReadWrite};
    const cudaError_t allowed = cudaMemPoolSetAccess(pool, &access, 1);
    if (allowed != cudaSuccess) cuda_ignore(cudaMemPoolDestroy(pool));
    cuda_check(allowed, "cudaMemPoolSetAccess", call);
  }
  return pool;
}
#endif

}  // namespace

CudaMemoryPools::CudaMemoryPools(int ordinal, const CallContext& call) {
  cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
             "cudaStreamCreateWithFlags", call);
  try {
    if (supports(ordinal, cudaDevAttrMemoryPoolsSupported))
      device_ = make_pool({cudaMemLocationTypeDevice, ordinal}, call);
#if CUDART_VERSION >= 13000
    if (supports(ordinal, cudaDevAttrHostMemoryPoolsSupported)) host_ = make_host_pool(call);
#endif
  } catch (...) {
    destroy();
    throw;
  }
}

CudaMemoryPools::~CudaMemoryPools() { destroy(); }

void CudaMemoryPools::destroy() noexcept {
  for (const cudaMemPool_t pool : {device_, host_}) {
    if (pool != nullptr) cuda_ignore(cudaMemPoolDestroy(pool));
  }
  cuda_ignore(cudaStreamDestroy(stream_));
}

std::byte* CudaMemoryPools::allocate(BufferKind kind, std::uint64_t bytes,
                                     const CallContext& call) const {
  void* memory = nullptr;
  if (pool(kind) != nullptr) {
    cuda_check(cudaMallocFromPoolAsync(&memory, bytes, pool(kind), stream_),
               "cudaMallocFromPoolAsync", call);
    cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", call);
  } else if (kind == BufferKind::PinnedHost) {
    cuda_check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
               "cudaHostAlloc", call);
  } else {
    cuda_check(cudaMalloc(&memory, bytes), "cudaMalloc", call);
  }
  return static_cast<std::byte*>(memory);
}

void CudaMemoryPools::write(std::byte* to, std::span<const std::byte> bytes,
                            const CallContext& call) const {
  cuda_check(cudaMemcpyAsync(to, bytes.data(), bytes.size(), cudaMemcpyHostToDevice, stream_),
             "cudaMemcpyAsync", call);
  cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", call);
}

void CudaMemoryPools::clear(std::byte* address, std::uint64_t bytes,
                            const CallContext& call) const {
  cuda_check(cudaMemsetAsync(address, 0, bytes, stream_), "cudaMemsetAsync", call);
  cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", call);
}

void CudaMemoryPools::free(BufferKind kind, std::byte* address) const noexcept {
  if (pool(kind) == nullptr) {
    cuda_ignore(kind == BufferKind::PinnedHost ? cudaFreeHost(address) : cudaFree(address));
    return;
  }
  cuda_ignore(cudaFreeAsync(address, stream_));
  cuda_ignore(cudaStreamSynchronize(stream_));  // returns unused memory to the system
}

CudaMemory::CudaMemory(std::shared_ptr<const CudaContext> context, BufferKind kind,
                       std::uint64_t bytes, Stage stage, std::string_view object)
    : context_(std::move(context)), kind_(kind) {
  const SetupScope scope(*context_, stage);
  bytes_ = context_->pools->allocate(kind, bytes, context_->at(stage, object));
}

CudaMemory::~CudaMemory() {
  const SetupScope scope(*context_, std::nothrow);
  if (scope) context_->pools->free(kind_, bytes_);
}

}  // namespace reprise::detail
