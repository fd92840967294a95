#include <google/protobuf/message_lite.h>

#include <perfetto.pb.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/atomic_file.hpp"
#include "export/export_error.hpp"
#include "export/exporter.hpp"
#include "export/selection.hpp"
#include "export/timeline.hpp"
#include "trace/record_names.hpp"

namespace reprise::trace {

namespace {

constexpr std::uint32_t kSequence = 1;
constexpr std::uint32_t kClearsInterned = 1, kNeedsInterned = 2;  // sequence_flags
constexpr std::uint32_t kUtc = 1, kMonotonic = 3, kBootTime = 6;
// uuids; those of pools follow the 2^32 possible tracks, and those of further processes follow
constexpr std::uint64_t kProcessTrack = 1, kFirstTrack = 2, kFirstPool = std::uint64_t{1} << 33,
                        kMoreProcesses = std::uint64_t{1} << 34;
std::uint64_t process_track(std::uint32_t session) {
  return session == 0 ? kProcessTrack : kMoreProcesses + session;
}

std::uint64_t timestamp(Time t) { return t < 0 ? 0 : static_cast<std::uint64_t>(t); }

class Perfetto : public TimelineSink {
 public:
  Perfetto(const Topology& topology, detail::AtomicFile& out) : out_(out) {
    const Session session = topology.session();
    perfetto::TracePacket first;
    first.set_trusted_packet_sequence_id(kSequence);
    first.set_sequence_flags(kClearsInterned);
    if (topology.has_ranks()) {
      // Ranks on different hosts may have the same process number.
      for (std::uint32_t s = 0; s < topology.sessions.size(); ++s) {
        perfetto::TracePacket packet = s == 0 ? std::move(first) : new_packet();
        describe_process(packet, s, topology.sessions[s], s + 1,
                         rank_process_name(topology.sessions[s]));
      }
    } else {
      describe_process(first, 0, session, session.pid,
                       session.application.empty() ? "process" : session.application);
    }
    for (const Clock& clock : topology.clocks) {
      if (clock.device == kNone) write_clock(clock);
    }
  }

  void add_track(std::uint32_t track, std::uint32_t session, const std::string& name) override {
    perfetto::TracePacket packet = new_packet();
    packet.mutable_track_descriptor()->set_uuid(kFirstTrack + track);
    packet.mutable_track_descriptor()->set_parent_uuid(process_track(session));
    packet.mutable_track_descriptor()->set_name(name);
    write(packet);
  }

  void add_counter(const Counter& counter) override {
    const std::uint64_t track = kFirstPool + counter.pool;
    if (pools_.insert(counter.pool).second) {
      perfetto::TracePacket packet = new_packet();
      perfetto::TrackDescriptor& descriptor = *packet.mutable_track_descriptor();
      descriptor.set_uuid(track);
      descriptor.set_parent_uuid(process_track(counter.session));
      descriptor.set_name(counter.name);
      descriptor.mutable_counter()->set_unit(perfetto::CounterDescriptor::UNIT_SIZE_BYTES);
      write(packet);
    }
    perfetto::TracePacket packet = new_packet();
    packet.set_timestamp(timestamp(counter.at));
    packet.mutable_track_event()->set_type(perfetto::TrackEvent::TYPE_COUNTER);
    packet.mutable_track_event()->set_track_uuid(track);
    packet.mutable_track_event()->set_counter_value(static_cast<std::int64_t>(counter.bytes));
    write(packet);
  }

  void add_slice(const Slice& slice) override {
    perfetto::TracePacket begin = new_packet();
    begin.set_timestamp(timestamp(slice.from));
    perfetto::TrackEvent& event = *begin.mutable_track_event();
    event.set_type(perfetto::TrackEvent::TYPE_SLICE_BEGIN);
    event.set_track_uuid(kFirstTrack + slice.track);
    perfetto::InternedData added;
    event.add_category_iids(
        intern(categories_, slice.category, [&] { return added.add_event_categories(); }));
    event.set_name_iid(intern(names_, slice.name, [&] { return added.add_event_names(); }));
    const auto annotate = [&](const char* name) {
      perfetto::DebugAnnotation* annotation = event.add_debug_annotations();
      annotation->set_name_iid(
          intern(annotations_, name, [&] { return added.add_debug_annotation_names(); }));
      return annotation;
    };
    if (slice.graph != kNone) annotate("graph")->set_uint_value(slice.graph);
    if (slice.graph != kNone && slice.replay != 0) annotate("replay")->set_uint_value(slice.replay);
    if (slice.node != kNone) annotate("node")->set_uint_value(slice.node);
    if (slice.occurrence != 0) annotate("occurrence")->set_uint_value(slice.occurrence);
    if (slice.parent != kNone) annotate("parent")->set_uint_value(slice.parent);
    if (!slice.label.empty()) annotate("label")->set_string_value(slice.label);
    for (const std::uint64_t flow : slice.flows_out) event.add_flow_ids(flow);
    for (const std::uint64_t flow : slice.flows_in) event.add_terminating_flow_ids(flow);
    if (added.ByteSizeLong() != 0) *begin.mutable_interned_data() = std::move(added);
    write(begin);

    perfetto::TracePacket end = new_packet();
    end.set_timestamp(timestamp(slice.to));
    end.mutable_track_event()->set_type(perfetto::TrackEvent::TYPE_SLICE_END);
    end.mutable_track_event()->set_track_uuid(kFirstTrack + slice.track);
    write(end);
  }

 private:
  using Table = std::map<std::string, std::uint64_t, std::less<>>;

  void describe_process(perfetto::TracePacket& packet, std::uint32_t index, const Session& session,
                        std::uint32_t pid, const std::string& name) {
    perfetto::TrackDescriptor* process = packet.mutable_track_descriptor();
    process->set_uuid(process_track(index));
    process->mutable_process()->set_pid(static_cast<std::int32_t>(pid));
    process->mutable_process()->set_process_name(name);
    if (!session.command_line.empty())
      process->mutable_process()->add_cmdline(session.command_line);
    write(packet);
  }

  static perfetto::TracePacket new_packet() {
    perfetto::TracePacket packet;
    packet.set_trusted_packet_sequence_id(kSequence);
    packet.set_sequence_flags(kNeedsInterned);
    return packet;
  }

  // The id of an interned text. A new text is added to the packet in which it first occurs, through
  // `add`.
  template <class Add>
  static std::uint64_t intern(Table& table, const std::string& text, const Add& add) {
    const auto [found, is_new] = table.try_emplace(text, table.size() + 1);
    if (is_new) {
      perfetto::Interned* entry = add();
      entry->set_iid(found->second);
      entry->set_name(text);
    }
    return found->second;
  }

  // Timestamps are on the monotonic host clock, and the reader assumes boot time: the snapshot
  // declares both equal.
  void write_clock(const Clock& clock) {
    perfetto::TracePacket packet;
    packet.set_trusted_packet_sequence_id(kSequence);
    for (const auto& [id, time] :
         {std::pair{kBootTime, clock.host}, {kMonotonic, clock.host}, {kUtc, clock.other}}) {
      perfetto::ClockSnapshot::Clock* c = packet.mutable_clock_snapshot()->add_clocks();
      c->set_clock_id(id);
      c->set_timestamp(timestamp(time));
    }
    write(packet);
  }

  // A concatenation of serialised traces is a valid trace.
  void write(const perfetto::TracePacket& packet) {
    trace_.Clear();
    *trace_.add_packet() = packet;
    if (!trace_.SerializeToString(&bytes_))
      throw ExportError("a packet is too large for Perfetto's format");
    out_.write(bytes_);
  }

  detail::AtomicFile& out_;
  perfetto::Trace trace_;
  std::string bytes_;
  Table names_, categories_, annotations_;
  std::set<std::uint32_t> pools_;  // with a track
};

}  // namespace

ExportReport export_perfetto(const TraceReader& reader, const ExportDesc& desc) {
  const Selection selection = select(reader, desc);
  detail::AtomicFile out(desc.output, output_of(reader));
  Perfetto perfetto(selection.topology, out);
  const ExportReport report = draw_timeline(reader, selection, desc, perfetto);
  out.commit();
  return report;
}

}  // namespace reprise::trace
