// FileFeed: feeds a trace file to a DocumentPublisher and watches the file. If the file grows, the
// feed reads the new part. If the file appears or is replaced, the feed reloads it; the previous
// document stays published until the reload is complete. Threads: run() on one thread.
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
  FileFeed(TraceLoaderDesc desc, DocumentPublisher& publisher);

  // Returns after a stop is requested, at the next chunk boundary.
  void run(const std::stop_token& stop);

 private:
  // Identifies the state of a file on disk.
  struct FileState {
    std::uint64_t device = 0, file = 0, bytes = 0;
    std::int64_t changed = 0;  // ns
    bool is_file = false;      // false for a directory, for example
    friend bool operator==(const FileState&, const FileState&) = default;
  };

  enum class LoadMode : std::uint8_t {
    First,   // publishes intermediate documents
    Append,  // the current file grew: publishes additions
    Replace  // the file was replaced: publishes once, when complete
  };

  [[nodiscard]] std::optional<FileState> file_state() const;  // empty if the path does not exist
  void read(const std::optional<FileState>& found, const std::stop_token& stop);
  [[nodiscard]] bool try_follow(const FileState& found);
  void load(LoadMode mode, const std::stop_token& stop);

  const TraceLoaderDesc desc_;
  DocumentPublisher& publisher_;
  std::unique_ptr<TraceLoader> loader_;
  FileState read_;              // state of the file that loader_ reads
  bool has_published_ = false;  // a complete file was published
};

}  // namespace reprise::model
