// ServeDesc: what `reprise serve` serves, where, and to whom. Threads: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "panels/workspace/start_page.hpp"

namespace reprise::viewer {

struct ServeDesc {
  std::filesystem::path program;              // the running executable
  OpenTarget target, other;                   // what each client opens first; empty: the start page
  std::vector<std::filesystem::path> traces;  // listed on the start page
  std::vector<std::filesystem::path> allowed;  // folders and files of this machine
  std::string address = "127.0.0.1";
  std::uint16_t port = 8321;
  std::vector<std::string> hosts;  // see WebServerDesc
  bool read_only = false;
  std::size_t max_clients = 32;
  std::uint64_t max_upload_bytes = 1ull << 30;  // of a client
  std::uint64_t max_unsent_bytes = 64u << 20;   // a client that reads slower ends
  std::uint32_t first_message_seconds = 10, lost_client_seconds = 300;
};

}  // namespace reprise::viewer
