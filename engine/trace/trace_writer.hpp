// TraceWriter: takes records from any thread, makes chunks of them on a thread of its own, and
// gives these to its sinks. push() never waits for a disk, a socket or compression: what does not
// fit into the queue is counted as lost, and the count is itself a record. Threads: every call may
// come from any thread.
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
  std::size_t queue_bytes = 64u << 20;            // of records that wait
  std::size_t chunk_bytes = 1u << 20;             // estimated size of a chunk before compression
  std::chrono::milliseconds chunk_interval{100};  // a chunk is closed after so long
  std::uint64_t first_sequence = 0;  // of a trace that goes on: how many chunks it has had
  std::function<void(const std::string&)> on_error =
      {};  // a sink failed (called on the writer's thread, once a sink); may be empty
};

struct TraceWriterStats {
  std::uint64_t records = 0, samples = 0;            // taken
  std::uint64_t lost_records = 0, lost_samples = 0;  // refused because the queue was full
  std::uint64_t chunks = 0, bytes = 0;               // made
  std::uint64_t failed_sinks = 0,
                unwritten_chunks = 0;  // that were dropped; that those did not get
};

class TraceWriter {
 public:
  explicit TraceWriter(TraceWriterDesc desc = {});
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  ~TraceWriter();  // writes what waits, then flushes the sinks

  // False: the queue was full and the record is lost (and counted).
  bool push(Record record);
  // The sink first gets every topology chunk made so far, then all new chunks. A sink that throws
  // is dropped.
  void add_sink(std::shared_ptr<ChunkSink> sink);
  void remove_sink(const std::shared_ptr<ChunkSink>& sink);
  // Returns when all that was pushed before has reached the sinks.
  void flush();
  [[nodiscard]] TraceWriterStats stats() const;
  [[nodiscard]] std::thread::native_handle_type thread() noexcept {
    return thread_.native_handle();
  }  // its own, as long as this lives

 private:
  struct Command;
  void run();
  void write_chunks(std::vector<Record>& records);
  void emit(ChunkKind kind, Records& records);
  void report_losses(std::vector<Record>& records);

  const TraceWriterDesc desc_;

  mutable std::mutex mutex_;  // of what stands below
  std::condition_variable wake_, idle_;
  std::vector<Record> queue_;
  std::size_t queued_bytes_ = 0;
  std::uint64_t pushed_ = 0, written_ = 0;  // records, for flush()
  bool stop_ = false, flush_ = false;
  TraceWriterStats stats_;
  std::uint64_t reported_records_ = 0, reported_samples_ = 0;

  std::mutex sinks_mutex_;  // taken by the writer's thread for each chunk; never with mutex_
  std::vector<std::shared_ptr<ChunkSink>> sinks_;
  std::vector<std::shared_ptr<const Chunk>> topology_;
  std::uint64_t sequence_;

  std::thread thread_;
};

}  // namespace reprise::trace
