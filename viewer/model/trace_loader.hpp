// TraceLoader: a trace file to Documents, in steps that a background thread makes one after the
// other. The first step reads the topology alone, then come the chunks of events, then, for the
// statistics, those of samples, which the loader keeps none of: memory is the document, one chunk,
// and the budget of the document's SampleStore. A chunk that is damaged is left out and told of.
// Threads: one at a time; document() gives values that any thread may read.
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
  std::uint64_t max_sample_bytes = 256u << 20;  // of the SampleStore
};

class TraceLoader {
 public:
  // Reads the index and the topology. Throws TraceError.
  explicit TraceLoader(const TraceLoaderDesc& desc);

  [[nodiscard]] const trace::TraceReader& reader() const noexcept { return *reader_; }
  // Reads the next chunk; false: there was none. Throws TraceError where the file cannot be read at
  // all.
  bool step();
  [[nodiscard]] double progress() const noexcept;  // of the bytes, 0 to 1
  // Every replay is in the document; what step() still reads are samples, for the statistics.
  [[nodiscard]] bool has_replays() const noexcept { return events_left_ == 0; }
  // Looks for chunks written since, and reads the topology of them; step() goes on with the rest.
  // False: the file does not go on from what was read, it has to be loaded anew. Throws TraceError.
  bool follow();
  // What is known by now.
  [[nodiscard]] std::shared_ptr<const Document> document() { return builder_.publish(); }
  // What of the file is not in the documents: its end, where that is cut off, and damaged chunks.
  // For people; empty: nothing.
  [[nodiscard]] std::string damage() const;

 private:
  void plan(std::size_t first);  // chunks from that one on
  void take(const trace::ChunkEntry& chunk);

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
