// Entry kernels before several root kernels and exit kernels after many leaf kernels, separately
// and together: results of their graphs, and start and end times of traced replays.
#include "conformance/device_fixture.hpp"
#include "unit/profile/traced_run.hpp"
#include "words.shaders.hpp"

namespace reprise::test::entry_exit_test {
namespace {

constexpr unsigned kWords = 16;

struct EntryExitCase {
  const char* name;
  unsigned roots, leaves;
  bool has_entry, has_exit;
  unsigned copies = 0;  // additional copies among the roots, and as many among the leaves
};
constexpr EntryExitCase kCases[] = {{"neither", 1, 7, false, false},
                                    {"entry", 2, 1, true, false},
                                    {"exit", 1, 8, false, true},
                                    {"both", 3, 9, true, true},
                                    {"with copies", 8, 16, true, true, 1},
                                    {"too few kernels, with copies", 7, 15, false, false, 1}};

void check_entry_exit(const CapturedGraph& graph, const EntryExitCase& of) {
  const std::string text = graph.to_text();
  CHECK((text.find(" entry\n") != std::string::npos) == of.has_entry);
  CHECK((text.find(" exit\n") != std::string::npos) == of.has_exit);
  CHECK(graph.report().entry_exit == (of.has_entry || of.has_exit));
}

// Roots that write one part each, a copy of all parts, and leaves that read the copy.
struct Star {
  Star(const Device& device, const std::shared_ptr<CapturePool>& pool, const EntryExitCase& of)
      : parts(pool->allocate<unsigned>(of.roots * kWords, "parts")),
        middle(pool->allocate<unsigned>(of.roots * kWords, "middle")),
        sums(pool->allocate<unsigned>(of.leaves * kWords, "sums")),
        copied(pool->allocate<unsigned>(2 * kWords, "copied")),
        commands(device.create_command_buffer({.label = of.name})) {
    const Kernel set = device.load_kernel(shaders::conf_set),
                 add = device.load_kernel(shaders::conf_add);
    const DispatchDesc desc = {.grid = 1, .block = kWords};
    commands.begin();
    for (unsigned i = 0; i < of.roots; ++i)
      commands.dispatch(set, desc, write(parts.slice(i * kWords, kWords)), i + 1, kWords);
    for (unsigned i = 0; i < of.copies; ++i)
      commands.copy(snapshot(std::vector<unsigned>(kWords, 77)), copied.slice(0, kWords));
    commands.copy(parts, middle);
    for (unsigned i = 0; i < of.copies; ++i)
      commands.copy(middle.slice(0, kWords), copied.slice(kWords, kWords));
    for (unsigned i = 0; i < of.leaves; ++i) {
      commands.dispatch(add, desc, read(middle.slice(0, kWords)),
                        write(sums.slice(i * kWords, kWords)), 10 * i, kWords);
    }
    commands.end();
  }
  GpuRef<unsigned> parts, middle, sums, copied;
  CommandBuffer commands;
};

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "entry/exit: each kernel is added where it pays and changes no result") {
  for (const EntryExitCase& of : kCases) {
    CAPTURE(of.name);
    Star star(device, pool, of);
    CapturedGraph graph = compile(star.commands, Lowering::Auto);
    check_entry_exit(graph, of);
    CHECK(graph.node_count() == of.roots + 1 + of.leaves + 2 * of.copies + (of.has_entry ? 1 : 0) +
                                    (of.has_exit ? 1 : 0));
    CHECK(graph.report().added_edges ==
          (of.has_entry ? of.roots : 0) + (of.has_exit ? of.leaves : 0));
    for (int replay = 0; replay < 3; ++replay) graph.launch(queue).wait();
    const auto sums = values(star.sums);
    for (unsigned i = 0; i < sums.size(); ++i) CHECK(sums[i] == 10 * (i / kWords) + 1);
    const auto copied = values(star.copied);
    for (unsigned i = 0; of.copies != 0 && i < copied.size(); ++i)
      CHECK(copied[i] == (i < kWords ? 77 : 1));
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "entry/exit: no kernel is added around copies and fills") {
  CommandBuffer cmd = recording();
  std::vector<GpuRef<unsigned>> parts;
  const std::vector<unsigned> words(kWords, 3);
  for (unsigned i = 0; i < 12; ++i) {
    parts.push_back(pool->allocate<unsigned>(kWords, "part"));
    if (i % 2 == 0) cmd.fill(parts.back(), i);
    if (i % 2 == 1) cmd.copy(snapshot(words), parts.back());
  }
  CapturedGraph graph = compile(cmd, Lowering::Auto);
  CHECK_FALSE(graph.report().entry_exit);
  CHECK(graph.node_count() == 12);
  graph.launch(queue).wait();
  for (unsigned i = 0; i < 12; ++i)
    CHECK(values(parts[i]) == std::vector<unsigned>(kWords, i % 2 == 0 ? i : 3));
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "entry/exit: an update that replaces kernels by copies changes the entry and exit kernels") {
  const auto parts = pool->allocate<unsigned>(3 * kWords, "parts");
  const std::vector<unsigned> words(kWords, 6);
  CommandBuffer kernels = recording({.label = "step"}), copies = recording({.label = "step"});
  for (unsigned i = 0; i < 3; ++i)
    kernels.dispatch(kernel(shaders::conf_set), {.grid = 1, .block = kWords},
                     write(parts.slice(i * kWords, kWords)), 5u, kWords);
  for (unsigned i = 0; i < 3; ++i) copies.copy(snapshot(words), parts.slice(i * kWords, kWords));
  CapturedGraph graph = compile(kernels, Lowering::Auto);
  CHECK(graph.report().entry_exit);
  graph.launch(queue).wait();
  CHECK(values(parts) == std::vector<unsigned>(3 * kWords, 5));
  copies.end();
  CHECK_NOTHROW(static_cast<void>(graph.update(copies)));
  CHECK(graph.node_count() == 3);
  graph.launch(queue).wait();
  CHECK(values(parts) == std::vector<unsigned>(3 * kWords, 6));
  CHECK_NOTHROW(static_cast<void>(graph.update(kernels)));
  CHECK(graph.node_count() == 4);
  graph.launch(queue).wait();
  CHECK(values(parts) == std::vector<unsigned>(3 * kWords, 5));
}

TEST_CASE(
    "entry/exit: traced replays have a start and an end and do not overlap, with either kernel") {
  constexpr std::uint64_t kReplays = 30;
  for (const EntryExitCase& of : kCases) {
    CAPTURE(of.name);
    const TraceFolder folder;
    {
      const Instance instance(
          {.application = "conformance",
           .trace = {.target = folder.file(), .profile = ProfileMode::Replays}});
      const Device device = instance.open_device(selector_of_this_run());
      {
        const Queue queue = device.create_queue({.label = "main"});
        const auto pool = device.create_pool({.label = "test"});
        const Star star(device, pool, of);
        CapturedGraph graph = device.compile(star.commands, {.pool = pool});
        check_entry_exit(graph, of);
        for (std::uint64_t i = 0; i < kReplays; ++i) graph.launch(queue).wait();
      }
      device.wait_idle();
    }
    const trace::Records records = all_records(folder.file());
    REQUIRE(records.graph_versions.size() == 1);
    const std::uint8_t recorded = records.graph_versions[0].entry_exit;
    CHECK(recorded == (of.has_entry && of.has_exit ? 1 : of.has_entry ? 2 : of.has_exit ? 3 : 0));
    REQUIRE(records.replays.size() == kReplays);
    std::int64_t last = 0;
    for (const trace::Replay& replay : records.replays) {
      CHECK(replay.started > last);
      CHECK(replay.ended > replay.started);
      last = replay.started;
    }
  }
}

}  // namespace reprise::test::entry_exit_test
