#include <doctest/doctest.h>

#include <perfetto.pb.h>

#include <map>
#include <set>

#include "model/replay_statistics.hpp"
#include "support/paths.hpp"
#include "viewer/hand_made_exports.hpp"
#include "viewer/trace_document.hpp"

using namespace reprise;
using perfetto::TrackEvent;
using test::HandMadeTrace;

namespace {

struct OpenSlice {
  std::uint64_t from = 0;
  std::string category;
  std::map<std::string, std::uint64_t> arguments;
};

struct Slice : OpenSlice {
  std::uint64_t to = 0;
};

// Decodes a file as a reader of the format does.
struct Decoded {
  std::map<std::uint64_t, std::string> tracks;
  std::map<std::uint64_t, std::vector<Slice>> slices;         // by track
  std::map<std::string, std::vector<std::int64_t>> counters;  // by name
  std::map<std::uint64_t, std::uint64_t> flow_from, flow_to;  // flow -> time
  std::map<std::uint32_t, std::uint64_t> clocks;
  std::string process;
};

Decoded decode(const std::filesystem::path& path) {
  perfetto::Trace trace;
  REQUIRE(trace.ParseFromString(test::text_of_file(path)));
  Decoded d;
  std::map<std::uint64_t, std::string> categories, names, arguments, counters;
  std::map<std::uint64_t, OpenSlice> open;
  for (const perfetto::TracePacket& packet : trace.packet()) {
    CHECK(packet.trusted_packet_sequence_id() == 1);
    for (const auto& i : packet.interned_data().event_categories()) categories[i.iid()] = i.name();
    for (const auto& i : packet.interned_data().event_names()) names[i.iid()] = i.name();
    for (const auto& i : packet.interned_data().debug_annotation_names())
      arguments[i.iid()] = i.name();
    for (const auto& c : packet.clock_snapshot().clocks()) d.clocks[c.clock_id()] = c.timestamp();
    if (packet.has_track_descriptor()) {
      const auto& track = packet.track_descriptor();
      CHECK(d.tracks.count(track.uuid()) == 0);
      if (track.has_process()) {
        d.process = track.process().process_name();
        CHECK((packet.sequence_flags() & 1) != 0);
      } else if (track.has_counter()) {
        counters[track.uuid()] = track.name();
      } else {
        CHECK(track.parent_uuid() != 0);
        d.tracks[track.uuid()] = track.name();
      }
    }
    if (!packet.has_track_event()) continue;
    CHECK((packet.sequence_flags() & 2) != 0);
    const TrackEvent& event = packet.track_event();
    if (event.type() == TrackEvent::TYPE_COUNTER) {
      d.counters[counters.at(event.track_uuid())].push_back(event.counter_value());
      continue;
    }
    REQUIRE(d.tracks.count(event.track_uuid()) == 1);
    if (event.type() == TrackEvent::TYPE_SLICE_BEGIN) {
      // A track has at most one open slice.
      REQUIRE(open.count(event.track_uuid()) == 0);
      REQUIRE(names.count(event.name_iid()) == 1);
      REQUIRE(event.category_iids_size() == 1);
      OpenSlice slice{packet.timestamp(), categories.at(event.category_iids(0)), {}};
      for (const auto& a : event.debug_annotations())
        slice.arguments[arguments.at(a.name_iid())] = a.uint_value();
      for (const std::uint64_t flow : event.flow_ids())
        CHECK(d.flow_from.emplace(flow, packet.timestamp()).second);
      for (const std::uint64_t flow : event.terminating_flow_ids())
        CHECK(d.flow_to.emplace(flow, packet.timestamp()).second);
      open.emplace(event.track_uuid(), std::move(slice));
    } else {
      REQUIRE(event.type() == TrackEvent::TYPE_SLICE_END);
      const auto slice = open.find(event.track_uuid());
      REQUIRE(slice != open.end());
      d.slices[event.track_uuid()].push_back({slice->second, packet.timestamp()});
      open.erase(slice);
    }
  }
  CHECK(open.empty());
  return d;
}

}  // namespace

TEST_CASE("perfetto: slices of one track follow each other and never overlap") {
  const Decoded d =
      decode(test::export_hand_made(trace::ExportFormat::Perfetto, "tracks.perfetto").output);
  CHECK(d.process == "digits");
  CHECK(d.slices.size() == d.tracks.size());
  std::set<std::string> names;
  for (const auto& [track, slices] : d.slices) {
    CHECK(names.insert(d.tracks.at(track)).second);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      CHECK(slices[i].to >= slices[i].from);
      if (i > 0) CHECK(slices[i].from >= slices[i - 1].to);
    }
  }
  for (const char* name : {"step (graph 3), replays", "step (graph 3), worker 0",
                           "step (graph 3), worker 0 / 2",  // two nodes overlap
                           "step (graph 3), worker 1", "trainer (77), launches",
                           "trainer (77), ranges 0", "trainer (77), ranges 1"})
    CHECK_MESSAGE(names.count(name) == 1, name);
}

TEST_CASE("perfetto: counts and times equal those of the viewer, to the ns") {
  const test::Exported e = test::export_hand_made(trace::ExportFormat::Perfetto, "totals.perfetto");
  const Decoded d = decode(e.output);
  const auto document = test::document_of(e.trace);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::uint64_t, std::int64_t>> nodes;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::int64_t>> replays;
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (const auto& [track, slices] : d.slices) {
    for (const Slice& slice : slices) {
      first = std::min(first, slice.from);
      last = std::max(last, slice.to);
      if (slice.category != "node" && slice.category != "replay") continue;
      auto& [count, total] = slice.category == "node"
                                 ? nodes[{slice.arguments.at("graph"), slice.arguments.at("node")}]
                                 : replays[slice.arguments.at("graph")];
      ++count;
      total += static_cast<std::int64_t>(slice.to - slice.from);
    }
  }
  CHECK(static_cast<trace::Time>(first) == document->first);
  CHECK(static_cast<trace::Time>(last) <= document->last);
  std::uint64_t samples = 0;
  for (const auto& [key, entry] : document->graphs) {
    const model::ReplayStatistics device =
        model::replay_statistics(entry.replays, model::ReplayMeasure::DeviceTime);
    CHECK(replays[key.graph] ==
          std::pair{std::uint64_t{device.count}, static_cast<std::int64_t>(device.total)});
    for (std::uint32_t n = 0; n < entry.graph->node_count(); ++n) {
      const detail::DurationHistogram& times = entry.statistics->nodes[n].times;
      CHECK(nodes[{key.graph, n}] == std::pair{times.count(), times.sum()});
      samples += times.count();
    }
  }
  CHECK(e.report.samples == samples);
  CHECK(e.report.left_out == 1);
}

TEST_CASE("perfetto: the memory of a pool is a counter") {
  const Decoded d =
      decode(test::export_hand_made(trace::ExportFormat::Perfetto, "pools.perfetto").output);
  CHECK(d.counters ==
        std::map<std::string, std::vector<std::int64_t>>{{"memory of step", {14 << 20, 6 << 20}}});
}

TEST_CASE("perfetto: each arrow has one start and one end, which is not earlier") {
  const auto arrows = [](std::uint64_t flow_replays) {
    const Decoded d = decode(test::export_hand_made(trace::ExportFormat::Perfetto,
                                                    "arrows.perfetto", "step", flow_replays)
                                 .output);
    REQUIRE(d.flow_to.size() == d.flow_from.size());
    for (const auto& [flow, from] : d.flow_from) {
      REQUIRE(d.flow_to.count(flow) == 1);
      CHECK(d.flow_to.at(flow) >= from);
    }
    return d.flow_from.size();
  };
  // Five edges and a launch each; the third replay lost the time of its last node.
  CHECK(arrows(2) == 2 * 5 + 2);
  CHECK(arrows(4) == 4 * 5 - 1 + 4);
  CHECK(arrows(0) == 0);
}

TEST_CASE("perfetto: the clocks relate trace time to UTC") {
  const Decoded d =
      decode(test::export_hand_made(trace::ExportFormat::Perfetto, "clocks.perfetto").output);
  CHECK(d.clocks == std::map<std::uint32_t, std::uint64_t>{{1, 1'700'000'001'000'000'000},
                                                           {3, HandMadeTrace::kBegin},
                                                           {6, HandMadeTrace::kBegin}});
}

TEST_CASE("perfetto: each rank is a process with its own tracks") {
  perfetto::Trace trace;
  REQUIRE(trace.ParseFromString(test::text_of_file(
      test::export_ranks(trace::ExportFormat::Perfetto, "ranks.perfetto").output)));
  std::map<std::uint64_t, std::string> processes;  // by track
  std::map<std::string, std::set<std::string>> tracks;
  std::map<std::uint64_t, std::string> process_of;  // by track
  std::map<std::string, int> slices;                // by process
  for (const perfetto::TracePacket& packet : trace.packet()) {
    if (packet.has_track_event() && packet.track_event().type() == TrackEvent::TYPE_SLICE_BEGIN)
      ++slices[process_of.at(packet.track_event().track_uuid())];
    if (!packet.has_track_descriptor()) continue;
    const auto& track = packet.track_descriptor();
    if (track.has_process()) {
      processes[track.uuid()] = track.process().process_name();
    } else {
      process_of[track.uuid()] = processes.at(track.parent_uuid());
      tracks[process_of[track.uuid()]].insert(track.name());
    }
  }
  // Each replay has 9 slices: the launch, the range, the run and six nodes.
  CHECK(slices == std::map<std::string, int>{{"rank 0 (train 4000 on node0)", 90},
                                             {"rank 1 (train 4001 on node0)", 90},
                                             {"rank 2 (train 4002 on node1)", 90},
                                             {"rank 3 (train 4003 on node1)", 90}});
  CHECK(tracks.size() == 4);
  const auto& of_rank_3 = tracks["rank 3 (train 4003 on node1)"];
  CHECK(of_rank_3.count("step (graph 3), replays") == 1);
  CHECK(of_rank_3.count("trainer (3), launches") == 1);
  CHECK(of_rank_3.count("memory of weights") == 1);
  CHECK(of_rank_3.count("step (graph 2), replays") == 0);
}
