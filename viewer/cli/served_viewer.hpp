// ServedViewer: the viewer in browsers, as `reprise serve` and `reprise view --browser` start it.
// Threads: main thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::cli {

struct ServedViewer {
  std::vector<std::string> targets;  // files, sessions and folders
  std::string token = {};            // of host:port; empty: $REPRISE_TOKEN
  std::uint16_t port = 8321;         // or the next free one; 0: any
  std::string address = "127.0.0.1";
  std::vector<std::string> hosts = {}, allowed_folders = {};
  std::uint32_t max_clients = 32;
  bool read_only = false, opens_browser = false;
};

// Serves until a signal. Throws std::runtime_error with the reason.
int serve_viewer(ServedViewer viewer);

}  // namespace reprise::cli
