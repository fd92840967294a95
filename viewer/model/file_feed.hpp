// FileFeed: reads a trace file onto a DocumentPublisher and goes on watching it: one that grows is
// read on; one that was replaced, or appears only now, is read anew, and what was shown stays until
// that is done. Threads: run() on one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "model/document_publisher.hpp"
#include "model/trace_loader.hpp"

namespace reprise::model {

class FileFeed {
 public:
  FileFeed(TraceLoaderDesc desc, DocumentPublisher& board);

  // Until a stop is asked for: at the next chunk then.
  void run(const std::stop_token& stop);

 private:
  // What tells that a file is not what it was.
  struct Mark {
    std::uint64_t device = 0, file = 0, bytes = 0;
    std::int64_t changed = 0;  // ns
    bool is_file = false;      // and not a folder, say
    friend bool operator==(const Mark&, const Mark&) = default;
  };

  enum class Manner : std::uint8_t {
    First,  // shows what it has
    On,     // shows more of what is shown
    Behind  // a replaced file: shows it when it is complete
  };

  [[nodiscard]] std::optional<Mark> look() const;  // empty: nothing is there
  void read(const std::optional<Mark>& found, const std::stop_token& stop);
  [[nodiscard]] bool goes_on(const Mark& found);
  void load(Manner manner, const std::stop_token& stop);

  const TraceLoaderDesc desc_;
  DocumentPublisher& board_;
  std::unique_ptr<TraceLoader> loader_;
  Mark read_;               // of what loader_ reads
  bool has_shown_ = false;  // a whole file
};

}  // namespace reprise::model
