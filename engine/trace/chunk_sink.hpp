// ChunkSink: a destination of finished chunks, such as a file or a live connection. Threads: only
// the writer's thread calls a sink.
#pragma once

#include <memory>

#include "trace/chunk.hpp"

namespace reprise::trace {

class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  // Must not block for long. Throws TraceError (Io); the writer then removes the sink and counts
  // the chunks that it misses.
  virtual void write(const std::shared_ptr<const Chunk>& chunk) = 0;
  // Returns after all chunks written so far have left the process.
  virtual void flush() = 0;
};

}  // namespace reprise::trace
