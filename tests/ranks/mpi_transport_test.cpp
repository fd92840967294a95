// The transport over MPI: mpirun -n N reprise_mpi_transport_test. Every rank runs the same test
// cases in the same order. Rank 0 reports; the others report only if they fail. Assertions about a
// collective do not end a test case (CHECK), because the other ranks would then wait for this one.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "collectives/mpi_loader.hpp"
#include "ranks/transport_cases.hpp"
#include "support/thrown_by.hpp"

namespace reprise::test {
namespace {

using detail::HostTransport;

HostTransport* world = nullptr;

}  // namespace

TEST_CASE("mpi transport: the cases of every transport") {
  for (const TransportCase& c : kTransportCases) {
    TransportRank own(*world);
    c.run(own);
    INFO(c.name);
    CHECK(own.faults() == std::vector<std::string>());
  }
}

TEST_CASE("mpi transport: counts above the limit of a request use several requests") {
  const auto transport = detail::load_mpi_module().open({}, 40);
  TransportRank own(*transport);
  for (const CollectiveCase& c : all_cases(world->size(), 37)) {
    if (c.type != ElementType::F16 && c.type != ElementType::I32) continue;
    own.check_collective(c, Placement::Separate);
    own.check_collective(c, Placement::InPlace);
  }
  CHECK(own.faults() == std::vector<std::string>());
  const std::uint32_t next = (world->rank() + 1) % world->size();
  const std::uint32_t previous = (world->rank() + world->size() - 1) % world->size();
  std::vector<int> sent(25), received(25);
  std::iota(sent.begin(), sent.end(), static_cast<int>(world->rank()) * 100);
  const CollectiveCall group[] = {send_to(next, sent), receive_from(previous, received)};
  wait(*transport->start(group));
  CHECK(received.front() == static_cast<int>(previous) * 100);
  CHECK(received.back() == static_cast<int>(previous) * 100 + 24);
}

TEST_CASE("mpi transport: transports on several threads make progress at the same time") {
  constexpr std::size_t kThreads = 3;
  std::vector<std::unique_ptr<HostTransport>> transports;
  for (std::size_t i = 0; i < kThreads; ++i)
    transports.push_back(detail::load_mpi_module().open({}));
  std::vector<std::vector<float>> values(kThreads, std::vector<float>(50'000, 1.0f));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 5; ++repeat) wait(*start(*transports[i], sum_of(values[i])));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const float expected = std::pow(static_cast<float>(world->size()), 5.0f);
  for (const auto& v : values) CHECK(v == std::vector<float>(v.size(), expected));
}

TEST_CASE("mpi module: the text of rank 0 reaches all ranks") {
  detail::MpiModule& module = detail::load_mpi_module();
  for (const std::size_t length : {0u, 1u, 100'000u}) {
    const std::string text(length, 'x');
    CHECK(module.broadcast({}, world->rank() == 0 ? text : "ignored") == text);
  }
}

TEST_CASE("mpi module: the rank and the size, also on the host") {
  const detail::MpiModule::RankInfo info = detail::load_mpi_module().rank_info({});
  CHECK(info.rank == world->rank());
  CHECK(info.size == world->size());
  CHECK(info.local_rank < info.local_size);
  CHECK(info.local_size <= info.size);
}

TEST_CASE("mpi module: a communicator of another MPI library is refused") {
  const char bytes[3] = {};
  CHECK(code_of([&] {
          static_cast<void>(detail::load_mpi_module().open({bytes, 3}));
        }) == ErrorCode::InvalidArgument);
}

}  // namespace reprise::test

int main(int argc, char** argv) {
  using namespace reprise::test;
  try {
    const auto transport = reprise::detail::load_mpi_module().open({});
    world = transport.get();
    doctest::Context context(argc, argv);
    std::ostringstream output;
    if (world->rank() != 0) context.setCout(&output);
    const int failed = context.run();
    if (failed != 0 && world->rank() != 0)
      std::fprintf(stderr, "rank %u:\n%s", world->rank(), output.str().c_str());
    // All ranks fail if one does.
    int any_failed = failed != 0 ? 1 : 0;
    wait(*start(*world, {.type = reprise::ElementType::I32,
                         .reduce = reprise::ReduceOperator::Max,
                         .count = 1,
                         .send = &any_failed,
                         .receive = &any_failed}));
    return any_failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
