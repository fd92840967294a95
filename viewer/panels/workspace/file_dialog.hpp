// FileDialog: asks for the path of a file to write: a live session's recording, on request or
// before the session is discarded, or an exported table or picture. Performs no action itself; it
// returns the user's choice. Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <string>

#include "panels/shared/theme.hpp"

namespace reprise::viewer {

enum class FileChoice : std::uint8_t { None, Write, Discard, Cancel };

struct FileDialogDesc {
  const char* title = "";        // unique among the dialogs
  const char* action = "";       // of the button: "Record"; empty: no file, only `discard`
  const char* explanation = "";  // what is written
  const char* discard = "Discard";
  std::string path = {};       // proposed
  std::string discarded = {};  // what would be lost; offers to discard it. Empty: no offer
};

class FileDialog {
 public:
  // Opens the dialog in the next draw().
  void open(FileDialogDesc desc);
  void close() noexcept { is_open_ = false; }
  // `error`: of the last attempt to write; may be empty. The dialog stays open after Write. Esc
  // cancels.
  [[nodiscard]] FileChoice draw(const Theme& theme, const std::string& error);
  [[nodiscard]] const std::string& path() const noexcept { return desc_.path; }

 private:
  [[nodiscard]] FileChoice draw_contents(const Theme& theme, const std::string& error);
  [[nodiscard]] FileChoice draw_file(const Theme& theme, const std::string& error);

  bool is_open_ = false, appears_ = false;
  FileDialogDesc desc_;
};

}  // namespace reprise::viewer
