#include "merge/merge_traces.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/atomic_file.hpp"
#include "merge/align_ranks.hpp"
#include "merge/rank_ids.hpp"
#include "merge/rank_list.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::trace {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkBytes = 1u << 20;  // before compression

[[noreturn]] void refuse(const std::string& text) {
  throw TraceError(TraceErrorCode::NotAllowed, text);
}

// The records of a chunk; none if its bytes are damaged.
std::optional<Records> read_intact(const TraceReader& reader, const ChunkEntry& entry) {
  try {
    return reader.read(entry);
  } catch (const TraceError& error) {
    if (error.code() == TraceErrorCode::Io) throw;
    return std::nullopt;
  }
}

enum class Chunks : std::uint8_t { Topology, All };

// Calls take(entry, records) in file order and reads the next chunk meanwhile. Returns the number
// of damaged chunks.
template <class Take>
std::uint64_t for_each_chunk(const TraceReader& reader, Chunks chunks, const Take& take) {
  std::vector<const ChunkEntry*> entries;
  for (const ChunkEntry& entry : reader.chunks()) {
    if (chunks == Chunks::All || entry.header.kind == ChunkKind::Topology)
      entries.push_back(&entry);
  }
  std::uint64_t damaged = 0;
  std::future<std::optional<Records>> next;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::optional<Records> records = i == 0 ? read_intact(reader, *entries[0]) : next.get();
    if (i + 1 < entries.size())
      next = std::async(std::launch::async, read_intact, std::cref(reader),
                        std::cref(*entries[i + 1]));
    if (records) {
      take(*entries[i], *records);
    } else {
      ++damaged;
    }
  }
  return damaged;
}

struct Rank {
  fs::path path;
  RankTopology topology;
  TimeRange range;      // of own times
  Time last_event = 0;  // own time
  std::string damage;   // of the file; empty: none
  detail::FileAccess access;
};

// Throws unless all Session records describe one process that is a rank.
Rank read_rank(const fs::path& input) {
  const TraceReader reader(input);
  Rank rank{input, {}, {}, 0, reader.damage(), reader.access()};
  const Session& found = rank.topology.session;
  bool is_found = false;
  for_each_chunk(reader, Chunks::Topology, [&](const ChunkEntry&, const Records& records) {
    if (!records.clock_alignments.empty()) refuse(input.string() + " is a merged trace already");
    for (const Session& s : records.sessions) {
      if (s.rank == kNone)
        refuse(input.string() + " is not the trace of a rank of a distributed job");
      if (s.ranks != 0 && s.rank >= s.ranks) {
        refuse(input.string() + " is of rank " + std::to_string(s.rank) + " in a job of " +
               std::to_string(s.ranks) + " ranks");
      }
      const auto process = [](const Session& one) {
        return std::tie(one.rank, one.ranks, one.job, one.host, one.pid, one.process_start_utc);
      };
      const Session& first = is_found ? found : records.sessions.front();
      if (process(first) != process(s))
        refuse(input.string() + " has the records of several processes");
    }
    is_found = is_found || !records.sessions.empty();
    rank.topology.add(records);
  });
  if (!is_found) refuse(input.string() + " does not name a rank of a distributed job");
  for (const ChunkEntry& entry : reader.chunks()) {
    const ChunkHeader& h = entry.header;
    const Time last = std::clamp(h.last_time, -kMaxTime, kMaxTime);
    extend(rank.range, {std::clamp(h.first_time, -kMaxTime, kMaxTime), last});
    if (h.kind != ChunkKind::Topology) rank.last_event = std::max(rank.last_event, last);
  }
  return rank;
}

// By rank.
std::vector<Rank> read_ranks(const std::vector<fs::path>& inputs) {
  if (inputs.empty()) refuse("there are no traces to merge");
  std::vector<Rank> ranks;
  std::map<std::uint32_t, fs::path> by_rank;
  for (const fs::path& input : inputs) {
    ranks.push_back(read_rank(input));
    const Session &a = ranks.front().topology.session, &b = ranks.back().topology.session;
    if (a.job != b.job || a.ranks != b.ranks) {
      refuse(ranks.front().path.string() + " and " + input.string() + " are of different jobs: \"" +
             a.job + "\" with " + std::to_string(a.ranks) + " ranks and \"" + b.job + "\" with " +
             std::to_string(b.ranks));
    }
    const auto [other, is_new] = by_rank.try_emplace(b.rank, input);
    if (!is_new) {
      refuse(other->second.string() + " and " + input.string() + " are both of rank " +
             std::to_string(b.rank));
    }
  }
  std::sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) {
    return a.topology.session.rank < b.topology.session.rank;
  });
  return ranks;
}

// Appends every list of `from` to that of `to`.
void append(Records& to, Records& from) {
  Records::each([&](auto kind) {
    std::move((from.*kind).begin(), (from.*kind).end(), std::back_inserter(to.*kind));
  });
  from.clear();
}

// The merged trace. Chunks of one kind that follow each other within the usual size become one.
class MergedFile {
 public:
  MergedFile(const fs::path& path, std::vector<detail::FileAccess> sources)
      : file_(path, {.sources = std::move(sources)}) {
    write(encode_preamble());
  }

  void add(const ChunkHeader& header, Records& records) {
    if (bytes_ + header.raw_bytes > kChunkBytes) flush();
    // Names of threads are topology, and objects end after the records that refer to them.
    Records names, ended;
    names.thread_names = std::exchange(records.thread_names, {});
    ended.ended = std::exchange(records.ended, {});
    append(topology_, names);
    append(header.kind == ChunkKind::Topology   ? topology_
           : header.kind == ChunkKind::Events   ? events_
           : header.kind == ChunkKind::Contents ? contents_
                                                : samples_,
           records);
    bytes_ += header.raw_bytes;
    if (ended.empty()) return;
    flush();
    put(ChunkKind::Topology, ended);
  }
  void flush() {
    put(ChunkKind::Topology, topology_);
    put(ChunkKind::Events, events_);
    put(ChunkKind::Samples, samples_);
    put(ChunkKind::Contents, contents_);
    bytes_ = 0;
  }
  void put(ChunkKind kind, Records& records) {
    if (records.empty()) return;
    const Chunk chunk = make_chunk(kind, records, sequence_++);
    write(encode_header(chunk.header));
    write(chunk.payload);
    records.clear();
  }
  void commit() {
    flush();
    file_.commit();
  }

 private:
  void write(std::span<const std::uint8_t> bytes) { file_.write(std::as_bytes(bytes)); }

  detail::AtomicFile file_;
  Records topology_, events_, samples_, contents_;
  std::size_t bytes_ = 0;
  std::uint64_t sequence_ = 0;
};

class Merge {
 public:
  explicit Merge(const MergeDesc& desc) : desc_(desc), ranks_(read_ranks(desc.inputs)) {
    for (const Rank& rank : ranks_) {
      report_.sessions.push_back(rank.topology.session);
      std::error_code ignored;
      if (fs::equivalent(rank.path, desc_.output, ignored))
        refuse(desc_.output.string() + " is both the output and an input");
      const std::uintmax_t bytes = fs::file_size(rank.path, ignored);
      if (!ignored) total_ += bytes;
    }
  }

  MergeReport run() {
    std::vector<detail::FileAccess> sources;
    for (const Rank& rank : ranks_) sources.push_back(rank.access);
    MergedFile file(desc_.output, std::move(sources));
    align();
    const Time begin = aligned(report_.alignments[0], ranks_[0].range.first);
    const auto put_warnings = [&](Records& records) {
      for (; stored_ < warnings_.size(); ++stored_) {
        Message message = warnings_[stored_];
        message.at = begin;
        report_.warnings.push_back(message.text);
        records.add(std::move(message));
      }
    };
    Records records;
    records.sessions = report_.sessions;
    records.clock_alignments = report_.alignments;
    put_warnings(records);
    file.put(ChunkKind::Topology, records);

    MergedIds ids;
    for (std::uint32_t session = 0; session < ranks_.size(); ++session) convert(session, ids, file);
    put_warnings(records);
    file.put(ChunkKind::Topology, records);
    file.commit();
    return std::move(report_);
  }

 private:
  void warn(const char* id, const std::string& text, std::uint32_t session = 0) {
    warnings_.push_back(
        {0, Severity::Warning, std::string("merge.") + id, text, kNone, 0, kNone, kNone, session});
  }
  void warn_about_file(std::uint32_t session, const std::string& what) {
    warn("damaged-file",
         "the trace of rank " + std::to_string(report_.sessions[session].rank) + ", " +
             ranks_[session].path.string() + ", is damaged or incomplete: " + what,
         session);
  }
  void progress(const ChunkEntry& entry) {
    done_ += ChunkHeader::kBytes + entry.header.compressed_bytes;
    if (desc_.progress) desc_.progress(std::min(done_, total_), total_);
  }

  void align() {
    std::vector<std::uint32_t> present;
    for (const Session& session : report_.sessions) present.push_back(session.rank);
    const std::uint32_t job = report_.sessions[0].ranks;
    if (const auto missing = missing_runs(present, job); !missing.empty()) {
      const bool is_one = missing.size() == 1 && missing[0].first == missing[0].last;
      warn("missing-ranks", ranks_text(missing) + " of " + std::to_string(job) +
                                (is_one ? " is missing" : " are missing"));
    }
    std::vector<RankTopology> topologies;
    for (std::uint32_t session = 0; session < ranks_.size(); ++session) {
      if (!ranks_[session].damage.empty()) warn_about_file(session, ranks_[session].damage);
      topologies.push_back(std::exchange(ranks_[session].topology, {}));
    }
    RankAligner& aligner = aligner_.emplace(topologies);
    if (!aligner.has_one_clock()) {
      total_ *= 2;
      for (std::uint32_t session = 0; session < ranks_.size(); ++session) {
        const TraceReader reader(ranks_[session].path);
        for_each_chunk(reader, Chunks::All, [&](const ChunkEntry& entry, const Records& records) {
          aligner.add_records(session, records);
          progress(entry);
        });
      }
    }
    std::vector<TimeRange> ranges;
    for (const Rank& rank : ranks_) ranges.push_back(rank.range);
    report_.alignments = aligner.align(ranges);
    for (const std::string& text : aligner.warnings()) warn("clocks", text);
    warn_about_ends();
  }

  void warn_about_ends() {
    constexpr Time kSecond = 1'000'000'000;
    std::vector<std::pair<Time, std::uint32_t>> ends;  // with the session
    for (std::uint32_t session = 0; session < ranks_.size(); ++session) {
      if (ranks_[session].last_event != 0 && report_.alignments[session].error < kUnknownError)
        ends.emplace_back(aligned(report_.alignments[session], ranks_[session].last_event),
                          session);
    }
    if (ends.empty()) return;
    std::sort(ends.begin(), ends.end());
    const Time usual = ends[ends.size() / 2].first;
    const Time begin = aligned(report_.alignments[0], ranks_[0].range.first);
    const Time limit = usual - std::max(kSecond, (usual - begin) / 10);
    for (const auto& [end, session] : ends) {
      if (end >= limit) break;
      char seconds[32];
      std::snprintf(seconds, sizeof seconds, "%.1f s", static_cast<double>(usual - end) / 1e9);
      warn("ends-early",
           "the trace of rank " + std::to_string(report_.sessions[session].rank) + " ends " +
               seconds + " before those of most ranks",
           session);
    }
  }

  void convert(std::uint32_t session, MergedIds& ids, MergedFile& file) {
    const TraceReader reader(ranks_[session].path);
    RankConverter converter(ids, report_.alignments[session]);
    const std::uint64_t damaged =
        for_each_chunk(reader, Chunks::All, [&](const ChunkEntry& entry, Records& records) {
          records.sessions.clear();
          separate_unmatched(session, records);
          converter.convert(records);
          report_.replays += records.replays.size();
          report_.samples += entry.header.sample_count;
          file.add(entry.header, records);
          progress(entry);
        });
    file.flush();
    if (damaged != 0)
      warn_about_file(session, std::to_string(damaged) + " of its " +
                                   std::to_string(reader.chunks().size()) +
                                   " chunks cannot be decoded");
  }

  // Collectives that match those of no other rank get a communicator of their own.
  void separate_unmatched(std::uint32_t session, Records& records) const {
    for (GraphVersion& graph : records.graph_versions) {
      for (Collective& c : graph.collectives) {
        if (!aligner_->is_matched(c)) c.communicator = ~std::uint64_t{session};
      }
    }
  }

  const MergeDesc& desc_;
  std::vector<Rank> ranks_;  // by session
  std::optional<RankAligner> aligner_;
  std::uint64_t done_ = 0, total_ = 0;
  std::vector<Message> warnings_;
  std::size_t stored_ = 0;  // warnings that are in the trace
  MergeReport report_;
};

}  // namespace

MergeReport merge_traces(const MergeDesc& desc) { return Merge(desc).run(); }

}  // namespace reprise::trace
