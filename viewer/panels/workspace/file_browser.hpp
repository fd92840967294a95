// FileBrowser: the folders and trace files of a folder, as a list. A worker reads the folder.
// Performs no action itself; it returns the user's choice. Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/allowed_paths.hpp"
#include "panels/shared/async_value.hpp"
#include "panels/shared/theme.hpp"

namespace reprise::viewer {

struct FileChosen {
  std::string path;        // empty: none
  bool is_opened = false;  // by a double-click
};

class FileBrowser {
 public:
  // Starts in the current folder, or in the allowed one. Of several, a list comes first.
  FileBrowser(Background& background, model::AllowedPaths paths);
  // Fills the width and this height of the current window.
  [[nodiscard]] FileChosen draw(const Theme& theme, float height);

 private:
  struct Entry {
    std::string name;
    bool is_folder = false;
    std::uint64_t bytes = 0;
  };
  struct Listing {
    std::vector<Entry> entries;  // folders, then files, each by name
    std::string error;
  };
  struct Key {
    std::string folder;       // empty: the list of the allowed ones
    std::uint64_t visit = 0;  // a folder is read again with each visit
    friend bool operator==(const Key&, const Key&) = default;
  };
  [[nodiscard]] static Listing read(const std::string& folder, const model::AllowedPaths& paths);
  void enter(std::string folder);

  const model::AllowedPaths paths_;
  AsyncValue<Key, Listing> listing_;
  Key key_;
  std::string chosen_;  // name of the file that was clicked
};

}  // namespace reprise::viewer
