// ObservedProgram: parameters that a program changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "injection/chains.hpp"

namespace reprise::test {

TEST_CASE(
    "observed program: changed parameters belong to the one version of a graph, which is described "
    "with the latest values and their number") {
  ObservedProgram program;
  instantiate(program, chain(2));
  ObservedNode now;
  now.grid[0] = 64;
  const detail::ObservedKernel other{"_Z3subPf", 8, 0};
  program.changed(kExec, 0x901, now, &other, 160);
  auto versions = all<trace::GraphVersion>(collected(program, Outstanding::Expected, 1'000));
  REQUIRE(versions.size() == 1);
  CHECK(versions[0].nodes[1].grid[0] == 64);
  CHECK(versions[0].changes == std::vector<trace::NodeChanges>{{1, 1}});

  constexpr trace::Time kLater = 1'000'000'000;
  for (std::uint32_t i = 1; i <= 1'000; ++i) {
    now.grid[0] = i;
    program.changed(kExec, 0x901, now, nullptr, 300 + i);
    program.changed(kExec, 0x777, now, nullptr, 300 + i);  // unknown
    launch(program, i);
  }
  program.enabled(kExec, 0x900, ObservedNode::Enabled::No, 2'000);
  program.enabled(kExec, 0x900, ObservedNode::Enabled::No, 2'001);  // is already
  auto records = collected(program, Outstanding::Expected, 2'000);
  CHECK(all<trace::GraphVersion>(records).empty());  // not again at once
  const auto replays = all<trace::Replay>(records);
  CHECK(replays.size() == 1'000);
  CHECK(std::all_of(replays.begin(), replays.end(),
                    [](const trace::Replay& replay) { return replay.version == 1; }));
  CHECK(all<trace::Update>(records).empty());
  versions = all<trace::GraphVersion>(collected(program, Outstanding::Expected, kLater));
  REQUIRE(versions.size() == 1);
  CHECK(versions[0].version == 1);
  CHECK(versions[0].nodes[1].grid[0] == 1'000);
  CHECK(versions[0].strings[versions[0].nodes[1].name] == "sub");
  CHECK(versions[0].strings[versions[0].nodes[0].name] == "add (disabled)");
  CHECK(versions[0].changes == std::vector<trace::NodeChanges>{{0, 1}, {1, 1'001}});
  CHECK(all<trace::GraphVersion>(collected(program, Outstanding::Complete, 2 * kLater)).empty());

  program.changed(kExec, 0x901, now, nullptr, kLater);
  program.destroyed(kExec, kLater + 1);
  versions = all<trace::GraphVersion>(collected(program, Outstanding::Expected, kLater + 2));
  REQUIRE(versions.size() == 1);  // at its end
  CHECK(versions[0].changes[1].changes == 1'002);
}

TEST_CASE("observed program: an update of the whole graph is read if there was time for it") {
  ObservedProgram program;
  instantiate(program, chain(2));
  CHECK(program.reads_update(kExec, 200));
  ObservedGraph next = chain(2);
  next.nodes[0].grid[0] = 7;
  next.nodes[0].handle = next.nodes[0].number = 0;  // of the graph, not of the executable
  program.replaced(kExec, next, 200, 210);
  CHECK_FALSE(program.reads_update(kExec, 400));
  CHECK(program.reads_update(kExec, 410));
  program.replaced_unread(kExec, 220);
  program.refused(kExec, "error 910", 230);
  CHECK_FALSE(program.reads_update(kOtherExec, 500));
  const auto records = collected(program);
  const auto version = all<trace::GraphVersion>(records).at(0);
  CHECK(version.nodes[0].grid[0] == 7);
  CHECK(version.changes == std::vector<trace::NodeChanges>{{0, 2}, {1, 2}});
  CHECK(all<trace::Message>(records).at(0).text.find("error 910") != std::string::npos);

  // The kernel of the unread update is unknown, and any runs.
  launch(program, 1, ObservedProgram::Nodes::Recorded);
  detail::ObservedRun run = run_of(0, 1, 1'000);
  run.kernel = "_Z5otherv";
  program.ran({run, run_of(1, 1, 1'020)}, 10);
  CHECK(all<trace::SampleBlock>(collected(program)).at(0).samples.size() == 2);
}

TEST_CASE("observed program: a disabled node has no run, and the replay is complete without it") {
  ObservedProgram program;
  instantiate(program, chain(2));
  program.enabled(kExec, 0x900, ObservedNode::Enabled::No, 160);
  launch(program, 1, ObservedProgram::Nodes::Recorded);
  program.ran({run_of(1, 1, 1'000)}, 10);
  CHECK(all<trace::SampleBlock>(collected(program)).size() == 1);
  program.enabled(kExec, 0x900, ObservedNode::Enabled::Yes, 260);
  launch(program, 2, ObservedProgram::Nodes::Recorded);
  program.ran({run_of(1, 2, 2'000)}, 20);
  CHECK(all<trace::SampleBlock>(collected(program)).empty());
  program.ran({run_of(0, 2, 1'980)}, 21);
  CHECK(all<trace::SampleBlock>(collected(program)).size() == 1);
}

TEST_CASE("observed program: each change of a followed node is recorded") {
  ObservedProgram program({.followed = "layer 1"});
  ObservedGraph graph = chain(2);
  graph.nodes[1].origin.scope =
      std::make_shared<const detail::ScopePath>(detail::ScopePath{"model", "layer 1"});
  instantiate(program, graph);
  ObservedNode now;
  now.grid[0] = 2, now.grid[1] = now.grid[2] = 1;
  now.block[0] = 128, now.block[1] = now.block[2] = 1;
  now.accesses.push_back(
      {0xabc000, 0, trace::Access::ReadWrite, detail::ObservedAccess::Origin::Guessed});
  program.changed(kExec, 0x900, now, nullptr, 300);
  program.changed(kExec, 0x901, now, nullptr, 310);
  program.replaced_unread(kExec, 320);
  const auto updates = all<trace::Update>(collected(program));
  REQUIRE(updates.size() == 2);
  CHECK(updates[0].at == 310);
  CHECK(updates[0].description ==
        "node 1 add: grid 2 x 1 x 1, block 128 x 1 x 1, addresses 0xabc000");
  CHECK(updates[1].description == "new parameters of all nodes (cudaGraphExecUpdate)");
}

TEST_CASE("observed program: parameters change while the graph is described") {
  ObservedProgram program;
  instantiate(program, chain(50));
  constexpr std::uint32_t kChanges = 20'000;
  std::atomic<bool> is_done{false};
  std::thread changing([&] {
    ObservedNode now;
    for (std::uint32_t i = 1; i <= kChanges; ++i) {
      now.grid[0] = i;
      program.changed(kExec, 0x900 + i % 50, now, nullptr, i);
    }
    is_done = true;
  });
  std::vector<trace::Record> records;
  for (trace::Time at = 1'000'000'000; !is_done; at += 100'000'000'000)
    program.collect(at, Outstanding::Expected, records);
  changing.join();
  program.collect(1, Outstanding::Complete, records);
  const trace::GraphVersion last = all<trace::GraphVersion>(records).back();
  CHECK(last.nodes[0].grid[0] == kChanges);
  REQUIRE(last.changes.size() == 50);
  for (const trace::NodeChanges& of : last.changes) CHECK(of.changes == kChanges / 50);
}

}  // namespace reprise::test
