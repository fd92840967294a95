// An application that calls MPI itself: mpirun -n N reprise_mpi_application_test LEVEL, where LEVEL
// is the thread level that it asks MPI for: single, funneled, serialized or multiple. Collectives
// run on communicators of the application, or are refused where the level is too low. Graphs run on
// the host device, or on the GPU of each rank if $REPRISE_DEVICE is cuda.
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <reprise/collectives.hpp>
#include <reprise/reprise.hpp>

#include "collectives/mpi_loader.hpp"

namespace {

using reprise::detail::CollectiveCall;
using reprise::detail::HostTransport;

int failures = 0;

void check(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "failed: %s\n", what);
  ++failures;
}

int level_of(std::string_view name) {
  if (name == "single") return MPI_THREAD_SINGLE;
  if (name == "funneled") return MPI_THREAD_FUNNELED;
  if (name == "serialized") return MPI_THREAD_SERIALIZED;
  return MPI_THREAD_MULTIPLE;
}

// Transports on several threads, whose calls of MPI take turns at the level serialized.
void use_threads(reprise::detail::MpiModule& module, int size) {
  constexpr std::size_t kThreads = 3;
  std::vector<std::unique_ptr<HostTransport>> transports;
  for (std::size_t i = 0; i < kThreads; ++i) transports.push_back(module.open({}));
  std::vector<std::vector<int>> values(kThreads, std::vector<int>(50'000, 1));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        const CollectiveCall call{.type = reprise::ElementType::I32,
                                  .count = values[i].size(),
                                  .send = values[i].data(),
                                  .receive = values[i].data()};
        const auto operation = transports[i]->start({&call, 1});
        while (!operation->poll()) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int expected = 1;
  for (int repeat = 0; repeat < 5; ++repeat) expected *= size;
  for (const std::vector<int>& v : values)
    check(v == std::vector<int>(v.size(), expected), "the sums on threads");
}

std::string device_name() {
  const char* const wanted = std::getenv("REPRISE_DEVICE");
  return wanted != nullptr && std::string_view(wanted) == "cuda"
             ? "cuda:" + std::to_string(reprise::launched_rank().local_rank)
             : "host";
}

// Graphs with collectives of MPI_COMM_WORLD and of a part of it.
void use_graphs() {
  using namespace reprise;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // Two neighbours each, in descending order.
  MPI_Comm neighbours = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, size - rank, &neighbours);
  const Instance instance;
  const Device device = instance.open_device(DeviceSelector::named(device_name()));
  const Communicator world = Communicator::from_mpi(device, MPI_COMM_WORLD),
                     part = Communicator::from_mpi(device, neighbours);
  MPI_Comm_free(&neighbours);
  check(world.rank() == static_cast<std::uint32_t>(rank) &&
            world.size() == static_cast<std::uint32_t>(size),
        "the ranks of MPI_COMM_WORLD");
  check(part.size() == 2 && part.rank() == static_cast<std::uint32_t>(1 - rank % 2),
        "the ranks of the part");

  const auto pool = device.create_pool();
  const Queue queue = device.create_queue();
  const auto sum = pool->allocate<int>(1000, "sum"), root = pool->allocate<int>(1000, "root");
  std::vector<int> sums(1000), roots(1000);
  const auto compile = [&](const std::function<void(CommandBuffer&)>& commands) {
    CommandBuffer cmd = device.create_command_buffer({.label = "step"});
    cmd.begin();
    commands(cmd);
    cmd.end();
    return device.compile(cmd);
  };
  CapturedGraph graph = compile([&](CommandBuffer& cmd) {
    cmd.fill(sum, rank + 1);
    cmd.fill(root, rank);
    cmd.add(all_reduce(world, sum, sum));
    cmd.add(broadcast(part, root, 0));
    cmd.copy(sum, borrowed(sums));
    cmd.copy(root, borrowed(roots));
  });
  for (int replay = 0; replay < 3; ++replay) graph.launch(queue).wait();
  check(sums == std::vector<int>(1000, size * (size + 1) / 2), "the sum of all ranks");
  check(roots == std::vector<int>(1000, rank / 2 * 2 + 1), "the value of the root of the part");

  for (const Communicator& of : {world, part}) {
    ErrorCode code = ErrorCode::Internal;
    try {
      static_cast<void>(compile([&](CommandBuffer& cmd) {
        cmd.add(
            all_reduce(of, sum, sum, rank % 2 == 0 ? ReduceOperator::Max : ReduceOperator::Min));
      }));
    } catch (const Error& error) {
      code = error.code();
    }
    check(code == ErrorCode::RankMismatch, "different operators are refused");
  }
}

// A transport that outlives MPI_Finalize.
std::unique_ptr<HostTransport> use_collectives() {
  reprise::detail::MpiModule& module = reprise::detail::load_mpi_module();
  check(module.is_initialized(), "the application has initialised MPI");
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  std::unique_ptr<HostTransport> transport = module.open({&reversed, sizeof reversed});
  MPI_Comm_free(&reversed);
  check(transport->rank() == static_cast<std::uint32_t>(size - 1 - rank),
        "the ranks are those of the application's communicator");

  float value = static_cast<float>(rank + 1);
  const CollectiveCall call{.count = 1, .send = &value, .receive = &value};
  const auto operation = transport->start({&call, 1});
  while (!operation->poll()) {
  }
  check(value == static_cast<float>(size * (size + 1) / 2), "the sum");
  use_threads(module, size);
  return transport;
}

}  // namespace

int main(int argc, char** argv) {
  const int wanted = level_of(argc > 1 ? argv[1] : "multiple");
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wanted, &level);
  std::unique_ptr<HostTransport> transport;
  try {
    transport = use_collectives();
    check(level >= MPI_THREAD_SERIALIZED, "the level suffices");
    use_graphs();
  } catch (const reprise::Error& error) {
    if (level >= MPI_THREAD_SERIALIZED) std::fprintf(stderr, "%s\n", error.what());
    check(level < MPI_THREAD_SERIALIZED, "collectives are refused only if the level is too low");
    check(error.code() == reprise::ErrorCode::InvalidState, "the code is InvalidState");
  }
  MPI_Finalize();
  transport.reset();
  return failures == 0 ? 0 : 1;
}
