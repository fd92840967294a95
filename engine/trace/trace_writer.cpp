#include "trace/trace_writer.hpp"

#include <algorithm>
#include <exception>
#include <type_traits>
#include <utility>

#include "base/background_thread.hpp"
#include "trace/trace_error.hpp"

namespace reprise::trace {

namespace {

std::uint64_t samples_of(const Record& record) {
  const auto* block = std::get_if<SampleBlock>(&record);
  return block ? block->samples.size() : 0;
}

ChunkKind kind_of(const Record& record) {
  return std::visit(
      [](const auto& r) {
        using T = std::decay_t<decltype(r)>;
        if constexpr (std::is_same_v<T, SampleBlock>) return ChunkKind::Samples;
        if constexpr (std::is_same_v<T, ContentBlock>) return ChunkKind::Contents;
        if constexpr (std::is_same_v<T, Session> || std::is_same_v<T, Clock> ||
                      std::is_same_v<T, Device> || std::is_same_v<T, Queue> ||
                      std::is_same_v<T, GraphVersion> || std::is_same_v<T, ThreadName> ||
                      std::is_same_v<T, PoolState> || std::is_same_v<T, DeviceTotals> ||
                      std::is_same_v<T, BufferLifetime> || std::is_same_v<T, PoolUse> ||
                      std::is_same_v<T, Message> || std::is_same_v<T, Update> ||
                      std::is_same_v<T, Ended> || std::is_same_v<T, CreationCost> ||
                      std::is_same_v<T, ClockAlignment>) {
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
  const std::size_t bytes = memory_bytes(record);
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
    }
    std::size_t emitted = 0;
    bool failed = false;
    try {
      report_losses(records);
      write_chunks(records, emitted);
    } catch (const std::exception&) {  // no memory for chunks, or to report it: counted
      failed = true;
    }
    {
      const std::lock_guard lock(mutex_);
      written_ += taken;
      if (failed) stats_.lost_records += records.size() - emitted;
    }
    records.clear();
    idle_.notify_all();
  }
  const std::lock_guard lock(sinks_mutex_);
  for (const auto& sink : sinks_) {
    try {
      sink->flush();
    } catch (const std::exception& error) {
      try {
        if (desc_.on_error) desc_.on_error(error.what());
      } catch (const std::exception&) {
        // There is no memory for the report.
      }
    }
  }
}

// Appends Loss records for losses since the last report to the batch.
void TraceWriter::report_losses(std::vector<Record>& records) {
  constexpr const char* kLost = "the trace queue was full, or memory was short";
  const std::lock_guard lock(mutex_);
  const Time now = std::chrono::steady_clock::now().time_since_epoch().count();
  if (stats_.lost_samples > reported_samples_) {
    records.push_back(Loss{now, LossKind::Samples, stats_.lost_samples - reported_samples_, kLost});
    reported_samples_ = stats_.lost_samples;
  }
  if (stats_.lost_records > reported_records_) {
    records.push_back(Loss{now, LossKind::Events, stats_.lost_records - reported_records_, kLost});
    reported_records_ = stats_.lost_records;
  }
}

void TraceWriter::write_chunks(std::vector<Record>& records, std::size_t& emitted) {
  // A chunk refers only to earlier chunks: topology comes first, and the end of objects last.
  constexpr std::pair<ChunkKind, bool> kOrder[] = {{ChunkKind::Topology, false},
                                                   {ChunkKind::Events, false},
                                                   {ChunkKind::Samples, false},
                                                   {ChunkKind::Contents, false},
                                                   {ChunkKind::Topology, true}};
  for (const auto& [kind, is_end] : kOrder) {
    Records chunk;
    std::size_t bytes = 0;
    const auto emit_chunk = [&] {
      const std::size_t count = chunk.count();
      emit(kind, chunk);
      emitted += count;
    };
    for (Record& record : records) {
      if (kind_of(record) != kind || std::holds_alternative<Ended>(record) != is_end) continue;
      const std::size_t added = memory_bytes(record);
      if (bytes != 0 && bytes + added > desc_.chunk_bytes) {
        emit_chunk();
        bytes = 0;
      }
      bytes += added;
      chunk.add(std::move(record));
    }
    if (!chunk.empty()) emit_chunk();
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
