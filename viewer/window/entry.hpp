// The one door between the program `reprise`, which links no GL, and the module that draws: plain
// C, so that either says clearly when the other is of another version. Knows nothing but its own
// types. Threads: called once, on the main thread.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

inline constexpr std::uint32_t kRepriseViewVersion = 1;

enum RepriseShade : std::int32_t {
  kRepriseShadeRemembered = -1,
  kRepriseShadeDark = 0,
  kRepriseShadeLight = 1
};

// Strings are UTF-8 and end in a 0; null where the command line says nothing.
struct RepriseViewRequest {
  std::uint32_t version;  // kRepriseViewVersion
  const char*
      program;  // path of the running program: what else is installed is looked for beside it
  const char* target;           // a file, a session's socket, or host:port; null: the start page
  const char* other;            // to compare with
  const char* token;            // for host:port
  const char* screenshot;       // a PNG to write, without a window
  const char* view;             // which one is in front: see view_named()
  const char* select;           // a node of this name (or part of it) is selected
  std::uint32_t width, height;  // 0: as last time, or the default
  float scale;                  // of text and distances; 0: what the display says
  std::int32_t shade;           // RepriseShade
  std::int32_t reset_layout;    // 1: forgets where the splitters stood
};

// Shows the viewer until the user leaves, or writes the picture. 0: done; otherwise `error` says
// why, in a sentence that ends in a 0.
int reprise_view(const RepriseViewRequest* request, char* error, std::size_t error_size);

using RepriseViewFunction = int (*)(const RepriseViewRequest*, char*, std::size_t);
inline constexpr char kRepriseViewFunctionName[] = "reprise_view";

}  // extern "C"
