// Ends a test program with a message if a CUDA call fails.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK_CUDA(call)                                                                      \
  do {                                                                                        \
    if (const cudaError_t result = (call); result != cudaSuccess) {                           \
      std::fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(result)); \
      std::exit(3);                                                                           \
    }                                                                                         \
  } while (false)
