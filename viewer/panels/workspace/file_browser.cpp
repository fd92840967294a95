#include "panels/workspace/file_browser.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include <imgui.h>

#include "panels/widgets/format.hpp"
#include "panels/widgets/icons.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

namespace fs = std::filesystem;

constexpr char kEnding[] = ".reprise";
constexpr std::size_t kMaxEntries = 10'000;

}  // namespace

FileBrowser::FileBrowser(Background& background, model::AllowedPaths paths)
    : paths_(std::move(paths)), listing_(background) {
  std::error_code ignored;
  const std::vector<fs::path> folders = paths_.folders();
  enter(paths_.has_all()      ? fs::current_path(ignored).string()
        : folders.size() == 1 ? folders.front().string()
                              : std::string());
}

void FileBrowser::enter(std::string folder) {
  if (folder.empty() && paths_.has_all()) folder = "/";
  if (!folder.empty() && !paths_.contains(folder)) folder.clear();
  key_ = {std::move(folder), key_.visit + 1};
  chosen_.clear();
}

FileBrowser::Listing FileBrowser::read(const std::string& folder,
                                       const model::AllowedPaths& paths) {
  Listing listing;
  if (folder.empty()) {
    for (const fs::path& each : paths.folders())
      listing.entries.push_back({.name = each.string(), .is_folder = true});
    return listing;
  }
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end;
       !error && at != end && listing.entries.size() < kMaxEntries; at.increment(error)) {
    std::error_code ignored;
    Entry entry{.name = at->path().filename().string(), .is_folder = at->is_directory(ignored)};
    if (!paths.contains(at->path())) continue;  // a link that leads elsewhere
    if (entry.name.starts_with('.')) continue;
    if (!entry.is_folder && (!entry.name.ends_with(kEnding) || !at->is_regular_file(ignored)))
      continue;
    if (!entry.is_folder) entry.bytes = at->file_size(ignored);
    listing.entries.push_back(std::move(entry));
  }
  if (error) listing.error = "cannot read " + folder + ": " + error.message();
  std::sort(listing.entries.begin(), listing.entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(b.is_folder, a.name) < std::tie(a.is_folder, b.name);
  });
  return listing;
}

FileChosen FileBrowser::draw(const Theme& theme, float height) {
  listing_.ask(key_, [folder = key_.folder, paths = paths_] { return read(folder, paths); });
  FileChosen choice;
  const fs::path folder = key_.folder;
  if (icon_button(theme, "parent", Icon::Back, "The folder above",
                  folder == folder.parent_path() ? IconState::Disabled : IconState::Normal))
    enter(folder.parent_path().string());
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  if (text_ellipsis(folder.string(), theme.ink_soft)) tooltip(folder.string());
  ImGui::BeginChild("files", {0, height}, true);
  const auto listing = listing_.value(key_);
  if (!listing) {
    draw_busy(theme, "Reading the folder");
  } else if (!listing->error.empty()) {
    draw_empty(theme, listing->error);
  } else if (listing->entries.empty()) {
    draw_empty(theme, folder.empty() ? "No folder is allowed here"
                                     : "No folder and no trace (*.reprise) is here");
  } else {
    for (const Entry& entry : listing->entries) {
      const std::string path = (folder / entry.name).string();
      ImGui::PushStyleColor(ImGuiCol_Text, entry.is_folder ? theme.ink_soft : theme.ink);
      const bool clicked = ImGui::Selectable(
          (entry.name + (entry.is_folder ? "/" : "")).c_str(),
          !entry.is_folder && entry.name == chosen_,
          ImGuiSelectableFlags_DontClosePopups | ImGuiSelectableFlags_AllowDoubleClick);
      ImGui::PopStyleColor();
      if (!entry.is_folder) {
        ImGui::SameLine();
        text_right(bytes_text(entry.bytes), theme.ink_soft);
      }
      if (!clicked) continue;
      if (entry.is_folder) {
        enter(path);
      } else {
        chosen_ = entry.name;
        choice = {path, ImGui::IsMouseDoubleClicked(0)};
      }
    }
  }
  ImGui::EndChild();
  return choice;
}

}  // namespace reprise::viewer
