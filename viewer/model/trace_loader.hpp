// TraceLoader: a trace file to Documents, in steps that a background thread makes one after the other. The first step reads the
// topology alone, then come the chunks of events, then, for the statistics, those of samples, which the loader keeps none of: memory
// is the document, one chunk, and the budget of the document's SampleStore.
// Threads: one at a time; document() gives values that any thread may read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
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
  // Reads the next chunk; false: there was none. Throws TraceError; the step after it goes on behind that chunk.
  bool step();
  [[nodiscard]] double progress() const noexcept;  // of the bytes, 0 to 1
  // What is known by now.
  [[nodiscard]] std::shared_ptr<const Document> document() { return builder_.publish(); }

 private:
  std::shared_ptr<const trace::TraceReader> reader_;
  DocumentBuilder builder_;
  std::vector<std::size_t> order_;  // chunks, events before samples
  std::size_t next_ = 0;
  std::uint64_t done_ = 0, total_ = 0;  // bytes
};

}  // namespace reprise::model
