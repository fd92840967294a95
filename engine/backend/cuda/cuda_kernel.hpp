// CudaLibrary and CudaKernel: a loaded image (fatbin, cubin or PTX) and one of its entry points on
// one GPU. Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <reprise/kernel.hpp>

#include "backend/cuda/cuda_context.hpp"
#include "plan/dispatch_footprint.hpp"
#include "ptx/persistent_part.hpp"
#include "record/image_signature.hpp"
#include "record/kernel_core.hpp"

namespace reprise::detail {

class CudaLibrary {
 public:
  // `image` is only read during the call. Throws NativeFailure with the driver's text for a bad
  // image (for PTX, the compiler log), and KernelNotFound if the image has no code for this GPU.
  CudaLibrary(std::shared_ptr<const CudaContext> context, std::span<const std::byte> image,
              std::string_view name);
  CudaLibrary(const CudaLibrary&) = delete;
  CudaLibrary& operator=(const CudaLibrary&) = delete;
  ~CudaLibrary();

  // The kernel with the symbol `entry`, or the C++ function of this name at global scope. Throws
  // KernelNotFound naming the entry and this image.
  [[nodiscard]] CUfunction function(const std::string& entry) const;
  // The parameters that REPRISE_KERNEL stored in the image for this entry; they live as long as the
  // library. None for an image that was not built from a shader file.
  [[nodiscard]] std::span<const KernelParameter> signature(const std::string& entry);

  // PTX that the image was built with, parsed by the first call.
  [[nodiscard]] const PtxModule& parse(std::string_view ptx);
  // The same kernel with blocks of the same shape is the same object. Lives as long as the library.
  [[nodiscard]] const RewrittenPart& rewrite(const PersistentPart& part);
  // The memory of a variable of the image; empty if there is no such variable.
  [[nodiscard]] std::span<std::byte> global(const std::string& name) const;
  // Its address as in VariableAddress.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::string_view variable) const;

 private:
  [[nodiscard]] std::vector<std::byte> read_global(const std::string& name) const;
  [[nodiscard]] cudaKernel_t find_kernel(const std::string& name) const;

  std::shared_ptr<const CudaContext> context_;
  std::string name_;
  // Log of the driver's compiler, which runs at the load or at the first kernel look-up.
  std::string log_;
  cudaLibrary_t library_ = nullptr;
  std::mutex mutex_;                                             // protects the members below
  std::map<const char*, std::unique_ptr<const PtxModule>> ptx_;  // by the address of the text
  std::vector<std::unique_ptr<const RewrittenPart>> parts_;
  std::unordered_map<std::string, std::unique_ptr<const ImageSignature>> signatures_;  // by entry
};

class CudaKernel final : public BackendKernel {
 public:
  // `owner` keeps the function loaded.
  CudaKernel(std::shared_ptr<const CudaContext> context, CUfunction function,
             std::shared_ptr<const void> owner, std::string name);
  // A kernel of `library`. `ptx`: of its image for this GPU; without text: none, so that no segment
  // contains it.
  CudaKernel(std::shared_ptr<const CudaContext> context, CUfunction function,
             std::shared_ptr<CudaLibrary> library, std::string name, const KernelPtx& ptx);

  [[nodiscard]] std::string_view segment_exclusion(const DispatchPayload& dispatch) const override;
  [[nodiscard]] std::shared_ptr<const Footprint> footprint(
      const DispatchPayload& dispatch) const override;
  // The kernel's code for segments, for blocks of this shape. Null without PTX.
  [[nodiscard]] const RewrittenPart* persistent_part(Dim3 block) const;
  // Null for a kernel of another module.
  [[nodiscard]] std::shared_ptr<const CudaLibrary> library() const noexcept { return library_; }
  [[nodiscard]] CUfunction function() const noexcept { return function_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Allows launches with `bytes` of dynamic shared memory.
  void allow_shared_bytes(std::uint32_t bytes) const;
  [[nodiscard]] int attribute(CUfunction_attribute which) const;
  // Offsets and sizes as compiled. The image does not reveal pointers: `is_pointer` is false.
  [[nodiscard]] std::vector<KernelParameter> parameters() const;
  // The core of a handle with the given parameters. `compiled`: those of parameters(). The runtime
  // sets `device` and `generation`.
  [[nodiscard]] static KernelCore core(std::shared_ptr<const CudaKernel> kernel,
                                       std::vector<KernelParameter> parameters,
                                       std::span<const KernelParameter> compiled);

 private:
  std::shared_ptr<const CudaContext> context_;
  CUfunction function_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::string name_;
  const char* symbol_ = nullptr;  // of the image, as mangled
  std::uint32_t static_shared_bytes_ = 0, registers_ = 0;
  std::shared_ptr<CudaLibrary> library_;
  KernelPtx ptx_;
  struct Part {
    std::once_flag is_known;
    const RewrittenPart* part = nullptr;
  };
  mutable Part parts_[2][2];  // by has_full_warps and is_one_dimensional
  mutable std::once_flag has_footprints_;
  mutable std::unique_ptr<KernelFootprints> footprints_;
  mutable std::atomic<std::uint32_t> allowed_shared_bytes_{0};
};

// The newest code that a GPU of this compute capability can run; without text: none. 90 is 9.0.
[[nodiscard]] KernelPtx ptx_for(std::span<const KernelPtx> all, std::uint32_t capability);

// Throws ParameterMismatch (Stage::Load) naming kernel, index, offsets and sizes if `table` differs
// from `compiled`, which may be one structure with the table's parameters (a kernel instance).
void check_parameters(std::string_view kernel, std::span<const KernelParameter> table,
                      std::span<const KernelParameter> compiled);

}  // namespace reprise::detail
