// CudaLibrary and CudaKernel: a loaded image (fatbin, cubin or PTX), and one entry point of it on
// one GPU. Threads: any; the one thing that changes is the opt-in to more dynamic shared memory,
// which only grows.
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
  // `image` is read while this runs. Throws NativeFailure with what the driver says of a bad image
  // (for PTX, the compiler's words), KernelNotFound where it holds no code for this GPU.
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
  std::string
      log_;  // where the driver's compiler writes, now or when the first kernel is asked for
  cudaLibrary_t library_ = nullptr;
};

class CudaKernel final : public BackendKernel {
 public:
  // `owner` keeps the function loaded.
  CudaKernel(std::shared_ptr<const CudaContext> context, CUfunction function,
             std::shared_ptr<const void> owner, std::string name);

  [[nodiscard]] CUfunction function() const noexcept { return function_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Makes launches with this much dynamic shared memory possible.
  void allow_shared_bytes(std::uint32_t bytes) const;
  [[nodiscard]] int attribute(CUfunction_attribute which) const;
  // Offsets and sizes as compiled. Which of them are pointers the image does not say: `is_pointer`
  // is false.
  [[nodiscard]] std::vector<KernelParameter> parameters() const;
  // The core of a handle, with parameters as given; `device` and `generation` are left to run/.
  [[nodiscard]] static KernelCore core(std::shared_ptr<const CudaKernel> kernel,
                                       std::vector<KernelParameter> parameters);

 private:
  std::shared_ptr<const CudaContext> context_;
  CUfunction function_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::string name_;
  mutable std::atomic<std::uint32_t> allowed_shared_bytes_{0};
};

// Throws ParameterMismatch (Stage::Load) naming kernel, index, offsets and sizes where `table` is
// not what was compiled.
void check_parameters(std::string_view kernel, std::span<const KernelParameter> table,
                      std::span<const KernelParameter> compiled);

}  // namespace reprise::detail
