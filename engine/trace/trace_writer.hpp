// TraceWriter: accepts records from any thread, groups them into chunks on its own thread and
// passes the chunks to its sinks. push() never waits for a disk, a socket or compression: a record
// that does not fit into the queue is dropped, and the number of dropped records becomes a Loss
// record. Threads: any.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "trace/chunk_sink.hpp"
#include "trace/records.hpp"

namespace reprise::trace {

struct TraceWriterDesc {
  std::size_t queue_bytes = 64u << 20;  // limit of queued records; a single one may exceed it
  std::size_t chunk_bytes = 1u << 20;             // target size of a chunk before compression
  std::chrono::milliseconds chunk_interval{100};  // a chunk is closed at the latest after this time
  std::uint64_t first_sequence = 0;  // for a continued trace: the sequence number of its next chunk
  // Called on the writer's thread, once for each failed sink; may be empty.
  std::function<void(const std::string&)> on_error = {};
};

struct TraceWriterStats {
  std::uint64_t records = 0, samples = 0;            // accepted
  std::uint64_t lost_records = 0, lost_samples = 0;  // dropped: full queue, no chunk or no memory
  std::uint64_t chunks = 0, bytes = 0;               // produced
  std::uint64_t failed_sinks = 0,
                unwritten_chunks = 0;  // removed sinks; chunks that removed sinks missed
};

class TraceWriter {
 public:
  explicit TraceWriter(TraceWriterDesc desc = {});
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  ~TraceWriter();  // writes queued records, then flushes the sinks

  // Returns false if the queue was full: the record is dropped and counted.
  bool push(Record record);
  // The sink receives the chunks written from now on. A sink that throws is removed.
  void add_sink(std::shared_ptr<ChunkSink> sink);
  void remove_sink(const std::shared_ptr<ChunkSink>& sink);
  // Returns after all records pushed before the call have reached the sinks.
  void flush();
  [[nodiscard]] TraceWriterStats stats() const;
  [[nodiscard]] std::thread::native_handle_type thread() noexcept {
    return thread_.native_handle();
  }  // valid while the writer exists

 private:
  struct Command;
  void run();
  // Adds the number of records passed to emit() to `emitted`.
  void write_chunks(std::vector<Record>& records, std::size_t& emitted);
  void emit(ChunkKind kind, Records& records);
  void drop(Records& records, const std::string& reason);
  void report_losses(std::vector<Record>& records);

  const TraceWriterDesc desc_;

  mutable std::mutex mutex_;  // guards the members down to sinks_mutex_
  std::condition_variable wake_, idle_;
  std::vector<Record> queue_;
  std::size_t queued_bytes_ = 0;
  std::uint64_t pushed_ = 0, written_ = 0;  // record counts, for flush()
  bool stop_ = false, flush_ = false;
  TraceWriterStats stats_;
  std::uint64_t reported_records_ = 0, reported_samples_ = 0;

  std::mutex sinks_mutex_;  // held by the writer's thread for each chunk; locked before mutex_
  std::vector<std::shared_ptr<ChunkSink>> sinks_;
  std::uint64_t sequence_;  // of the next chunk; used by the writer's thread

  std::thread thread_;
};

}  // namespace reprise::trace
