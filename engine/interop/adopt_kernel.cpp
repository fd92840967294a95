// Kernels from images and functions of the application.
#include <reprise/cuda_interop.hpp>

#include <optional>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "interop/cuda_access.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint32_t kPointerBytes = 8;

// `declared`: as in adopt_function.
Kernel make_kernel(const Device& device, std::shared_ptr<const CudaKernel> kernel,
                   std::optional<std::span<const KernelParameter>> declared) {
  std::vector<KernelParameter> parameters = kernel->parameters();
  if (declared && declared->size() != parameters.size()) {
    fail(ErrorCode::ParameterMismatch, Stage::Load, kernel->name(),
         concat("kernel ", kernel->name(), ": its declaration has ", declared->size(),
                " parameters and the compiled kernel has ", parameters.size()));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (declared) {
      const KernelParameter& compiled = parameters[i];
      KernelParameter parameter = (*declared)[i];
      parameter.offset = compiled.offset, parameter.size = compiled.size;
      parameters[i] = parameter;
    } else {
      parameters[i].may_be_pointer = parameters[i].size == kPointerBytes;
    }
  }
  auto core =
      std::make_shared<KernelCore>(CudaKernel::core(std::move(kernel), std::move(parameters), {}));
  core->device = detail::core_of(device)->status();
  core->generation = device.generation();
  return make_handle<Kernel>(std::move(core));
}

Kernel load_image(const Device& device, std::span<const std::byte> image, std::string_view entry,
                  std::string_view call) {
  const std::shared_ptr<const CudaContext>& context = cuda_backend(device, call).context();
  detail::core_of(device)->require_usable(Stage::Load);
  if (image.empty() || image.data() == nullptr)
    fail(ErrorCode::InvalidArgument, Stage::Load, entry,
         concat(call, " of ", entry, ": the image is empty"));
  auto library = std::make_shared<CudaLibrary>(context, image, concat("the image given to ", call));
  const std::string name(entry);
  const CUfunction function = library->function(name);
  return make_kernel(
      device, std::make_shared<const CudaKernel>(context, function, std::move(library), name),
      std::nullopt);
}

}  // namespace

Kernel adopt_function(const Device& device, CUfunction function,
                      std::optional<std::span<const KernelParameter>> declared,
                      std::shared_ptr<void> owner) {
  const std::shared_ptr<const CudaContext>& context = cuda_backend(device, "from_native").context();
  detail::core_of(device)->require_usable(Stage::Load);
  if (function == nullptr)
    fail(ErrorCode::InvalidArgument, Stage::Load, "", "from_native got a null function");
  const char* name = nullptr;
  {
    const SetupScope scope(*context, Stage::Load);
    cuda_check(context->driver.cuFuncGetName(&name, function), "cuFuncGetName",
               context->at(Stage::Load));
  }
  return make_kernel(device,
                     std::make_shared<const CudaKernel>(context, function, std::move(owner), name),
                     declared);
}

void refuse_symbol(const Device& device, cudaError_t result) {
  const CudaContext& context = *cuda_backend(device, "kernel_from_symbol").context();
  throw_cuda_error(NativeApi::Runtime, result, "cudaGetFuncBySymbol", context.at(Stage::Load),
                   "the function is not a __global__ function of this program");
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

Kernel load_cubin(const Device& device, std::span<const std::byte> image, std::string_view entry) {
  return detail::load_image(device, image, entry, "load_cubin");
}

Kernel load_ptx(const Device& device, std::string_view text, std::string_view entry) {
  return detail::load_image(device, std::as_bytes(std::span(text)), entry, "load_ptx");
}

Kernel from_native(const Device& device, CUfunction function, std::shared_ptr<void> owner) {
  return detail::adopt_function(device, function, std::nullopt, std::move(owner));
}

Kernel from_native(const Device& device, CUkernel kernel, std::shared_ptr<void> owner) {
  const detail::CudaContext& context = *detail::cuda_backend(device, "from_native").context();
  detail::core_of(device)->require_usable(Stage::Load);
  if (kernel == nullptr)
    detail::fail(ErrorCode::InvalidArgument, Stage::Load, "", "from_native got a null kernel");
  CUfunction function = nullptr;
  {
    const detail::SetupScope scope(context, Stage::Load);
    detail::cuda_check(context.driver.cuKernelGetFunction(&function, kernel), "cuKernelGetFunction",
                       context.at(Stage::Load));
  }
  return detail::adopt_function(device, function, std::nullopt, std::move(owner));
}

CUfunction native_function(const Kernel& kernel) {
  return detail::cuda_kernel(kernel, "native_function").function();
}

}  // namespace reprise::inline REPRISE_ABI
