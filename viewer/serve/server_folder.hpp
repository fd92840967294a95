// ServerFolder: the temporary files of one server: uploads and exports of its clients. Threads: one
// at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace reprise::viewer {

class ServerFolder {
 public:
  // Creates a folder that no other user reads, and removes those of servers that were killed.
  // Throws std::system_error.
  ServerFolder();
  ServerFolder(const ServerFolder&) = delete;
  ServerFolder& operator=(const ServerFolder&) = delete;
  ~ServerFolder();  // removes the files

  // The path of a new folder, which does not exist yet.
  [[nodiscard]] std::filesystem::path next() { return path_ / std::to_string(++last_); }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // the open folder, locked while the process lives
  std::uint64_t last_ = 0;
};

}  // namespace reprise::viewer
