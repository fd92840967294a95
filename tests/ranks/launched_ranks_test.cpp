// Collectives of graphs between processes, on the host device or on GPUs ($REPRISE_DEVICE is host,
// or cuda for the GPU of each rank): mpirun -n N reprise_launched_ranks. Every rank runs the same
// test cases in the same order. Rank 0 reports; the others report only if they fail. Assertions
// about a collective do not end a test case (CHECK), because the other ranks would then wait.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <reprise/collectives.hpp>
#include <reprise/reprise.hpp>
#ifdef REPRISE_HAS_CUDA
#include <reprise/cuda_interop.hpp>

#include "collectives/nccl_library.hpp"
#endif

#include "ranks/expected_collectives.hpp"
#include "ranks/mismatched_collectives.hpp"
#include "support/contains.hpp"
#include "support/thrown_by.hpp"

namespace reprise::test {
namespace {

struct LaunchedJob {
  Device device;
  Communicator world;
  Queue queue;
  std::shared_ptr<CapturePool> pool;

  [[nodiscard]] std::uint32_t rank() const { return world.rank(); }
  [[nodiscard]] std::uint32_t size() const { return world.size(); }
  [[nodiscard]] CapturedGraph compile(const std::function<void(CommandBuffer&)>& commands,
                                      std::string_view label = "step",
                                      const CompileDesc& desc = {}) const {
    CommandBuffer cmd = device.create_command_buffer({.label = label});
    cmd.begin();
    commands(cmd);
    cmd.end();
    return device.compile(cmd, desc);
  }
  void run(const std::function<void(CommandBuffer&)>& commands) const {
    compile(commands).launch(queue).wait();
  }
  [[nodiscard]] GpuRef<int> filled(int value, std::uint64_t count = 100) const {
    const auto made = pool->allocate<int>(count, "x");
    run([&](CommandBuffer& cmd) { cmd.fill(made, value); });
    return made;
  }
  template <class T>
  [[nodiscard]] std::vector<T> values(const GpuRef<T>& of) const {
    std::vector<T> read(of.size());
    run([&](CommandBuffer& cmd) { cmd.copy(of, borrowed(read)); });
    return read;
  }
  // A collective of no data, after which every rank has done what came before.
  void meet() const {
    const auto one = filled(1, 1);
    run([&](CommandBuffer& cmd) { cmd.add(all_reduce(world, one, one)); });
  }
};

const LaunchedJob* job = nullptr;

// One collective of a graph, with its buffers on the device.
class GraphCase {
 public:
  GraphCase(const CollectiveCase& c, Placement placement)
      : case_(c),
        input_(input_of(c, job->rank(), job->size())),
        expected_(expected_of(c, job->rank(), job->size())) {
    const bool is_separate =
        placement == Placement::Separate || input_.empty() || expected_.empty();
    if (is_separate) {
      if (!input_.empty()) send_ = job->pool->allocate<std::byte>(input_.size(), "send");
      if (!expected_.empty())
        receive_ = job->pool->allocate<std::byte>(expected_.size(), "receive");
      return;
    }
    const std::uint64_t part = c.count * size_of(c.type) * job->rank();
    const auto both =
        job->pool->allocate<std::byte>(std::max(input_.size(), expected_.size()), "both");
    send_ = input_.size() < expected_.size() ? both.slice(part, input_.size()) : both;
    receive_ = expected_.size() < input_.size() ? both.slice(part, expected_.size()) : both;
  }

  void add(CommandBuffer& cmd) const {
    if (!input_.empty()) cmd.copy(snapshot(input_), send_);
    cmd.add(CollectiveOp(job->world, {case_.kind, case_.type, case_.reduce, case_.root, case_.count,
                                      send_, receive_}));
  }
  [[nodiscard]] bool is_as_expected() const {
    return expected_.empty() || job->values(receive_) == expected_;
  }
  [[nodiscard]] std::string name() const { return name_of(case_); }

 private:
  CollectiveCase case_;
  std::vector<std::byte> input_, expected_;
  GpuRef<std::byte> send_, receive_;
};

bool is_gpu() { return job->device.info().kind == DeviceKind::Cuda; }

#ifdef REPRISE_HAS_CUDA
// An ncclComm_t of the application, of all ranks.
class ApplicationNccl {
 public:
  ApplicationNccl() {
    constexpr std::size_t kBytes = sizeof(detail::NcclUniqueId);
    detail::NcclUniqueId id;
    if (job->rank() == 0) check(nccl_.get_unique_id(&id), "ncclGetUniqueId");
    const auto shared = job->pool->allocate<char>(kBytes, "id");
    const std::vector<char> own(id.internal, id.internal + kBytes);
    job->run([&](CommandBuffer& cmd) {
      cmd.copy(snapshot(own), shared);
      cmd.add(broadcast(job->world, shared, 0));
    });
    std::memcpy(id.internal, job->values(shared).data(), kBytes);
    const CurrentDevice current(job->device);
    check(nccl_.comm_init_rank(&communicator_, static_cast<int>(job->size()), id,
                               static_cast<int>(job->rank())),
          "ncclCommInitRank");
  }
  ApplicationNccl(const ApplicationNccl&) = delete;
  ApplicationNccl& operator=(const ApplicationNccl&) = delete;
  ~ApplicationNccl() {
    const CurrentDevice current(job->device);
    CHECK(nccl_.comm_destroy(communicator_) == 0);
  }
  [[nodiscard]] ncclComm* get() const { return communicator_; }

 private:
  void check(detail::NcclLibrary::Result result, const char* call) const {
    nccl_.check(result, call, nullptr, Stage::Open);
  }
  const detail::NcclLibrary& nccl_ = detail::NcclLibrary::get();
  ncclComm* communicator_ = nullptr;
};
#endif

}  // namespace

TEST_CASE("launched ranks: every collective and type gives what plain C++ gives") {
  for (const Placement placement : {Placement::Separate, Placement::InPlace}) {
    std::vector<GraphCase> cases;
    for (const CollectiveCase& c : all_cases(job->size(), 37)) {
      if (placement == Placement::InPlace && c.kind == CollectiveKind::AllToAll) continue;
      // Its roots need not be in place alike.
      if (placement == Placement::InPlace && c.kind == CollectiveKind::Broadcast) continue;
      cases.emplace_back(c, placement);
    }
    CapturedGraph graph = job->compile([&](CommandBuffer& cmd) {
      for (const GraphCase& one : cases) one.add(cmd);
    });
    for (int replay = 0; replay < 3; ++replay) graph.launch(job->queue).wait();
    for (const GraphCase& one : cases) {
      INFO(one.name(), placement == Placement::InPlace ? ", in place" : "");
      CHECK(one.is_as_expected());
    }
  }
}

TEST_CASE("launched ranks: large and odd counts") {
  for (const std::uint64_t count : {1u, 3u, 1'000'003u}) {
    for (const CollectiveKind kind : kCollectives) {
      const GraphCase one({kind, ElementType::F32, ReduceOperator::Sum, 0, count},
                          Placement::Separate);
      job->run([&](CommandBuffer& cmd) { one.add(cmd); });
      INFO(one.name());
      CHECK(one.is_as_expected());
    }
  }
}

TEST_CASE("launched ranks: an exchange in a group, with the neighbours of a ring") {
  const std::uint32_t next = (job->rank() + 1) % job->size(),
                      previous = (job->rank() + job->size() - 1) % job->size();
  const auto own = job->filled(static_cast<int>(job->rank())), left = job->filled(-1),
             right = job->filled(-1);
  const CollectiveOp ring[] = {send(job->world, own, next), receive(job->world, left, previous),
                               send(job->world, own, previous), receive(job->world, right, next)};
  CapturedGraph graph =
      job->compile([&](CommandBuffer& cmd) { cmd.add(CollectiveOp::group(ring)); });
  for (int replay = 0; replay < 5; ++replay) graph.launch(job->queue).wait();
  CHECK(job->values(left)[99] == static_cast<int>(previous));
  CHECK(job->values(right)[99] == static_cast<int>(next));
}

TEST_CASE("launched ranks: a loop of an all_reduce is one graph") {
  const auto x = job->filled(1);
  CommandBuffer body =
      job->device.create_command_buffer({.label = "body", .level = Level::Secondary});
  body.begin();
  body.add(all_reduce(job->world, x, x));
  body.end();
  const Condition go = job->device.create_condition({.name = "go", .initial = 1});
  CapturedGraph graph = job->compile(
      [&](CommandBuffer& cmd) { cmd.execute_while(go, body, {.max_iterations = 5}); }, "loop");
  graph.launch(job->queue).wait();
  int expected = 1;
  for (int i = 0; i < 5; ++i) expected *= static_cast<int>(job->size());
  CHECK(job->values(x)[0] == expected);
}

TEST_CASE("launched ranks: many replays in flight, on two queues") {
  const Queue other = job->device.create_queue();
  const auto x = job->filled(1), y = job->filled(1);
  CapturedGraph first =
      job->compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(job->world, x, x)); });
  CapturedGraph second = job->compile(
      [&](CommandBuffer& cmd) { cmd.add(all_reduce(job->world, y, y, ReduceOperator::Max)); });
  for (int replay = 0; replay < 200; ++replay) {
    if (replay < 4) static_cast<void>(first.launch(job->queue));
    static_cast<void>(second.launch(other));
  }
  job->queue.wait_idle();
  other.wait_idle();
  const int size = static_cast<int>(job->size());
  CHECK(job->values(x)[0] == size * size * size * size);
  CHECK(job->values(y)[0] == 1);
}

TEST_CASE("launched ranks: replicas replay one after another, the same on all ranks") {
  const Queue other = job->device.create_queue();
  const auto x = job->pool->allocate<int>(100, "x", PerReplica{2});
  job->run([&](CommandBuffer& cmd) {
    cmd.fill(x, 1);
    cmd.fill(x.replica(1), 3);
  });
  CapturedGraph pair = job->compile(
      [&](CommandBuffer& cmd) { cmd.add(all_reduce(job->world, x, x)); }, "pair", {.replicas = 2});
  for (std::uint32_t replay = 0; replay < 8; ++replay) {
    const bool is_on_other = job->rank() == 0 && replay % 3 == 0;
    CHECK(pair.launch(is_on_other ? other : job->queue).replica() == replay % 2);
  }
  job->device.wait_idle();
  const int size = static_cast<int>(job->size());
  CHECK(job->values(x)[0] == size * size * size * size);
  CHECK(job->values(x.replica(1))[99] == 3 * size * size * size * size);
}

TEST_CASE("launched ranks: a split and the whole, in one graph") {
  const Communicator part = job->world.split(job->rank() % 2 == 0 ? 1u : 0x80000001u);
  const auto x = job->filled(1), y = job->filled(1);
  job->run([&](CommandBuffer& cmd) {
    cmd.add(all_reduce(part, x, x));
    cmd.add(all_reduce(job->world, y, y));
  });
  CHECK(job->values(x)[0] == static_cast<int>((job->size() + 1 - job->rank() % 2) / 2));
  CHECK(job->values(y)[0] == static_cast<int>(job->size()));
}

TEST_CASE("launched ranks: two splits are dropped in another order on every other rank") {
  std::optional<Communicator> first = job->world.split(0), second = job->world.split(0);
  {
    const auto x = job->filled(1), y = job->filled(1);
    job->run([&](CommandBuffer& cmd) {
      cmd.add(all_reduce(*first, x, x));
      cmd.add(all_reduce(*second, y, y));
    });
    CHECK(job->values(x) == std::vector<int>(100, static_cast<int>(job->size())));
  }
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
  wait();  // until the graph, which shares the communicators, is destroyed
  const bool is_even = job->rank() % 2 == 0;
  (is_even ? first : second).reset();
  wait();
  (is_even ? second : first).reset();
  job->meet();
}

TEST_CASE("launched ranks: different collectives are refused on every rank") {
  if (job->size() == 1) return;
  const auto x = job->filled(1, kMismatchedElements);
  const bool differs = job->rank() == job->size() - 1;
  for (const MismatchCase& one : mismatch_cases()) {
    if (one.is_pair && job->size() != 2) continue;
    CAPTURE(one.name);
    const Error error = thrown_by([&] {
      static_cast<void>(job->compile(
          [&](CommandBuffer& cmd) { one.record(cmd, job->world, x, differs); }, one.name));
    });
    CHECK(error.code() == ErrorCode::RankMismatch);
    for (const std::string& part : one.expected) CHECK(contains(error.what(), part));
  }
  // The job goes on.
  job->meet();
}

#ifdef REPRISE_HAS_CUDA
TEST_CASE(
    "launched ranks: an adopted communicator of NCCL runs collectives without comparing them") {
  if (!is_gpu()) return;
  const ApplicationNccl nccl;
  const Communicator adopted = Communicator::from_nccl(job->device, nccl.get());
  CHECK(adopted.rank() == job->rank());
  CHECK(adopted.size() == job->size());
  const auto x = job->filled(1), y = job->filled(static_cast<int>(job->rank()));
  {
    CapturedGraph graph = job->compile([&](CommandBuffer& cmd) {
      cmd.add(all_reduce(adopted, x, x));
      cmd.add(broadcast(adopted, y, job->size() - 1));
      cmd.add(all_reduce(job->world, x, x, ReduceOperator::Max));
    });
    for (int replay = 0; replay < 3; ++replay) graph.launch(job->queue).wait();
  }
  const int size = static_cast<int>(job->size());
  CHECK(job->values(x)[99] == size * size * size);
  CHECK(job->values(y)[99] == size - 1);

  if (size > 1) {
    CapturedGraph own =
        job->compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(adopted, x, x)); });
    const Error tuned = thrown_by([&] { static_cast<void>(own.tune(job->queue)); });
    CHECK(tuned.code() == ErrorCode::Unsupported);
    CHECK(contains(tuned.what(), "the ranks of an adopted communicator"));
  }

  // Ranks with different operators, which are not launched.
  CHECK_NOTHROW(static_cast<void>(job->compile([&](CommandBuffer& cmd) {
    cmd.add(
        all_reduce(adopted, x, x, job->rank() == 0 ? ReduceOperator::Min : ReduceOperator::Max));
  })));

  CommandBuffer body =
      job->device.create_command_buffer({.label = "body", .level = Level::Secondary});
  body.begin();
  body.add(all_reduce(adopted, x, x));
  body.end();
  const Condition go = job->device.create_condition({.name = "go", .initial = 1});
  const Error error = thrown_by([&] {
    static_cast<void>(job->compile(
        [&](CommandBuffer& cmd) { cmd.execute_while(go, body, {.max_iterations = 2}); }, "loop"));
  });
  CHECK(error.code() == ErrorCode::Unsupported);
  CHECK(contains(error.what(), "graph loop: all_reduce"));
  CHECK(contains(error.what(), "its communicator was adopted"));
  CHECK(thrown_by([&] { static_cast<void>(adopted.split(0)); }).code() == ErrorCode::Unsupported);
}
#endif

TEST_CASE("launched ranks: a rebind of a collective's buffer") {
  const auto x = job->filled(1), y = job->filled(2);
  CapturedGraph graph =
      job->compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(job->world, x, x)); });
  graph.launch(job->queue).wait();
  static_cast<void>(graph.rebind(x, y));
  graph.launch(job->queue).wait();
  CHECK(job->values(x)[7] == static_cast<int>(job->size()));
  CHECK(job->values(y)[7] == 2 * static_cast<int>(job->size()));
}

TEST_CASE("launched ranks: tune chooses the same on all ranks") {
  const auto x = job->filled(1), y = job->filled(1);
  const auto chosen = job->filled(0);
  CapturedGraph graph = job->compile([&](CommandBuffer& cmd) {
    for (std::uint64_t i = 0; i < 16; ++i) cmd.fill(y.slice(i * 4, 4), 3);
    cmd.add(all_reduce(job->world, x, x));
  });
  const TuneReport report =
      graph.tune(job->queue, {.pairs = 9, .budget = std::chrono::seconds(60)});
  CHECK(report.candidates.size() > 3);
  CHECK(report.candidates[0].pairs >= 9);
  job->run([&](CommandBuffer& cmd) {
    cmd.fill(chosen, static_cast<int>(report.chosen));
    cmd.add(all_reduce(job->world, chosen, chosen));
  });
  CHECK(job->values(chosen)[0] == static_cast<int>(report.chosen * job->size()));
  CHECK(job->values(x)[0] == 1);
  graph.launch(job->queue).wait();
  CHECK(job->values(x)[0] == static_cast<int>(job->size()));
}

TEST_CASE("launched ranks: a lowering to segments contains none beside collectives") {
  if (!is_gpu() || job->device.info().limits.max_segment_blocks == 0) return;
  const auto x = job->filled(1), y = job->filled(1);
  CapturedGraph graph = job->compile(
      [&](CommandBuffer& cmd) {
        for (int i = 0; i < 10; ++i) cmd.fill(y, i);
        cmd.add(all_reduce(job->world, x, x));
      },
      "segments", {.lowering = Lowering::Persistent});
  CHECK(graph.report().segments.segments == 0);
  REQUIRE_FALSE(graph.report().segments.left_out.empty());
  CHECK(graph.report().segments.left_out[0].reason == "its graph has collectives");
  graph.launch(job->queue).wait();
}

// A segment starts with all of its blocks or none, so a collective that has part of the GPU ends.
TEST_CASE("launched ranks: segments that fill the GPU beside collectives of another graph") {
  if (!is_gpu() || job->device.info().limits.max_segment_blocks == 0) return;
  constexpr int kReplays = 2000;
  const std::uint64_t lists = job->device.info().limits.max_segment_blocks;
  const Queue other = job->device.create_queue();
  const auto counts = job->pool->allocate<int>(lists * 4, "counts");
  const auto x = job->filled(1, 1 << 20), y = job->filled(0, 1 << 20);
  job->run([&](CommandBuffer& cmd) { cmd.fill(counts, 0); });
  CapturedGraph segment = job->compile(
      [&](CommandBuffer& cmd) {
        for (std::uint64_t step = 0; step < 4; ++step) {
          for (std::uint64_t i = 0; i < lists; ++i)
            cmd.fill(counts.slice(i * 4, 4), static_cast<int>(step + i));
        }
      },
      "segment", {.lowering = Lowering::Persistent});
  REQUIRE(segment.report().segments.segments == 1);
  CapturedGraph sum =
      job->compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(job->world, x, y)); });
  for (int replay = 0; replay < kReplays; ++replay) {
    static_cast<void>(segment.launch(other));
    static_cast<void>(sum.launch(job->queue));
  }
  job->device.wait_idle();
  CHECK(job->values(y)[(1 << 20) - 1] == static_cast<int>(job->size()));
  CHECK(job->values(counts)[lists * 4 - 1] == static_cast<int>(lists + 2));
}

// traced_ranks_test.py reads the traces. The fill takes rank 1 about 20 us longer on an H100.
TEST_CASE("launched ranks: a late rank in the traces of all" *
          doctest::skip(std::getenv("REPRISE_TRACE") == nullptr)) {
  constexpr std::uint64_t kOwn = 1024, kExcess = std::uint64_t{64} << 20;
  const auto x = job->pool->allocate<std::uint8_t>(kOwn + kExcess, "x");
  const auto y = job->pool->allocate<std::uint8_t>(kOwn, "y");
  CapturedGraph graph = job->compile(
      [&](CommandBuffer& cmd) {
        cmd.fill(job->rank() == 1 ? x : x.slice(0, kOwn), std::uint8_t{1});
        cmd.add(all_reduce(job->world, x.slice(0, kOwn), y));
      },
      "late");
  for (int replay = 0; replay < 500; ++replay) graph.launch(job->queue).wait();
}

}  // namespace reprise::test

int main(int argc, char** argv) {
  using namespace reprise;
  using namespace reprise::test;
  try {
    const char* const wanted = std::getenv("REPRISE_DEVICE");
    const std::string name = wanted != nullptr && std::string(wanted) == "host"
                                 ? "host"
                                 : "cuda:" + std::to_string(launched_rank().local_rank);
    const Instance instance;
    const Device device = instance.open_device(DeviceSelector::named(name));
    LaunchedJob own{device, Communicator::from_environment(device), device.create_queue(),
                    device.create_pool()};
    job = &own;
    doctest::Context context(argc, argv);
    std::ostringstream output;
    if (own.rank() != 0) context.setCout(&output);
    const int failed = context.run();
    if (failed != 0 && own.rank() != 0)
      std::fprintf(stderr, "rank %u:\n%s", own.rank(), output.str().c_str());
    own.meet();
    return failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
