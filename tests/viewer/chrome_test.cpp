#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "model/trace_summary.hpp"
#include "viewer/hand_made_exports.hpp"

using namespace reprise;
using nlohmann::json;
using test::HandMadeTrace;

namespace {

struct Interval {
  std::int64_t from = 0, to = 0;
};

std::int64_t ns(const json& us) { return std::llround(us.get<double>() * 1'000); }

json events_of(const test::Exported& e) {
  return json::parse(test::text_of(e.output)).at("traceEvents");
}

std::map<int, std::vector<Interval>> slices_by_track(const json& events) {
  std::map<int, std::vector<Interval>> tracks;
  for (const json& event : events) {
    if (event.at("ph") == "X")
      tracks[event.at("tid")].push_back(
          {ns(event.at("ts")), ns(event.at("ts")) + ns(event.at("dur"))});
  }
  return tracks;
}

}  // namespace

TEST_CASE("chrome: every track has a name, and its slices never overlap") {
  const json events = events_of(test::export_hand_made(trace::ExportFormat::Chrome, "tracks.json"));
  std::map<int, std::string> names;
  for (const json& event : events) {
    if (event.at("ph") == "M" && event.at("name") == "thread_name")
      names[event.at("tid")] = event.at("args").at("name");
  }
  const auto tracks = slices_by_track(events);
  CHECK(tracks.size() == names.size());
  for (const auto& [track, slices] : tracks) {
    CHECK(names.count(track) == 1);
    for (std::size_t i = 1; i < slices.size(); ++i) CHECK(slices[i].from >= slices[i - 1].to);
  }
  std::map<std::string, int> times;
  for (const auto& [track, name] : names) ++times[name];
  for (const char* name :
       {"step (graph 3), replays", "step (graph 3), worker 0", "step (graph 3), worker 0 / 2",
        "step (graph 3), worker 1", "trainer (77), launches", "trainer (77), ranges 0",
        "trainer (77), ranges 1"}) {
    CHECK_MESSAGE(times[name] == 1, name);
  }
}

TEST_CASE("chrome: the memory of a pool is a counter") {
  std::vector<std::uint64_t> bytes;
  for (const json& event :
       events_of(test::export_hand_made(trace::ExportFormat::Chrome, "pools.json"))) {
    if (event.at("ph") != "C") continue;
    CHECK(event.at("name") == "memory of step");
    bytes.push_back(event.at("args").at("bytes"));
  }
  CHECK(bytes == std::vector<std::uint64_t>{14 << 20, 6 << 20});
}

TEST_CASE("chrome: counts and times equal those of the summary, to the ns") {
  const test::Exported e = test::export_hand_made(trace::ExportFormat::Chrome, "totals.json");
  const model::TraceSummary s = model::summarize(trace::TraceReader(e.trace));
  std::map<std::pair<int, int>, std::pair<std::uint64_t, std::int64_t>> nodes;
  std::map<int, std::pair<std::uint64_t, std::int64_t>> replays;
  for (const json& event : events_of(e)) {
    if (event.at("ph") != "X") continue;
    const std::int64_t time = ns(event.at("dur"));
    if (event.at("cat") == "node") {
      auto& [count, total] = nodes[{event.at("args").at("graph"), event.at("args").at("node")}];
      ++count;
      total += time;
    } else if (event.at("cat") == "replay") {
      auto& [count, total] = replays[event.at("args").at("graph")];
      ++count;
      total += time;
    }
  }
  std::uint64_t samples = 0;
  for (const model::GraphSummary& g : s.graphs) {
    CHECK(replays[static_cast<int>(g.graph)] ==
          std::pair{g.device_time.count(), g.device_time.sum()});
    for (const model::NodeSummary& n : g.nodes) {
      CHECK(nodes[{static_cast<int>(g.graph), static_cast<int>(n.node)}] ==
            std::pair{n.times.count(), n.times.sum()});
      samples += n.times.count();
    }
  }
  CHECK(e.report.samples == samples);
  CHECK(e.report.left_out == 1);
}

TEST_CASE("chrome: each edge of the first replays becomes one arrow that leads to a later slice") {
  const auto arrows = [](std::uint64_t flow_replays) {
    const json events = events_of(
        test::export_hand_made(trace::ExportFormat::Chrome, "arrows.json", "step", flow_replays));
    const auto tracks = slices_by_track(events);
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> ends;
    for (const json& event : events) {
      if (event.at("ph") != "s" && event.at("ph") != "f") continue;
      const std::int64_t at = ns(event.at("ts"));
      const auto& slices = tracks.at(event.at("tid"));
      CHECK(std::any_of(slices.begin(), slices.end(),
                        [&](const Interval& i) { return i.from == at; }));
      (event.at("ph") == "s" ? ends[event.at("id")].first : ends[event.at("id")].second) = at + 1;
    }
    for (const auto& [id, end] : ends) {
      CHECK(end.first > 0);
      CHECK(end.second >= end.first);
    }
    return ends.size();
  };
  // Five edges and a launch each; the third replay lost the time of its last node.
  CHECK(arrows(2) == 2 * 5 + 2);
  CHECK(arrows(4) == 4 * 5 - 1 + 4);
  CHECK(arrows(0) == 0);
}

TEST_CASE("chrome: each rank is a process with its own tracks") {
  const json events = events_of(test::export_ranks(trace::ExportFormat::Chrome, "ranks.json"));
  std::map<int, std::string> processes;
  std::map<int, int> slices;  // by process
  for (const json& event : events) {
    if (event.at("name") == "process_name")
      processes[event.at("pid")] = event.at("args").at("name");
    if (event.at("ph") != "X") continue;
    ++slices[event.at("pid")];
    if (event.at("args").contains("graph"))
      CHECK(event.at("pid") == event.at("args").at("graph").get<int>() + 1);
  }
  CHECK(processes == std::map<int, std::string>{{1, "rank 0 (train 4000 on node0)"},
                                                {2, "rank 1 (train 4001 on node0)"},
                                                {3, "rank 2 (train 4002 on node1)"},
                                                {4, "rank 3 (train 4003 on node1)"}});
  // Of each replay: the launch, the range, the run and six nodes.
  CHECK(slices == std::map<int, int>{{1, 90}, {2, 90}, {3, 90}, {4, 90}});
}
