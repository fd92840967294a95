// The header of a shader file (.cu): one source of ordinary CUDA C++ that nvcc compiles for the GPU
// and the C++ compiler for the host device (reprise_add_shaders does both).
//
//   REPRISE_KERNEL(saxpy, (float a, const float* x, float* y, unsigned n)) {
//     const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//     if (i < n) y[i] = fmaf(a, x[i], y[i]);
//   }
//
// A kernel may also run a __device__ function, for example an instance of a template:
//
//   template <class T, unsigned N>
//   __device__ void rotate(const T* from, T* to) {...}
//   REPRISE_KERNEL_INSTANCE(rotate_float_4, rotate<float, 4>)
//
// A variable in constant memory, to which Device::constant() gives access:
//
//   REPRISE_CONSTANT(weights, float[9])
//
// Both are declared at global scope; their names are unique in the program. What works on which
// device is in engine/docs/kernels.md. A kernel inside `#ifdef __CUDACC__` exists on GPUs only. An
// exception that leaves a kernel terminates the program.
#pragma once

#ifdef __CUDACC__

#include <utility>

#include <reprise/kernel_signature.hpp>

// The kernel parameter type of a reprise::Condition, and the function with which one thread sets
// it.
struct reprise_condition {
  unsigned long long handle;
};
__device__ __forceinline__ void reprise_set_condition(reprise_condition condition, unsigned value) {
  cudaGraphSetConditional(condition.handle, value);
}

// For a kernel dispatched with DispatchDesc::Start::Programmatic: each block calls this function
// before it first accesses memory. It returns after all predecessors have ended and makes their
// writes visible.
__device__ __forceinline__ void reprise_wait_for_predecessors() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
// Lets successors that wait for themselves start once every block has called this function or
// ended. Does not affect results.
__device__ __forceinline__ void reprise_trigger_successors() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

namespace reprise::detail {

template <class T>
struct ConstantType {
  using type = T;
};

// The parameters of a kernel that runs a function: one structure, in which each has the offset that
// it would have as a separate parameter.
template <class Function>
class InstanceParameters;

template <class... Parameters>
class InstanceParameters<void (*)(Parameters...)> {
 public:
  template <void (*Function)(Parameters...)>
  __device__ __forceinline__ void call() const {
    call<Function>(std::index_sequence_for<Parameters...>{});
  }

 private:
  static constexpr std::size_t kCount = sizeof...(Parameters);
  static_assert(kCount != 0, "a kernel instance has at least one parameter");
  static constexpr auto kSignature =
      signature_of<void>(static_cast<void (*)(Parameters...)>(nullptr));

  template <void (*Function)(Parameters...), std::size_t... I>
  __device__ __forceinline__ void call(std::index_sequence<I...>) const {
    Function(*reinterpret_cast<const Parameters*>(
        bytes_ + std::integral_constant<std::size_t, kSignature.parameters[I].offset>::value)...);
  }

  alignas(Parameters...) unsigned char bytes_[kSignature.parameters[kCount - 1].offset +
                                              kSignature.parameters[kCount - 1].size];
};

}  // namespace reprise::detail

#define REPRISE_SIGNATURE(function) \
  reprise::detail::signature_of<reprise_condition>(static_cast<function>(nullptr))
#define REPRISE_STORE_SIGNATURE(name, function)                                              \
  extern "C" {                                                                               \
  extern __device__ const decltype(REPRISE_SIGNATURE(function)) reprise_signature_of_##name; \
  __device__ const decltype(REPRISE_SIGNATURE(function)) reprise_signature_of_##name =       \
      REPRISE_SIGNATURE(function);                                                           \
  }

#define REPRISE_KERNEL(name, parameters)            \
  REPRISE_STORE_SIGNATURE(name, void(*) parameters) \
  __global__ void name parameters

#define REPRISE_KERNEL_INSTANCE(name, ...)                                                         \
  REPRISE_STORE_SIGNATURE(name, decltype(&__VA_ARGS__))                                            \
  __global__ void name(                                                                            \
      const __grid_constant__ reprise::detail::InstanceParameters<decltype(&__VA_ARGS__)> given) { \
    given.call<&__VA_ARGS__>();                                                                    \
  }

#define REPRISE_CONSTANT(name, ...) \
  __constant__ typename reprise::detail::ConstantType<__VA_ARGS__>::type name;

#else

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <reprise_host_kernel/qualifiers.hpp>
#include <reprise_host_kernel/vector_types.hpp>

#ifndef REPRISE_LIST_KERNELS  // which reads no declarations
#include <reprise_host_kernel/atomics.hpp>
#include <reprise_host_kernel/condition.hpp>
#include <reprise_host_kernel/device_only.hpp>
#include <reprise_host_kernel/intrinsics.hpp>
#include <reprise_host_kernel/predecessors.hpp>
#include <reprise_host_kernel/reflection.hpp>
#include <reprise_host_kernel/threads.hpp>
#include <reprise_host_kernel/warps.hpp>

using namespace reprise::host_kernel::language;
#endif

// After the headers above: those of the standard library use the name as an attribute.
#define __noinline__ __attribute__((noinline))

// The build defines these for each shader file: its path, and the functions that return its fatbin
// and PTX.
#ifndef REPRISE_SHADER_SOURCE
#define REPRISE_SHADER_SOURCE __FILE__
#endif
#ifndef REPRISE_SHADER_IMAGE
#define REPRISE_SHADER_IMAGE nullptr
#define REPRISE_SHADER_PTX nullptr
#endif

#define REPRISE_DESCRIBE_KERNEL(name, ...)                                                       \
  namespace shaders {                                                                            \
  __attribute__((visibility("default"))) extern const reprise::KernelDesc name;                  \
  constinit const reprise::KernelDesc name = reprise::host_kernel::describe_kernel<__VA_ARGS__>( \
      #name, REPRISE_SHADER_IMAGE, REPRISE_SHADER_PTX, REPRISE_SHADER_SOURCE);                   \
  }

#define REPRISE_KERNEL(name, parameters)                                  \
  static void name parameters;                                            \
  REPRISE_DESCRIBE_KERNEL(name, static_cast<void(*) parameters>(&::name)) \
  static void name parameters

#define REPRISE_KERNEL_INSTANCE(name, ...)                         \
  static constexpr auto reprise_function_of_##name = &__VA_ARGS__; \
  REPRISE_DESCRIBE_KERNEL(name, reprise_function_of_##name)

#define REPRISE_CONSTANT(name, ...)                                                     \
  static std::type_identity_t<__VA_ARGS__> name;                                        \
  namespace shaders {                                                                   \
  __attribute__((visibility("default"))) extern const reprise::ConstantDesc name;       \
  constinit const reprise::ConstantDesc name = reprise::host_kernel::describe_constant( \
      #name, ::name, REPRISE_SHADER_IMAGE, REPRISE_SHADER_SOURCE);                      \
  }

#endif

// Declares `name`, a T* to the dispatch's `.shared_bytes` of scratch that the threads of a block
// share, aligned to 16 bytes.
#ifdef __CUDACC__
#define REPRISE_DYNAMIC_SHARED(T, name)                                         \
  extern __shared__ __align__(16) unsigned char reprise_dynamic_shared_bytes[]; \
  [[maybe_unused]] T* const name = reinterpret_cast<T*>(reprise_dynamic_shared_bytes)
#else
#define REPRISE_DYNAMIC_SHARED(T, name)                  \
  [[maybe_unused]] T* const name = reinterpret_cast<T*>( \
      reprise::host_kernel::dynamic_shared(reprise::host_kernel::block_run->block))
#endif

#ifdef REPRISE_LIST_KERNELS  // list_kernels.cmake preprocesses the file
#undef REPRISE_KERNEL
#undef REPRISE_KERNEL_INSTANCE
#undef REPRISE_CONSTANT
#define REPRISE_KERNEL(name, parameters) reprise_kernel_named #name
#define REPRISE_KERNEL_INSTANCE(name, ...) reprise_kernel_named #name
#define REPRISE_CONSTANT(name, ...) reprise_constant_named #name
#undef __shared__
#define __shared__ reprise_shared_storage
#endif
