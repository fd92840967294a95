// TraceLoader: converts a trace file to Documents in steps, which a background thread runs. The
// constructor reads only the topology. The steps read the event chunks, then the sample chunks for
// the statistics. The loader retains no samples: memory is the document, one chunk and the budget
// of the document's SampleStore. Damaged chunks are skipped and reported by damage(). Threads: one
// at a time; documents may be read by any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "model/document_builder.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::model {

struct TraceLoaderDesc {
  std::filesystem::path path;
  std::uint64_t max_sample_bytes = 256u << 20;  // budget of the SampleStore
};

class TraceLoader {
 public:
  // Reads the index and the topology. Throws TraceError.
  explicit TraceLoader(const TraceLoaderDesc& desc);

  [[nodiscard]] const trace::TraceReader& reader() const noexcept { return *reader_; }
  // Reads the next chunk; returns false at the end. Throws TraceError if the file is unreadable.
  bool step();
  [[nodiscard]] double progress() const noexcept;  // fraction of the bytes, 0 to 1
  // True if the document has every replay; remaining steps only read samples for statistics.
  [[nodiscard]] bool has_replays() const noexcept { return events_left_ == 0; }
  // Looks for appended chunks and reads their topology; step() reads the others. Returns false if
  // the file is not a continuation of what was read and has to be reloaded. Throws TraceError.
  bool follow();
  // A snapshot of everything read so far.
  [[nodiscard]] std::shared_ptr<const Document> document() { return builder_.publish(); }
  // Describes the parts of the file that the documents lack: a truncated end and damaged chunks.
  // Human-readable; empty if the file is intact.
  [[nodiscard]] std::string damage() const;

 private:
  void plan(std::size_t first);  // schedules the chunks from `first` on
  void read_chunk(const trace::ChunkEntry& chunk);

  std::shared_ptr<const trace::TraceReader> reader_;
  std::shared_ptr<SampleStore> samples_;
  DocumentBuilder builder_;
  std::vector<std::size_t> order_;  // chunks, events before samples
  std::size_t next_ = 0, events_left_ = 0;
  std::uint64_t done_ = 0, total_ = 0;  // bytes
  std::uint64_t damaged_ = 0;           // chunks
  std::string first_damage_;
};

}  // namespace reprise::model
