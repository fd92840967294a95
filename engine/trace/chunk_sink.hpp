// Where finished chunks go: a file, a live connection. Threads: one thread at a time calls a sink,
// the writer's.
#pragma once

#include <memory>

#include "trace/chunk.hpp"

namespace reprise::trace {

class ChunkSink {
 public:
  virtual ~ChunkSink() = default;
  // Takes a chunk; must not block for long. Throws TraceError (Io); the writer then counts what is
  // lost.
  virtual void write(const std::shared_ptr<const Chunk>& chunk) = 0;
  // Everything written so far has left the process.
  virtual void flush() = 0;
};

}  // namespace reprise::trace
