// The transport over MPI: mpirun -n N reprise_mpi_transport_test. Every rank runs the same test
// cases in the same order. Rank 0 reports; the others report only if they fail. Assertions about a
// collective do not end a test case (CHECK), because the other ranks would then wait for this one.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "collectives/mpi_loader.hpp"
#include "ranks/expected_collectives.hpp"
#include "support/contains.hpp"
#include "support/thrown_by.hpp"

namespace reprise::test {
namespace {

using detail::HostTransport;
using OperationPtr = std::unique_ptr<HostTransport::Operation>;

HostTransport* world = nullptr;

// Ends the process if an operation takes too long; mpirun then ends the other ranks.
void wait(HostTransport::Operation& operation) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!operation.poll()) {
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() < limit) continue;
    std::fprintf(stderr, "rank %u: an operation does not end\n", world->rank());
    std::_Exit(1);
  }
}

void check_case(HostTransport& transport, const CollectiveCase& c, Placement placement) {
  const RankCase rank(c, transport.rank(), transport.size(), placement);
  wait(*start(transport, rank.call()));
  INFO(name_of(c), " of ", transport.size(), placement == Placement::InPlace ? ", in place" : "");
  CHECK(rank.is_as_expected());
}

// Whether all ranks have the same bytes.
bool is_same_on_all_ranks(HostTransport& transport, const std::vector<float>& values) {
  std::vector<float> all(values.size() * transport.size());
  wait(*start(transport, {.kind = CollectiveKind::AllGather,
                          .count = values.size(),
                          .send = values.data(),
                          .receive = all.data()}));
  bool is_same = true;
  for (std::uint32_t rank = 0; rank < transport.size(); ++rank) {
    is_same = is_same && std::memcmp(all.data() + rank * values.size(), values.data(),
                                     values.size() * sizeof(float)) == 0;
  }
  return is_same;
}

// The result for equal elements, enough that MPI uses vector instructions.
template <class T>
T reduce_equal(ElementType type, ReduceOperator reduce, T of_rank_0, T of_others) {
  std::vector<T> values(200, world->rank() == 0 ? of_rank_0 : of_others);
  wait(*start(*world, {.type = type,
                       .reduce = reduce,
                       .count = values.size(),
                       .send = values.data(),
                       .receive = values.data()}));
  for (const T& value : values) CHECK(std::memcmp(&value, values.data(), sizeof(T)) == 0);
  return values[0];
}

}  // namespace

TEST_CASE("mpi transport: every collective gives what plain C++ gives") {
  for (const CollectiveCase& c : all_cases(world->size(), 37)) {
    check_case(*world, c, Placement::Separate);
    check_case(*world, c, Placement::InPlace);
  }
}

TEST_CASE("mpi transport: counts of 0 and 1, and large ones") {
  for (const CollectiveKind kind : kCollectives) {
    for (const std::uint64_t count : {0u, 1u, 20'001u, 2'000'001u}) {
      const CollectiveCase c{kind, ElementType::F32, ReduceOperator::Average, world->size() - 1,
                             count};
      check_case(*world, c, Placement::Separate);
      check_case(*world, c, Placement::InPlace);
    }
    check_case(*world, {kind, ElementType::BF16, ReduceOperator::Sum, 0, 300'001},
               Placement::InPlace);
  }
}

TEST_CASE("mpi transport: ranks may work in place while others do not") {
  for (const CollectiveKind kind : kCollectives) {
    for (const std::uint64_t count : {5u, 100'000u}) {
      check_case(*world, {kind, ElementType::F64, ReduceOperator::Sum, 0, count},
                 world->rank() % 2 == 0 ? Placement::InPlace : Placement::Separate);
    }
  }
}

TEST_CASE("mpi transport: counts above the limit of a request use several requests") {
  const auto transport = detail::load_mpi_module().open({}, 40);
  for (const CollectiveCase& c : all_cases(world->size(), 37)) {
    if (c.type != ElementType::F16 && c.type != ElementType::I32) continue;
    check_case(*transport, c, Placement::Separate);
    check_case(*transport, c, Placement::InPlace);
  }
  const std::uint32_t next = (world->rank() + 1) % world->size();
  const std::uint32_t previous = (world->rank() + world->size() - 1) % world->size();
  std::vector<int> sent(25), received(25);
  std::iota(sent.begin(), sent.end(), static_cast<int>(world->rank()) * 100);
  const CollectiveCall group[] = {send_to(next, sent), receive_from(previous, received)};
  wait(*transport->start(group));
  CHECK(received.front() == static_cast<int>(previous) * 100);
  CHECK(received.back() == static_cast<int>(previous) * 100 + 24);
}

TEST_CASE("mpi transport: a reduction gives the same bytes on all ranks and each time") {
  for (const std::size_t count : {7u, 1'000u, 50'000u, 400'000u}) {
    const auto reduce = [&](ReduceOperator op, bool is_in_place) {
      std::vector<float> input(count), result(count);
      for (std::size_t i = 0; i < count; ++i)
        input[i] = std::sin(static_cast<float>(i + 1000 * world->rank())) * 1e3f;
      if (is_in_place) result = input;
      wait(*start(*world, {.reduce = op,
                           .count = count,
                           .send = is_in_place ? result.data() : input.data(),
                           .receive = result.data()}));
      return result;
    };
    for (const ReduceOperator op : kReduceOperators) {
      const std::vector<float> first = reduce(op, true);
      CHECK(is_same_on_all_ranks(*world, first));
      CHECK(reduce(op, false) == first);
      CHECK(reduce(op, world->rank() == 0) == first);
    }
  }
}

TEST_CASE("mpi transport: integers wrap around, and Min and Max ignore a NaN and order zeros") {
  const int others = static_cast<int>(world->size()) - 1;
  CHECK(reduce_equal(ElementType::I8, ReduceOperator::Sum, std::int8_t{100}, std::int8_t{50}) ==
        static_cast<std::int8_t>(100 + 50 * others));
  CHECK(reduce_equal(ElementType::U8, ReduceOperator::Sum, std::uint8_t{200}, std::uint8_t{90}) ==
        static_cast<std::uint8_t>(200 + 90 * others));
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  CHECK(reduce_equal(ElementType::I32, ReduceOperator::Sum, kMax, std::int32_t{1}) ==
        static_cast<std::int32_t>(static_cast<std::uint32_t>(kMax) +
                                  static_cast<std::uint32_t>(others)));
  if (world->size() == 1) return;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(reduce_equal(ElementType::F32, ReduceOperator::Min, nan, 2.0f) == 2.0f);
  CHECK(reduce_equal(ElementType::F32, ReduceOperator::Max, 2.0f, nan) == 2.0f);
  CHECK(std::signbit(reduce_equal(ElementType::F64, ReduceOperator::Min, 0.0, -0.0)));
  CHECK_FALSE(std::signbit(reduce_equal(ElementType::F64, ReduceOperator::Max, 0.0, -0.0)));
}

TEST_CASE("mpi transport: a group starts sends, receives and collectives together") {
  const std::uint32_t rank = world->rank(), size = world->size();
  const std::uint32_t next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const int base = static_cast<int>(rank) * 10;
  // Larger than what MPI sends before the receive is there.
  std::vector<int> first(100'000, base), second(3, base + 1), to_self(100'000, base + 2);
  std::vector<int> received_first(first.size()), received_second(3), from_self(to_self.size());
  std::vector<float> sums(5, 1.0f);
  const CollectiveCall group[] = {send_to(next, first),
                                  sum_of(sums),
                                  send_to(rank, to_self),
                                  send_to(next, second),
                                  receive_from(previous, received_first),
                                  receive_from(rank, size == 1 ? received_second : from_self),
                                  receive_from(previous, size == 1 ? from_self : received_second)};
  if (size == 1) return;  // all pairs are the same one, whose order differs
  wait(*world->start(group));
  const int sent = static_cast<int>(previous) * 10;
  CHECK(received_first == std::vector<int>(first.size(), sent));
  CHECK(received_second == std::vector<int>(3, sent + 1));
  CHECK(from_self == to_self);
  CHECK(sums == std::vector<float>(5, static_cast<float>(size)));
}

TEST_CASE("mpi transport: several operations are in progress and complete in any order") {
  std::vector<std::vector<float>> values;
  std::vector<OperationPtr> operations;
  for (std::size_t i = 0; i < 20; ++i)
    values.emplace_back(1 + i * 1000, static_cast<float>(world->rank() + i));
  for (auto& v : values) operations.push_back(start(*world, sum_of(v)));
  for (std::size_t i = operations.size(); i-- > 0;) wait(*operations[i]);
  const std::uint32_t size = world->size();
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(values[i].back() == static_cast<float>(size * (size - 1) / 2 + i * size));
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

TEST_CASE("mpi transport: split makes transports of the ranks with one color, in their order") {
  const auto part = world->split(world->rank() % 2);
  CHECK(part->size() == (world->size() + 1 - world->rank() % 2) / 2);
  CHECK(part->rank() == world->rank() / 2);
  check_case(*part, {CollectiveKind::AllGather, ElementType::U8, ReduceOperator::Sum, 0, 9},
             Placement::Separate);
  check_case(*part, {CollectiveKind::AllReduce, ElementType::F16, ReduceOperator::Sum, 0, 9},
             Placement::InPlace);
}

TEST_CASE("mpi transport: invalid calls are refused before anything starts") {
  std::vector<float> values(1);
  CollectiveCall call = sum_of(values);
  call.kind = CollectiveKind::Broadcast;
  call.peer = world->size();
  CHECK(code_of([&] { static_cast<void>(start(*world, call)); }) == ErrorCode::InvalidArgument);
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
