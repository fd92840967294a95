// The interface between the program `reprise` and the module that serves the viewer. Plain C, so
// that each side can detect a version mismatch. Knows only its own types. Threads: called once, on
// the main thread.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

inline constexpr std::uint32_t kRepriseServeVersion = 1;

// Strings are UTF-8 and null-terminated, lists of strings end with a null pointer; a null pointer
// means unspecified.
struct RepriseServeRequest {
  std::uint32_t version;  // kRepriseServeVersion
  // path of the running executable; other installed files are located relative to it
  const char* program;
  const char* target;          // a file, a session's socket, or host:port; null: the start page
  const char* other;           // second target, for comparison
  const char* token;           // of host:port
  const char* const* traces;   // listed on the start page
  const char* const* allowed;  // files and folders that clients may read
  const char* const* hosts;    // further names of this server in requests
  const char* address;
  std::uint16_t port;  // the first that is tried; 0: any
  std::uint32_t max_clients;
  std::int32_t read_only;      // 1: clients change nothing
  std::int32_t opens_browser;  // 1: opens the link on this machine
  void (*print_link)(const char* link);  // called once, when the server listens
};

// Serves until SIGINT, SIGTERM or SIGHUP. Returns 0 on success; otherwise `error` receives a
// null-terminated message.
[[gnu::visibility("default")]] int reprise_serve(const RepriseServeRequest* request, char* error,
                                                 std::size_t error_size);

using RepriseServeFunction = int (*)(const RepriseServeRequest*, char*, std::size_t);
inline constexpr char kRepriseServeFunctionName[] = "reprise_serve";

}  // extern "C"
