#include "model/allowed_paths.hpp"

#include <algorithm>
#include <system_error>

namespace reprise::model {

namespace {

namespace fs = std::filesystem;

// Absolute and without links; empty: unknown.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? fs::path() : whole;
}

}  // namespace

AllowedPaths::AllowedPaths(const std::vector<fs::path>& paths) : has_all_(false) {
  for (const fs::path& path : paths) {
    fs::path whole = resolved(path);
    if (!whole.has_filename() && whole.has_relative_path()) whole = whole.parent_path();  // "a/"
    if (!whole.empty()) paths_.push_back(std::move(whole));
  }
}

bool AllowedPaths::contains(const fs::path& path) const {
  if (has_all_) return true;
  const fs::path whole = resolved(path);
  return std::any_of(paths_.begin(), paths_.end(), [&](const fs::path& allowed) {
    return std::mismatch(allowed.begin(), allowed.end(), whole.begin(), whole.end()).first ==
           allowed.end();
  });
}

std::vector<fs::path> AllowedPaths::folders() const {
  std::vector<fs::path> found;
  for (const fs::path& path : paths_) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) found.push_back(path);
  }
  return found;
}

}  // namespace reprise::model
