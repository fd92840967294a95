// CudaLibrary and CudaKernel: a loaded image (fatbin, cubin or PTX) and one of its entry points on
// one GPU. Threads: any; the only mutable state is the opt-in to more dynamic shared memory, which
// only grows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <reprise/kernel.hpp>

#include "backend/cuda/cuda_context.hpp"
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

  // Throws KernelNotFound naming the entry and this image.
  [[nodiscard]] CUfunction function(const std::string& entry) const;

 private:
  std::shared_ptr<const CudaContext> context_;
  std::string name_;
  // Log of the driver's compiler, which runs at the load or at the first kernel look-up.
  std::string log_;
  cudaLibrary_t library_ = nullptr;
};

class CudaKernel final : public BackendKernel {
 public:
  // `owner` keeps the function loaded.
  CudaKernel(std::shared_ptr<const CudaContext> context, CUfunction function,
             std::shared_ptr<const void> owner, std::string name);

  [[nodiscard]] CUfunction function() const noexcept { return function_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Allows launches with `bytes` of dynamic shared memory.
  void allow_shared_bytes(std::uint32_t bytes) const;
  [[nodiscard]] int attribute(CUfunction_attribute which) const;
  // Offsets and sizes as compiled. The image does not reveal pointers: `is_pointer` is false.
  [[nodiscard]] std::vector<KernelParameter> parameters() const;
  // The core of a handle with the given parameters. The runtime sets `device` and `generation`.
  [[nodiscard]] static KernelCore core(std::shared_ptr<const CudaKernel> kernel,
                                       std::vector<KernelParameter> parameters);

 private:
  std::shared_ptr<const CudaContext> context_;
  CUfunction function_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::string name_;
  mutable std::atomic<std::uint32_t> allowed_shared_bytes_{0};
};

// Throws ParameterMismatch (Stage::Load) naming kernel, index, offsets and sizes if `table` differs
// from `compiled`.
void check_parameters(std::string_view kernel, std::span<const KernelParameter> table,
                      std::span<const KernelParameter> compiled);

}  // namespace reprise::detail
