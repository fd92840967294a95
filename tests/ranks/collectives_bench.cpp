// An all_reduce in a graph of the engine, with and without fault markers, beside the same one that
// NCCL captured by hand, in one run: mpirun -n 2 reprise_collectives_bench. Rank 0 reports. All use
// one communicator, since those of one process can differ by 3 %.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <reprise/collectives.hpp>
#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

#include "collectives/nccl_library.hpp"

namespace {

using namespace reprise;

constexpr int kInGraph = 20;  // all_reduces
constexpr int kRounds = 200;  // of all graphs, in turn
constexpr double kGoal = 1.02;

void check(cudaError_t result) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorName(result));
  std::abort();
}
void check_nccl(int result) {
  if (result == 0) return;
  std::fprintf(stderr, "NCCL: %d\n", result);
  std::abort();
}

// Made by the application. Rank 0 sends the id to the others.
ncclComm* make_communicator(const Device& device, const Communicator& world, const Queue& queue) {
  const auto& nccl = detail::NcclLibrary::get();
  std::vector<unsigned char> id(sizeof(detail::NcclUniqueId));
  detail::NcclUniqueId made;
  if (world.rank() == 0) check_nccl(nccl.get_unique_id(&made));
  std::memcpy(id.data(), made.internal, id.size());
  const auto pool = device.create_pool();
  const auto bytes = pool->allocate<unsigned char>(id.size(), "id");
  CommandBuffer commands = device.create_command_buffer({.label = "id"});
  commands.begin();
  commands.copy(snapshot(id), bytes);
  commands.add(broadcast(world, bytes, 0));
  commands.copy(bytes, borrowed(id));
  commands.end();
  device.compile(commands).launch(queue).wait();
  std::memcpy(made.internal, id.data(), id.size());
  ncclComm* communicator = nullptr;
  check_nccl(nccl.comm_init_rank(&communicator, static_cast<int>(world.size()), made,
                                 static_cast<int>(world.rank())));
  return communicator;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&end_));
  }
  // Microseconds of the work that `launch` submits.
  template <class Launch>
  double time(const Launch& launch) {
    check(cudaEventRecord(start_, stream_));
    launch();
    check(cudaEventRecord(end_, stream_));
    check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, end_));
    return milliseconds * 1e3;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t start_ = nullptr, end_ = nullptr;
};

bool run(const Device& device, ncclComm* raw, const Queue& queue, std::uint64_t bytes) {
  const Communicator world = Communicator::from_nccl(device, raw);
  const auto& nccl = detail::NcclLibrary::get();
  const auto pool = device.create_pool();
  const std::uint64_t count = bytes / sizeof(float);
  const auto x = pool->allocate<float>(count, "x");
  CommandBuffer commands = device.create_command_buffer({.label = "all_reduces"});
  commands.begin();
  for (int i = 0; i < kInGraph; ++i) commands.add(all_reduce(world, x, x));
  commands.end();
  CapturedGraph graph = device.compile(commands);
  CapturedGraph marked =
      device.compile(commands, {.lowering = Lowering::Auto.with_fault_markers()});

  cudaStream_t stream = native_stream(queue);
  cudaGraph_t captured = nullptr;
  cudaGraphExec_t exec = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kInGraph; ++i) {
    check_nccl(nccl.all_reduce(x.data(), x.data(), count, detail::nccl_type(ElementType::F32),
                               detail::nccl_operator(ReduceOperator::Sum), raw, stream));
  }
  check(cudaStreamEndCapture(stream, &captured));
  check(cudaGraphInstantiate(&exec, captured, 0));

  Stopwatch watch(stream);
  std::vector<double> ours, theirs, ratios, with_markers;
  for (int round = -5; round < kRounds; ++round) {
    double by_hand = 0, own = 0;
    for (const bool is_own : {round % 2 == 0, round % 2 != 0}) {
      if (is_own)
        own = watch.time([&] { static_cast<void>(graph.launch(queue)); });
      else
        by_hand = watch.time([&] { check(cudaGraphLaunch(exec, stream)); });
    }
    const double own_marked = watch.time([&] { static_cast<void>(marked.launch(queue)); });
    if (round < 0) continue;  // warm-up
    with_markers.push_back(own_marked / kInGraph);
    ours.push_back(own / kInGraph);
    theirs.push_back(by_hand / kInGraph);
    ratios.push_back(own / by_hand);
  }
  const double ratio = median(ratios);
  if (world.rank() == 0) {
    std::printf(
        "all_reduce of %10llu bytes: %9.2f us, by hand %9.2f us, ratio %.3f (goal: %.2f)%s; with "
        "fault markers %9.2f us\n",
        static_cast<unsigned long long>(bytes), median(ours), median(theirs), ratio, kGoal,
        ratio <= kGoal ? "" : ": MISSED", median(with_markers));
  }
  check(cudaGraphExecDestroy(exec));
  check(cudaGraphDestroy(captured));
  return ratio <= kGoal;
}

}  // namespace

int main() {
  try {
    const Instance instance;
    const Device device = instance.open_device(
        DeviceSelector::named("cuda:" + std::to_string(launched_rank().local_rank)));
    const Communicator world = Communicator::from_environment(device);
    const CurrentDevice current(device);
    const Queue queue = device.create_queue();
    ncclComm* const raw = make_communicator(device, world, queue);
    if (world.rank() == 0)
      std::printf("%u ranks, %s, NCCL %d (%s)\n", world.size(), device.info().name.c_str(),
                  detail::NcclLibrary::get().version, detail::NcclLibrary::get().path.c_str());
    bool is_good = true;
    for (const std::uint64_t bytes : {4ull << 10, 1ull << 20, 64ull << 20})
      is_good = run(device, raw, queue, bytes) && is_good;
    check_nccl(detail::NcclLibrary::get().comm_destroy(raw));
    return is_good || world.rank() != 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
