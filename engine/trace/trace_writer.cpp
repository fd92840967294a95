#include "trace/trace_writer.hpp"

#include <algorithm>
#include <exception>
#include <type_traits>
#include <utility>

#include "base/background_thread.hpp"
#include "trace/trace_error.hpp"

namespace reprise::trace {

namespace {

template <class T>
std::size_t bytes_of(const std::vector<T>& v) {
  return v.size() * sizeof(T);
}

// Size of a record's strings and vectors.
std::size_t content_bytes(const SampleBlock& b) { return bytes_of(b.samples); }
std::size_t content_bytes(const GraphVersion& g) {
  std::size_t bytes = bytes_of(g.strings) + bytes_of(g.labels) + bytes_of(g.kernels) +
                      bytes_of(g.buffers) + bytes_of(g.accesses) + bytes_of(g.barriers) +
                      bytes_of(g.nodes) + bytes_of(g.edges) + bytes_of(g.bodies);
  for (const std::string& s : g.strings) bytes += s.size();
  return bytes;
}
std::size_t content_bytes(const PoolState& p) {
  return p.label.size() + bytes_of(p.holders) + bytes_of(p.sharers);
}
std::size_t content_bytes(const Message& m) { return m.id.size() + m.text.size(); }
std::size_t content_bytes(const Update& u) { return u.description.size(); }
std::size_t content_bytes(const BufferLifetime& b) { return b.name.size(); }
std::size_t content_bytes(const HostRange& h) { return h.name.size(); }
std::size_t content_bytes(const Session& s) { return s.application.size() + s.command_line.size(); }
template <class T>
std::size_t content_bytes(const T&) {
  return 0;
}

// Approximate size of a record in memory; bounds the queue and the chunks.
std::size_t weight(const Record& record) {
  return sizeof(Record) + std::visit([](const auto& r) { return content_bytes(r); }, record);
}

std::uint64_t samples_of(const Record& record) {
  const auto* block = std::get_if<SampleBlock>(&record);
  return block ? block->samples.size() : 0;
}

ChunkKind kind_of(const Record& record) {
  return std::visit(
      [](const auto& r) {
        using T = std::decay_t<decltype(r)>;
        if constexpr (std::is_same_v<T, SampleBlock>) return ChunkKind::Samples;
        if constexpr (std::is_same_v<T, Session> || std::is_same_v<T, Clock> ||
                      std::is_same_v<T, Device> || std::is_same_v<T, Queue> ||
                      std::is_same_v<T, GraphVersion> || std::is_same_v<T, ThreadName> ||
                      std::is_same_v<T, PoolState> || std::is_same_v<T, DeviceTotals> ||
                      std::is_same_v<T, BufferLifetime> || std::is_same_v<T, Message> ||
                      std::is_same_v<T, Update>) {
          return ChunkKind::Topology;
        }
        return ChunkKind::Events;
      },
      record);
}

}  // namespace

TraceWriter::TraceWriter(TraceWriterDesc desc)
    : desc_(std::move(desc)),
      sequence_(desc_.first_sequence),
      thread_(detail::start_background_thread("reprise-write", [this] { run(); })) {}

TraceWriter::~TraceWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

bool TraceWriter::push(Record record) {
  const std::size_t bytes = weight(record);
  const std::uint64_t samples = samples_of(record);
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    // One record may exceed the limit: a large graph must not be lost to an empty queue.
    if (queued_bytes_ != 0 && queued_bytes_ + bytes > desc_.queue_bytes) {
      ++stats_.lost_records;
      stats_.lost_samples += samples;
      return false;
    }
    // The thread wakes by itself every chunk_interval; notify it when a chunk's worth of records is
    // queued.
    wake = queued_bytes_ < desc_.chunk_bytes && queued_bytes_ + bytes >= desc_.chunk_bytes;
    queued_bytes_ += bytes;
    queue_.push_back(std::move(record));
    ++pushed_;
    ++stats_.records;
    stats_.samples += samples;
  }
  if (wake) wake_.notify_one();
  return true;
}

void TraceWriter::add_sink(std::shared_ptr<ChunkSink> sink) {
  const std::lock_guard lock(sinks_mutex_);
  for (const auto& chunk : topology_) sink->write(chunk);
  sinks_.push_back(std::move(sink));
}

void TraceWriter::remove_sink(const std::shared_ptr<ChunkSink>& sink) {
  const std::lock_guard lock(sinks_mutex_);
  std::erase(sinks_, sink);
}

void TraceWriter::flush() {
  std::unique_lock lock(mutex_);
  const std::uint64_t target = pushed_;
  flush_ = true;
  wake_.notify_one();
  idle_.wait(lock, [&] { return written_ >= target; });
}

TraceWriterStats TraceWriter::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void TraceWriter::run() {
  std::vector<Record> records;
  for (bool stop = false; !stop;) {
    std::size_t taken = 0;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, desc_.chunk_interval,
                     [this] { return stop_ || flush_ || queued_bytes_ >= desc_.chunk_bytes; });
      stop = stop_;
      flush_ = false;
      records.swap(queue_);
      queued_bytes_ = 0;
      taken = records.size();
      report_losses(records);
    }
    write_chunks(records);
    records.clear();
    {
      const std::lock_guard lock(mutex_);
      written_ += taken;
    }
    idle_.notify_all();
  }
  const std::lock_guard lock(sinks_mutex_);
  for (const auto& sink : sinks_) {
    try {
      sink->flush();
    } catch (const std::exception& error) {
      if (desc_.on_error) desc_.on_error(error.what());
    }
  }
}

// Appends Loss records for losses since the last report to the batch. The caller holds mutex_.
void TraceWriter::report_losses(std::vector<Record>& records) {
  const Time now = std::chrono::steady_clock::now().time_since_epoch().count();
  if (stats_.lost_samples > reported_samples_) {
    records.push_back(Loss{now, LossKind::Samples, stats_.lost_samples - reported_samples_,
                           "the trace queue was full"});
    reported_samples_ = stats_.lost_samples;
  }
  if (stats_.lost_records > reported_records_) {
    records.push_back(Loss{now, LossKind::Events, stats_.lost_records - reported_records_,
                           "the trace queue was full"});
    reported_records_ = stats_.lost_records;
  }
}

void TraceWriter::write_chunks(std::vector<Record>& records) {
  // Topology first: a chunk refers only to earlier chunks.
  for (const ChunkKind kind : {ChunkKind::Topology, ChunkKind::Events, ChunkKind::Samples}) {
    Records chunk;
    std::size_t bytes = 0;
    for (Record& record : records) {
      if (kind_of(record) != kind) continue;
      const std::size_t added = weight(record);
      if (bytes != 0 && bytes + added > desc_.chunk_bytes) {
        emit(kind, chunk);
        bytes = 0;
      }
      bytes += added;
      chunk.add(std::move(record));
    }
    if (!chunk.empty()) emit(kind, chunk);
  }
}

// Records that no chunk can hold, because they are too large or memory is short, become a loss.
void TraceWriter::drop(Records& records, const std::string& reason) {
  const std::uint64_t count = records.count(), losses = records.losses.size();
  std::uint64_t samples = 0;
  for (const SampleBlock& block : records.sample_blocks) samples += block.samples.size();
  records.clear();
  {
    const std::lock_guard lock(mutex_);
    stats_.lost_records += count;
    stats_.lost_samples += samples;
    reported_records_ += count;
    reported_samples_ += samples;
  }
  if (desc_.on_error) {
    desc_.on_error("the trace lacks " + std::to_string(count) +
                   " records that fit no chunk: " + reason);
  }
  if (losses == count) return;  // do not report the loss of a report
  const Time now = std::chrono::steady_clock::now().time_since_epoch().count();
  records.add(Loss{now, LossKind::Events, count, reason});
  emit(ChunkKind::Events, records);
}

void TraceWriter::emit(ChunkKind kind, Records& records) {
  std::shared_ptr<const Chunk> chunk;
  try {
    chunk = std::make_shared<const Chunk>(make_chunk(kind, records, sequence_));
  } catch (const std::exception& error) {
    return drop(records, error.what());
  }
  ++sequence_;
  records.clear();
  const std::lock_guard lock(sinks_mutex_);
  if (kind == ChunkKind::Topology) topology_.push_back(chunk);
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < sinks_.size();) {
    try {
      sinks_[i]->write(chunk);
      ++i;
    } catch (const std::exception& error) {
      if (desc_.on_error) desc_.on_error(error.what());
      sinks_.erase(sinks_.begin() + static_cast<std::ptrdiff_t>(i));
      ++failed;
    }
  }
  const std::lock_guard stats_lock(mutex_);
  stats_.failed_sinks += failed;
  stats_.unwritten_chunks += stats_.failed_sinks;
  ++stats_.chunks;
  stats_.bytes += chunk->size();
}

}  // namespace reprise::trace
