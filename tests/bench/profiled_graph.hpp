// A graph of a given shape in its own instance, with a given profiling mode, and its timing.
// Threads: one.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "raw_graph.hpp"
#include "shapes.hpp"

namespace reprise::bench {

// Maximum number of launches in flight while timing many replays: bounds the queue and rarely
// stalls the GPU. (With 64, raw chains of 1,000 nodes took 678 us each on an H200, compared with
// 500 us in batches of 20.)
inline constexpr std::uint32_t kInFlight = 8;

// us per replay over `seconds` of wall-clock time. `launch(i)` launches, `wait(i)` waits for launch
// i; i is below kInFlight.
template <class Launch, class Wait>
[[nodiscard]] double wall_us(double seconds, Launch&& launch, Wait&& wait) {
  const double begin = now_ns(), until = begin + 1e9 * seconds;
  std::uint64_t launched = 0;
  while (launched < kInFlight || now_ns() < until) {
    const auto slot = static_cast<std::uint32_t>(launched % kInFlight);
    if (launched >= kInFlight) wait(slot);
    launch(slot);
    ++launched;
  }
  for (std::uint32_t slot = 0; slot < kInFlight; ++slot) wait(slot);
  return 1e-3 * (now_ns() - begin) / static_cast<double>(launched);
}

// A stream with event-based timing.
class TimedStream {
 public:
  TimedStream();
  TimedStream(const TimedStream&) = delete;
  TimedStream& operator=(const TimedStream&) = delete;
  ~TimedStream();
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  // GPU time in us per launch, measured by events around `count` launches.
  template <class Launch>
  [[nodiscard]] double gpu_us(std::uint32_t count, Launch&& launch) const {
    REPRISE_BENCH_CUDA(cudaStreamSynchronize(stream_));
    REPRISE_BENCH_CUDA(cudaEventRecord(begin_, stream_));
    for (std::uint32_t i = 0; i < count; ++i) launch();
    REPRISE_BENCH_CUDA(cudaEventRecord(end_, stream_));
    REPRISE_BENCH_CUDA(cudaEventSynchronize(end_));
    float ms = 0;
    REPRISE_BENCH_CUDA(cudaEventElapsedTime(&ms, begin_, end_));
    return 1000.0 * static_cast<double>(ms) / count;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// A raw graph with an event after each launch, which corresponds to a Reprise fence.
class TimedRaw {
 public:
  TimedRaw(const Shape& shape, std::uint32_t spin_ns);
  TimedRaw(const TimedRaw&) = delete;
  TimedRaw& operator=(const TimedRaw&) = delete;
  ~TimedRaw();
  [[nodiscard]] double gpu_us(std::uint32_t count);
  [[nodiscard]] double wall_us(double seconds);

 private:
  TimedStream timed_;
  RawKernels kernels_;
  float* state_ = nullptr;
  std::optional<RawGraph> graph_;
  std::array<cudaEvent_t, kInFlight> events_{};
};

struct ProfiledGraphDesc {
  const Shape* shape = nullptr;
  std::uint32_t spin_ns = 0;
  std::string trace = {};               // file; empty: none
  ProfileMode mode = ProfileMode::Off;  // used only with a trace
  CudaGraphs cuda_graphs = CudaGraphs::Exclusive;
  Lowering lowering = Lowering::Auto;
};

class ProfiledGraph {
 public:
  explicit ProfiledGraph(const ProfiledGraphDesc& desc);
  ProfiledGraph(const ProfiledGraph&) = delete;
  ProfiledGraph& operator=(const ProfiledGraph&) = delete;
  ~ProfiledGraph();
  [[nodiscard]] double gpu_us(std::uint32_t count);
  [[nodiscard]] double wall_us(double seconds);
  // CPU time in ns per launch over `count` launches on an idle device.
  [[nodiscard]] double launch_ns(std::uint32_t count);

 private:
  const Instance instance_;
  const Device device_;
  const CurrentDevice current_;
  TimedStream timed_;
  // a queue of the engine, as in applications, and one that adopts the stream, whose launches cost
  // more
  Queue queue_, on_stream_;
  std::shared_ptr<CapturePool> pool_;
  std::optional<CapturedGraph> graph_;
  std::array<Fence, kInFlight> fences_;
};

}  // namespace reprise::bench
