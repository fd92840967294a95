// The interface between the program `reprise`, which links no GL, and the window module. Plain C,
// so that each side can detect a version mismatch. Knows only its own types. Threads: called once,
// on the main thread.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

inline constexpr std::uint32_t kRepriseViewVersion = 3;

enum RepriseShade : std::int32_t {
  kRepriseShadeRemembered = -1,
  kRepriseShadeDark = 0,
  kRepriseShadeLight = 1
};

// Strings are UTF-8 and null-terminated; null pointers mean unspecified.
struct RepriseViewRequest {
  std::uint32_t version;  // kRepriseViewVersion
  // path of the running executable; other installed files are located relative to it
  const char* program;
  const char* target;           // a file, a session's socket, or host:port; null: the start page
  const char* other;            // second target, for comparison
  const char* token;            // of host:port
  const char* screenshot;       // PNG to write instead of opening a window
  const char* view;             // initial view: see view_named()
  const char* select;           // selects the first node whose name contains this text
  std::uint64_t replay;         // shows and selects this replay; 0: the newest with samples
  std::uint32_t width, height;  // 0: as in the last session, or the default
  float scale;                  // of text and layout; 0: the display's setting
  std::int32_t shade;           // RepriseShade
  std::int32_t reset_layout;    // 1: restores the default panel layout
  std::int32_t is_temporary;    // 1: the target is removed later and no recent file
};

// Shows the viewer until the user closes it, or writes the screenshot. Returns 0 on success;
// otherwise `error` receives a null-terminated message.
[[gnu::visibility("default")]] int reprise_view(const RepriseViewRequest* request, char* error,
                                                std::size_t error_size);

using RepriseViewFunction = int (*)(const RepriseViewRequest*, char*, std::size_t);
inline constexpr char kRepriseViewFunctionName[] = "reprise_view";

}  // extern "C"
