#include "backend/cuda/cuda_kernel.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/kernel_name.hpp"
#include "base/text.hpp"
#include "lowering/segment.hpp"
#include "ptx/segment_record.hpp"
#include "record/payload.hpp"
#include "record/recording.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint32_t kFatbinMagic = 0xBA55ED50u;
constexpr std::size_t kJitLogBytes = 4096;

// Limits of dispatches in segments. Four blocks of a segment with this shared memory and their
// records fit on a multiprocessor; a record describes one block.
constexpr std::uint32_t kMaxSegmentShared = 40 << 10, kMaxSegmentBlocks = 1 << 15;
constexpr std::uint32_t kMaxSegmentRegisters =
    128;  // the persistent kernel would have to spill the others

// The driver expects PTX to end with a zero; a fatbin or cubin contains its own length.
bool is_text(std::span<const std::byte> image) {
  std::uint32_t magic = 0;
  if (image.size() >= sizeof magic) std::memcpy(&magic, image.data(), sizeof magic);
  return magic != kFatbinMagic && !(image.size() >= 4 && std::memcmp(image.data(),
                                                                     "\x7f"
                                                                     "ELF",
                                                                     4) == 0);
}

// True if the kernel of REPRISE_KERNEL_INSTANCE has the parameters of the table: it was compiled
// with one structure of them all, whose size is a multiple of its alignment.
bool is_instance(std::span<const KernelParameter> table,
                 std::span<const KernelParameter> compiled) {
  if (table.size() < 2 || compiled.size() != 1 || compiled[0].offset != 0) return false;
  const std::uint32_t end = table.back().offset + table.back().size;
  return compiled[0].size >= end && compiled[0].size - end < alignof(std::max_align_t);
}

bool has_full_warps(Dim3 block) { return block.volume() % 32 == 0; }

std::string parameter_text(const KernelParameter& p) {
  return concat(p.size, " bytes at ", p.offset);
}

}  // namespace

CudaLibrary::CudaLibrary(std::shared_ptr<const CudaContext> context,
                         std::span<const std::byte> image, std::string_view name)
    : context_(std::move(context)), name_(name), log_(kJitLogBytes, '\0') {
  const SetupScope scope(*context_, Stage::Load);
  std::string text;
  const void* code = image.data();
  if (is_text(image)) {
    text.assign(reinterpret_cast<const char*>(image.data()), image.size());
    code = text.c_str();
  }
  cudaJitOption options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  void* values[] = {log_.data(), reinterpret_cast<void*>(log_.size())};
  const cudaError_t result =
      cudaLibraryLoadData(&library_, code, options, values, 2, nullptr, nullptr, 0);
  if (result != cudaSuccess)
    throw_cuda_error(NativeApi::Runtime, result, "cudaLibraryLoadData",
                     context_->at(Stage::Load, name_), log_.c_str());
}

CudaLibrary::~CudaLibrary() {
  const SetupScope scope(*context_, std::nothrow);
  if (scope && library_ != nullptr) cuda_ignore(cudaLibraryUnload(library_));
}

// The kernel with this symbol, or else the C++ function of this name; null: none. Leaves it to a
// look-up by symbol to report why an image cannot be used.
cudaKernel_t CudaLibrary::find_kernel(const std::string& name) const {
  unsigned count = 0;
  cudaError_t result = cudaLibraryGetKernelCount(&count, library_);
  std::vector<cudaKernel_t> kernels(result == cudaSuccess ? count : 0);
  if (result == cudaSuccess) result = cudaLibraryEnumerateKernels(kernels.data(), count, library_);
  if (result != cudaSuccess) {
    cuda_ignore(result);
    return nullptr;
  }
  const auto symbol_of = [this](cudaKernel_t kernel) -> std::string_view {
    const char* symbol = nullptr;
    return context_->driver.cuKernelGetName(&symbol, kernel) == CUDA_SUCCESS ? symbol : "";
  };
  for (cudaKernel_t kernel : kernels) {
    if (symbol_of(kernel) == name) return kernel;
  }
  for (cudaKernel_t kernel : kernels) {
    if (readable_kernel_name(symbol_of(kernel)) == name) return kernel;
  }
  return nullptr;
}

CUfunction CudaLibrary::function(const std::string& entry) const {
  const SetupScope scope(*context_, Stage::Load);
  // A look-up by symbol that fails would replace the error that the application left pending.
  cudaKernel_t kernel = find_kernel(entry);
  const cudaError_t result =
      kernel != nullptr ? cudaSuccess : cudaLibraryGetKernel(&kernel, library_, entry.c_str());
  if (error_code_of(result) == ErrorCode::KernelNotFound) {
    throw_cuda_error(NativeApi::Runtime, result, "cudaLibraryGetKernel", context_->at(Stage::Load),
                     concat(name_, " contains no kernel \"", entry, "\" for compute capability ",
                            context_->info.compute_major, ".", context_->info.compute_minor));
  }
  const CallContext call = context_->at(Stage::Load, entry);
  if (result != cudaSuccess)
    throw_cuda_error(NativeApi::Runtime, result, "cudaLibraryGetKernel", call, log_.c_str());
  CUfunction function = nullptr;
  const CUresult loaded = context_->driver.cuKernelGetFunction(&function, kernel);
  if (loaded != CUDA_SUCCESS)
    throw_cuda_error(NativeApi::Driver, loaded, "cuKernelGetFunction", call, log_.c_str());
  return function;
}

std::span<const KernelParameter> CudaLibrary::signature(const std::string& entry) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<const ImageSignature>& known = signatures_[entry];
  if (!known) known = ImageSignature::read(read_global("reprise_signature_of_" + entry));
  return known ? known->parameters() : std::span<const KernelParameter>();
}

std::span<std::byte> CudaLibrary::global(const std::string& name) const {
  const SetupScope scope(*context_, Stage::Load);
  CUdeviceptr address = 0;
  std::size_t size = 0;
  // A call of the runtime that fails would replace the error that the application left pending.
  const CUresult found =
      context_->driver.cuLibraryGetGlobal(&address, &size, library_, name.c_str());
  if (found == CUDA_ERROR_NOT_FOUND) return {};
  cuda_check(found, "cuLibraryGetGlobal", context_->at(Stage::Load, name_));
  return {reinterpret_cast<std::byte*>(address), size};
}

// The bytes of a variable of the image; none if there is no such variable.
std::vector<std::byte> CudaLibrary::read_global(const std::string& name) const {
  const std::span<std::byte> memory = global(name);
  if (memory.empty()) return {};
  const SetupScope scope(*context_, Stage::Load);
  const CallContext call = context_->at(Stage::Load, name_);
  std::vector<std::byte> bytes(memory.size());
  cudaStream_t stream = nullptr;  // the default stream may be captured by another thread
  cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
             call);
  cudaError_t copied =
      cudaMemcpyAsync(bytes.data(), memory.data(), memory.size(), cudaMemcpyDeviceToHost, stream);
  if (copied == cudaSuccess) copied = cudaStreamSynchronize(stream);
  cuda_ignore(cudaStreamDestroy(stream));
  cuda_check(copied, "cudaMemcpyAsync", call);
  return bytes;
}

std::optional<std::uint64_t> CudaLibrary::address_of(std::string_view variable) const {
  const std::span<std::byte> memory = global(std::string(variable));
  if (memory.data() == nullptr) return std::nullopt;
  return reinterpret_cast<std::uint64_t>(memory.data());
}

const PtxModule& CudaLibrary::parse(std::string_view ptx) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<const PtxModule>& known = ptx_[ptx.data()];
  if (!known) known = std::make_unique<const PtxModule>(std::string(ptx));
  return *known;
}

const RewrittenPart& CudaLibrary::rewrite(const PersistentPart& part) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const auto& other) { return other->of == part; });
  if (known != parts_.end()) return **known;
  parts_.push_back(std::make_unique<const RewrittenPart>(
      rewrite_part(part, [this](std::string_view name) { return address_of(name); })));
  return *parts_.back();
}

CudaKernel::CudaKernel(std::shared_ptr<const CudaContext> context, CUfunction function,
                       std::shared_ptr<CudaLibrary> library, std::string name, const KernelPtx& ptx)
    : CudaKernel(std::move(context), function, library, std::move(name)) {
  library_ = std::move(library);
  ptx_ = ptx;
}

CudaKernel::CudaKernel(std::shared_ptr<const CudaContext> context, CUfunction function,
                       std::shared_ptr<const void> owner, std::string name)
    : context_(std::move(context)),
      function_(function),
      owner_(std::move(owner)),
      name_(std::move(name)) {
  const SetupScope scope(*context_, Stage::Load);
  const CallContext call = context_->at(Stage::Load, name_);
  cuda_check(context_->driver.cuFuncLoad(function_), "cuFuncLoad", call);
  cuda_check(context_->driver.cuFuncGetName(&symbol_, function_), "cuFuncGetName", call);
  static_shared_bytes_ = static_cast<std::uint32_t>(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  registers_ = static_cast<std::uint32_t>(attribute(CU_FUNC_ATTRIBUTE_NUM_REGS));
}

int CudaKernel::attribute(CUfunction_attribute which) const {
  int value = 0;
  cuda_check(context_->driver.cuFuncGetAttribute(&value, which, function_), "cuFuncGetAttribute",
             context_->at(Stage::Load, name_));
  return value;
}

void CudaKernel::allow_shared_bytes(std::uint32_t bytes) const {
  if (bytes <= allowed_shared_bytes_.load(std::memory_order_acquire)) return;
  static std::mutex mutex;  // shared by all kernels: two may have the same function
  const std::lock_guard lock(mutex);
  const auto current = static_cast<std::uint32_t>(
      std::max(attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 0));
  if (bytes > current) {
    cuda_check(
        context_->driver.cuFuncSetAttribute(
            function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes)),
        "cuFuncSetAttribute", context_->at(Stage::Instantiate, name_));
  }
  allowed_shared_bytes_.store(std::max(bytes, current), std::memory_order_release);
}

std::string_view CudaKernel::segment_exclusion(const DispatchPayload& dispatch) const {
  if (ptx_.text.empty()) return "PTX of the kernel is not available";
  if (dispatch.block.volume() > kSegmentThreads) return "more than 512 threads in a block";
  if (dispatch.grid.volume() > kMaxSegmentBlocks) return "more than 32,768 blocks";
  if (std::uint64_t{static_shared_bytes_} + dispatch.shared_bytes > kMaxSegmentShared)
    return "more than 40 KiB of shared memory";
  if (registers_ > kMaxSegmentRegisters) return "more than 128 registers in a thread";
  return persistent_part(dispatch.block)->problem;
}

std::shared_ptr<const Footprint> CudaKernel::footprint(const DispatchPayload& dispatch) const {
  if (ptx_.text.empty()) return nullptr;
  std::call_once(has_footprints_, [this] {
    const PtxModule& module = library_->parse(ptx_.text);
    footprints_ = std::make_unique<KernelFootprints>(module, find_kernel(module, symbol_));
  });
  return find_footprint(*footprints_, dispatch);
}

const RewrittenPart* CudaKernel::persistent_part(Dim3 block) const {
  if (ptx_.text.empty()) return nullptr;
  const bool is_full = has_full_warps(block), is_flat = block.y == 1 && block.z == 1;
  Part& known = parts_[is_full ? 1 : 0][is_flat ? 1 : 0];
  std::call_once(known.is_known, [&] {
    known.part = &library_->rewrite({.module = &library_->parse(ptx_.text),
                                     .entry = symbol_,
                                     .has_full_warps = is_full,
                                     .is_one_dimensional = is_flat,
                                     .may_contract = ptx_.may_contract});
  });
  return known.part;
}

std::vector<KernelParameter> CudaKernel::parameters() const {
  const SetupScope scope(*context_, Stage::Load);
  std::vector<KernelParameter> parameters;
  for (;;) {
    std::size_t offset = 0, size = 0;
    const CUresult result =
        context_->driver.cuFuncGetParamInfo(function_, parameters.size(), &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) return parameters;  // no parameter with that index
    cuda_check(result, "cuFuncGetParamInfo", context_->at(Stage::Load, name_));
    parameters.push_back(
        {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size), false});
  }
}

KernelCore CudaKernel::core(std::shared_ptr<const CudaKernel> kernel,
                            std::vector<KernelParameter> parameters,
                            std::span<const KernelParameter> compiled) {
  const SetupScope scope(*kernel->context_, Stage::Load);
  KernelCore core;
  core.name = kernel->name_;
  for (const auto& list : {std::span<const KernelParameter>(parameters), compiled}) {
    for (const KernelParameter& p : list)
      core.parameter_bytes = std::max(core.parameter_bytes, p.offset + p.size);
  }
  core.parameters = std::move(parameters);
  core.max_block_threads =
      static_cast<std::uint32_t>(kernel->attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  core.static_shared_bytes = kernel->static_shared_bytes_;
  core.registers = kernel->registers_;
  const std::uint32_t limit = kernel->context_->info.limits.max_shared_bytes;
  core.max_dynamic_shared_bytes = limit - std::min(limit, core.static_shared_bytes);
  core.backend = std::const_pointer_cast<CudaKernel>(std::move(kernel));
  return core;
}

KernelPtx ptx_for(std::span<const KernelPtx> all, std::uint32_t capability) {
  KernelPtx best;
  for (const KernelPtx& one : all)
    if (one.capability <= capability && (one.capability > best.capability ||
                                         (one.capability == best.capability && one.text.empty())))
      best = one;
  return best;
}

void check_parameters(std::string_view kernel, std::span<const KernelParameter> table,
                      std::span<const KernelParameter> compiled) {
  if (is_instance(table, compiled)) return;
  std::string text;
  const std::size_t common = std::min(table.size(), compiled.size());
  for (std::size_t i = 0; i < common && text.empty(); ++i) {
    if (table[i].offset != compiled[i].offset || table[i].size != compiled[i].size) {
      text = concat("parameter ", i, " has ", parameter_text(table[i]), " in its table and ",
                    parameter_text(compiled[i]), " in the compiled kernel");
    }
  }
  if (text.empty() && table.size() != compiled.size()) {
    text = concat("its table has ", table.size(), " parameters and the compiled kernel has ",
                  compiled.size());
  }
  if (text.empty()) return;
  ErrorDetails details;
  details.code = ErrorCode::ParameterMismatch;
  details.stage = Stage::Load;
  details.label = kernel;
  throw Error(std::move(details),
              concat("kernel ", kernel, ": ", text, "; rebuild both from one source"));
}

}  // namespace reprise::detail
