#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "trace/export/exporter.hpp"
#include "trace/export/selection.hpp"
#include "trace/export/timeline.hpp"

namespace reprise::trace {

namespace {

// Includes the quotes. Invalid UTF-8 becomes U+FFFD.
std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A lower bound of all times, from the chunk headers: times relative to it are small enough to be
// exact as doubles.
Time first_time(const TraceReader& reader) {
  Time first = std::numeric_limits<Time>::max();
  for (const ChunkEntry& entry : reader.chunks()) {
    if (entry.header.kind != ChunkKind::Topology && entry.header.first_time > 0)
      first = std::min(first, entry.header.first_time);
  }
  return first == std::numeric_limits<Time>::max() ? 0 : first;
}

class Chrome : public TimelineSink {
 public:
  Chrome(const TraceReader& reader, const Topology& topology, detail::AtomicFile& out)
      : out_(out), topology_(topology), base_(first_time(reader)) {
    const Session session = topology.session();
    out_.write("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"application\":" +
               json_string(session.application) +
               ",\"command_line\":" + json_string(session.command_line) + ",\"engine_version\":" +
               json_string(session.engine_version) + ",\"host\":" + json_string(session.host) +
               ",\"begin_ns\":\"" + std::to_string(base_) + "\"},\n\"traceEvents\":[\n");
    const char* comma = "";
    for (std::uint32_t s = 0; s < (topology.has_ranks() ? topology.sessions.size() : 1); ++s) {
      const std::string name = topology.has_ranks() ? rank_process_name(topology.sessions[s])
                               : session.application.empty() ? "process"
                                                             : session.application;
      out_.write(std::string(comma) + "{\"ph\":\"M\",\"pid\":" + pid_of(s) +
                 ",\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":" + json_string(name) +
                 "}}");
      comma = ",\n";
    }
  }

  void add_track(std::uint32_t track, std::uint32_t session, const std::string& name) override {
    pids_.push_back(pid_of(session));
    out_.write(",\n{\"ph\":\"M\"," + track_fields(track) +
               ",\"name\":\"thread_name\",\"args\":{\"name\":" + json_string(name) + "}}");
  }

  void add_slice(const Slice& slice) override {
    std::string event = ",\n{\"ph\":\"X\"," + track_fields(slice.track) +
                        ",\"ts\":" + microseconds(slice.from - base_) +
                        ",\"dur\":" + microseconds(slice.to - slice.from) + ",\"cat\":\"" +
                        slice.category + "\",\"name\":" + escaped(slice.name) + ",\"args\":{";
    const char* comma = "";
    const auto argument = [&](const char* name, const std::string& value) {
      event += comma + ('"' + std::string(name) + "\":") + value;
      comma = ",";
    };
    if (slice.graph != kNone) argument("graph", std::to_string(slice.graph));
    if (slice.graph != kNone && slice.replay != 0) argument("replay", std::to_string(slice.replay));
    if (slice.node != kNone) argument("node", std::to_string(slice.node));
    if (slice.occurrence != 0) argument("occurrence", std::to_string(slice.occurrence));
    if (slice.parent != kNone) argument("parent", std::to_string(slice.parent));
    if (!slice.label.empty()) argument("label", escaped(slice.label));
    out_.write(event + "}}");
    for (const std::uint64_t flow : slice.flows_out) add_flow("s", flow, slice);
    for (const std::uint64_t flow : slice.flows_in) add_flow("f", flow, slice);
  }

  void add_counter(const Counter& counter) override {
    out_.write(",\n{\"ph\":\"C\",\"pid\":" + pid_of(counter.session) +
               ",\"ts\":" + microseconds(counter.at - base_) +
               ",\"name\":" + escaped(counter.name) + ",\"id\":" + std::to_string(counter.pool) +
               ",\"args\":{\"bytes\":" + std::to_string(counter.bytes) + "}}");
  }

  void finish() { out_.write("\n]}\n"); }

 private:
  // Both ends of an arrow are at the start of their slices, so each end is inside exactly one
  // slice.
  void add_flow(const char* phase, std::uint64_t id, const Slice& slice) {
    out_.write(std::string(",\n{\"ph\":\"") + phase + "\"," + track_fields(slice.track) +
               ",\"ts\":" + microseconds(slice.from - base_) +
               ",\"cat\":\"edge\",\"name\":\"edge\",\"id\":" + std::to_string(id) +
               (*phase == 'f' ? ",\"bp\":\"e\"}" : "}"));
  }

  // Ranks on different hosts may have the same process number.
  std::string pid_of(std::uint32_t session) const {
    return std::to_string(topology_.has_ranks() ? session + 1 : topology_.session().pid);
  }

  std::string track_fields(std::uint32_t track) const {
    return "\"pid\":" + pids_[track] + ",\"tid\":" + std::to_string(track + 1);
  }

  static std::string microseconds(Time ns) {
    char text[40];
    const bool negative = ns < 0;
    const std::uint64_t size =
        negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    std::snprintf(text, sizeof text, "%s%llu.%03u", negative ? "-" : "",
                  static_cast<unsigned long long>(size / 1'000),
                  static_cast<unsigned>(size % 1'000));
    return text;
  }

  // Caches escaped text: names of nodes recur.
  const std::string& escaped(const std::string& text) {
    if (escaped_.size() > kMaxCached) escaped_.clear();
    const auto [found, is_new] = escaped_.try_emplace(text);
    if (is_new) found->second = json_string(text);
    return found->second;
  }

  static constexpr std::size_t kMaxCached = 10'000;
  detail::AtomicFile& out_;
  const Topology& topology_;
  std::vector<std::string> pids_;  // by track
  Time base_;
  std::unordered_map<std::string, std::string> escaped_;
};

}  // namespace

ExportReport export_chrome(const TraceReader& reader, const ExportDesc& desc) {
  const Selection selection = select(reader, desc);
  detail::AtomicFile out(desc.output, output_of(reader));
  Chrome chrome(reader, selection.topology, out);
  const ExportReport report = draw_timeline(reader, selection, desc, chrome);
  chrome.finish();
  out.commit();
  return report;
}

}  // namespace reprise::trace
