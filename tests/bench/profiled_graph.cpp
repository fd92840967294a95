#ifdef REPRISE_HAS_CUDA

#include "profiled_graph.hpp"

#include <algorithm>
#include <memory>

namespace reprise::bench {

TimedStream::TimedStream() {
  REPRISE_BENCH_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  REPRISE_BENCH_CUDA(cudaEventCreate(&begin_));
  REPRISE_BENCH_CUDA(cudaEventCreate(&end_));
}

TimedStream::~TimedStream() {
  static_cast<void>(cudaStreamSynchronize(stream_));
  static_cast<void>(cudaEventDestroy(begin_));
  static_cast<void>(cudaEventDestroy(end_));
  static_cast<void>(cudaStreamDestroy(stream_));
}

TimedRaw::TimedRaw(const Shape& shape, std::uint32_t spin_ns) {
  void* memory = nullptr;
  REPRISE_BENCH_CUDA(cudaMalloc(&memory, shape.size() * sizeof(float)));
  state_ = static_cast<float*>(memory);
  for (cudaEvent_t& event : events_)
    REPRISE_BENCH_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  graph_.emplace(RawGraphDesc{&shape, &kernels_, state_, spin_ns});
  graph_->instantiate();
  static_cast<void>(gpu_us(1));  // the first launch uploads the graph
}

TimedRaw::~TimedRaw() {
  static_cast<void>(cudaStreamSynchronize(timed_.stream()));
  graph_.reset();
  for (const cudaEvent_t event : events_) static_cast<void>(cudaEventDestroy(event));
  static_cast<void>(cudaFree(state_));
}

double TimedRaw::gpu_us(std::uint32_t count) {
  return timed_.gpu_us(count, [&] { graph_->launch(timed_.stream()); });
}

double TimedRaw::wall_us(double seconds) {
  return bench::wall_us(
      seconds,
      [&](std::uint32_t slot) {
        graph_->launch(timed_.stream());
        REPRISE_BENCH_CUDA(cudaEventRecord(events_[slot], timed_.stream()));
      },
      [&](std::uint32_t slot) { REPRISE_BENCH_CUDA(cudaEventSynchronize(events_[slot])); });
}

ProfiledGraph::ProfiledGraph(const ProfiledGraphDesc& desc)
    : instance_({.application = "reprise_bench",
                 .trace = {.target = desc.trace, .profile = desc.mode},
                 .cuda_graphs = desc.cuda_graphs}),
      device_(instance_.open_device(DeviceSelector::named("cuda:0"))),
      current_(device_),
      queue_(device_.create_queue({.label = "bench"})),
      on_stream_(from_native(device_, timed_.stream())),
      pool_(device_.create_pool()) {
  const auto state = pool_->allocate<float>(desc.shape->size(), "state");
  CommandBuffer commands = device_.create_command_buffer({.label = desc.shape->name});
  record_shape(commands, *desc.shape, load_node_kernels(device_), state, desc.spin_ns);
  graph_.emplace(device_.compile(commands, {.pool = pool_, .lowering = desc.lowering}));
  graph_->upload(queue_);
}

ProfiledGraph::~ProfiledGraph() {
  queue_.wait_idle();
  on_stream_.wait_idle();
  fences_ = {};
  graph_.reset();
  on_stream_ = Queue();
  device_.wait_idle();  // frees the dropped graph before the next measurement
}

double ProfiledGraph::gpu_us(std::uint32_t count) {
  queue_.wait_idle();
  return timed_.gpu_us(count, [&] { static_cast<void>(graph_->launch(on_stream_)); });
}

double ProfiledGraph::wall_us(double seconds) {
  on_stream_.wait_idle();
  return bench::wall_us(
      seconds, [&](std::uint32_t slot) { fences_[slot] = graph_->launch(queue_); },
      [&](std::uint32_t slot) { fences_[slot].wait(); });
}

double ProfiledGraph::launch_ns(std::uint32_t count) {
  on_stream_.wait_idle();
  queue_.wait_idle();
  const double ns = ns_of([&] {
    for (std::uint32_t i = 0; i < count; ++i) static_cast<void>(graph_->launch(queue_));
  });
  queue_.wait_idle();
  return ns / count;
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA
