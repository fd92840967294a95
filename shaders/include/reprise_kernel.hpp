// The header of a shader file (.cu): one source of ordinary CUDA C++ that nvcc compiles for the GPU
// and the C++ compiler for the host device (reprise_add_shaders does both).
//
//   REPRISE_KERNEL(saxpy, (float a, const float* x, float* y, unsigned n)) {
//     const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//     if (i < n) y[i] = fmaf(a, x[i], y[i]);
//   }
//
// Kernels are declared at global scope; their names are entry points of the whole program. Both
// devices support threadIdx and its like, __shared__ arrays, REPRISE_DYNAMIC_SHARED,
// __syncthreads() and its votes, __threadfence(), atomics, vector types, math functions,
// conditions, and helpers marked __device__. A function of warps or of several blocks does not
// compile for the host device; the message names it. An exception that leaves a kernel terminates
// the program.
#pragma once

#ifdef __CUDACC__

#define REPRISE_KERNEL(name, parameters) extern "C" __global__ void name parameters

// The kernel parameter type of a reprise::Condition, and the function with which one thread sets
// it.
struct reprise_condition {
  unsigned long long handle;
};
__device__ __forceinline__ void reprise_set_condition(reprise_condition condition, unsigned value) {
  cudaGraphSetConditional(condition.handle, value);
}

// For a kernel dispatched with .start = Early: each block calls this function before it first
// accesses memory. It returns after all predecessors have ended and makes their writes visible.
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

// Declares `name`, a T* to the dispatch's `.shared_bytes` of scratch that the threads of a block
// share, aligned to 16 bytes.
#define REPRISE_DYNAMIC_SHARED(T, name)                                         \
  extern __shared__ __align__(16) unsigned char reprise_dynamic_shared_bytes[]; \
  [[maybe_unused]] T* const name = reinterpret_cast<T*>(reprise_dynamic_shared_bytes)

#else

#include <math.h>
#include <stdlib.h>

#include <reprise_host_kernel/qualifiers.hpp>
#include <reprise_host_kernel/vector_types.hpp>

#include <reprise_host_kernel/atomics.hpp>
#include <reprise_host_kernel/condition.hpp>
#include <reprise_host_kernel/device_only.hpp>
#include <reprise_host_kernel/intrinsics.hpp>
#include <reprise_host_kernel/predecessors.hpp>
#include <reprise_host_kernel/reflection.hpp>
#include <reprise_host_kernel/threads.hpp>

using namespace reprise::host_kernel::language;

// The build defines both for each shader file: its path, and the function that returns its fatbin.
#ifndef REPRISE_SHADER_SOURCE
#define REPRISE_SHADER_SOURCE __FILE__
#endif
#ifndef REPRISE_SHADER_IMAGE
#define REPRISE_SHADER_IMAGE nullptr
#endif

#define REPRISE_KERNEL(name, parameters)                                                     \
  static void name parameters;                                                               \
  namespace shaders {                                                                        \
  __attribute__((visibility("default"))) extern const reprise::KernelDesc name;              \
  constinit const reprise::KernelDesc name = reprise::host_kernel::describe_kernel<&::name>( \
      #name, REPRISE_SHADER_IMAGE, REPRISE_SHADER_SOURCE);                                   \
  }                                                                                          \
  static void name parameters

#define REPRISE_DYNAMIC_SHARED(T, name) \
  [[maybe_unused]] T* const name = reinterpret_cast<T*>(reprise::host_kernel::dynamic_shared)

#endif
