// The nodes and edges of a task graph, built with the CUDA runtime alone. The peer of
// cuda.lowering. Threads: one.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <stop_token>
#include <thread>

#include "lowering_points.hpp"
#include "profiled_graph.hpp"
#include "support/task_graphs.hpp"

namespace reprise::bench {

// The node kernel, loaded without the engine.
class RawTask {
 public:
  RawTask();
  RawTask(const RawTask&) = delete;
  RawTask& operator=(const RawTask&) = delete;
  ~RawTask();
  [[nodiscard]] cudaKernel_t kernel() const { return kernel_; }

 private:
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

struct RawTaskGraphDesc {
  const test::TaskGraph* tasks = nullptr;
  cudaKernel_t kernel = nullptr;
  std::uint32_t blocks = 1, threads = 32;
  TaskKernel task = {};
  float* memory = nullptr;  // one element per node
};

class RawTaskGraph {
 public:
  explicit RawTaskGraph(const RawTaskGraphDesc& desc);  // also instantiates
  RawTaskGraph(const RawTaskGraph&) = delete;
  RawTaskGraph& operator=(const RawTaskGraph&) = delete;
  ~RawTaskGraph();
  void launch(cudaStream_t stream);

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

// A second queue, which runs a kernel all the time.
class BusyStream {
 public:
  BusyStream(cudaKernel_t kernel, std::uint32_t blocks, std::uint32_t threads,
             std::uint32_t spin_ns, float* memory)
      : thread_([=](const std::stop_token& stop) {
          const TimedStream stream;
          cudaEvent_t done = nullptr;
          REPRISE_BENCH_CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
          std::uint32_t spin = spin_ns;
          float* own = memory;
          void* arguments[] = {&spin, &own};
          while (!stop.stop_requested()) {
            for (int i = 0; i < kAtOnce; ++i)
              REPRISE_BENCH_CUDA(cudaLaunchKernel(reinterpret_cast<void*>(kernel), dim3(blocks),
                                                  dim3(threads), arguments, 0, stream.stream()));
            REPRISE_BENCH_CUDA(cudaEventRecord(done, stream.stream()));
            for (int i = 0; i < kAtOnce; ++i)
              REPRISE_BENCH_CUDA(cudaLaunchKernel(reinterpret_cast<void*>(kernel), dim3(blocks),
                                                  dim3(threads), arguments, 0, stream.stream()));
            REPRISE_BENCH_CUDA(cudaEventSynchronize(done));
          }
          REPRISE_BENCH_CUDA(cudaStreamSynchronize(stream.stream()));
          REPRISE_BENCH_CUDA(cudaEventDestroy(done));
        }) {}

 private:
  static constexpr int kAtOnce = 8;
  std::jthread thread_;
};

}  // namespace reprise::bench
