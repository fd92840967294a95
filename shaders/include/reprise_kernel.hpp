// What a shader file (.cu) includes: one source of ordinary CUDA C++ that nvcc compiles for the GPU
// and the C++ compiler for the host device (reprise_add_shaders does both).
//
//   REPRISE_KERNEL(saxpy, (float a, const float* x, float* y, unsigned n)) {
//     const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//     if (i < n) y[i] = fmaf(a, x[i], y[i]);
//   }
//
// Kernels stand at global scope; their names are entry points of the whole program. The same works
// on both devices: threadIdx and its like, __shared__ arrays, REPRISE_DYNAMIC_SHARED,
// __syncthreads() and its votes, __threadfence(), atomics, vector types, math functions,
// conditions, helpers marked __device__. What works on warps or on several blocks does not compile
// for the host device; the message names it. An exception that leaves a kernel ends the program.
#pragma once

#ifdef __CUDACC__

#define REPRISE_KERNEL(name, parameters) extern "C" __global__ void name parameters

// What a kernel takes a reprise::Condition as, and how one thread of it sets the condition.
struct reprise_condition {
  unsigned long long handle;
};
__device__ __forceinline__ void reprise_set_condition(reprise_condition condition, unsigned value) {
  cudaGraphSetConditional(condition.handle, value);
}

// Of a kernel dispatched with .start = Early: each block calls this before it first touches memory.
// Returns once everything that the dispatch comes after has ended, and its writes are seen.
__device__ __forceinline__ void reprise_wait_for_predecessors() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
// From here on, once every block has come here or ended, what comes after and waits itself may
// start. Changes no result.
__device__ __forceinline__ void reprise_trigger_successors() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// `name`: a T*, the dispatch's `.shared_bytes` of scratch that the threads of a block share,
// aligned to 16 bytes.
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

// The build defines both for each shader file: where it is, and the function that gives its fatbin.
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
