// A graph of a shape in an instance of its own, looked at as closely as is wanted, and how long it
// takes. Threads: one.
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

// Launches that are under way at most while time is taken over many replays: no queue grows without
// end, and the GPU seldom waits for one. (With 64, raw chains of 1,000 nodes took 678 us each on an
// H200, and 500 us in runs of 20.)
inline constexpr std::uint32_t kInFlight = 8;

// us a replay over `seconds`, by the wall clock. `launch(i)` launches, `wait(i)` waits for launch
// i; both with i below kInFlight.
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

// A stream that takes times.
class TimedStream {
 public:
  TimedStream();
  TimedStream(const TimedStream&) = delete;
  TimedStream& operator=(const TimedStream&) = delete;
  ~TimedStream();
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  // GPU time in us of one of `count` launches, by events around all of them.
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

// A raw graph, with an event behind each launch, as ours has a fence.
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
  ProfileMode mode = ProfileMode::Off;  // means something with a trace
  CudaGraphs cuda_graphs = CudaGraphs::Exclusive;
};

class ProfiledGraph {
 public:
  explicit ProfiledGraph(const ProfiledGraphDesc& desc);
  ProfiledGraph(const ProfiledGraph&) = delete;
  ProfiledGraph& operator=(const ProfiledGraph&) = delete;
  ~ProfiledGraph();
  [[nodiscard]] double gpu_us(std::uint32_t count);
  [[nodiscard]] double wall_us(double seconds);
  // CPU time in ns of one of `count` launches; nothing runs before.
  [[nodiscard]] double launch_ns(std::uint32_t count);

 private:
  const Instance instance_;
  const Device device_;
  const CurrentDevice current_;
  TimedStream timed_;
  Queue queue_,
      on_stream_;  // ours, as applications have it; and the stream's, whose launches cost more
  std::shared_ptr<CapturePool> pool_;
  std::optional<CapturedGraph> graph_;
  std::array<Fence, kInFlight> fences_;
};

}  // namespace reprise::bench
