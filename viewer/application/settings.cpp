#include "application/settings.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/json_parser.hpp"

namespace reprise::viewer {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint32_t kMinWidth = 400, kMinHeight = 300, kMaxSide = 16'384;

class Unreadable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class T, class Check>
void read_field(const Json& from, const char* name, T& to, Check is_of_type) {
  const auto found = from.find(name);
  if (found == from.end()) return;
  if (!is_of_type(*found)) throw Unreadable(std::string("\"") + name + "\" has an invalid value");
  to = found->get<T>();
}

bool is_number(const Json& json) { return json.is_number() && std::isfinite(json.get<double>()); }
bool is_integer(const Json& json) {  // within std::int64_t
  return json.is_number_integer() && (!json.is_number_unsigned() || json.get<std::int64_t>() >= 0);
}
bool is_flag(const Json& json) { return json.is_boolean(); }
bool is_text(const Json& json) { return json.is_string(); }

const Json& object_in(const Json& json, const char* name) {
  static const Json none = Json::object();
  const auto found = json.find(name);
  if (found == json.end()) return none;
  if (!found->is_object()) throw Unreadable(std::string("\"") + name + "\" has an invalid value");
  return *found;
}

std::uint32_t side(double value, std::uint32_t min_side) {
  return static_cast<std::uint32_t>(
      std::clamp(value, static_cast<double>(min_side), static_cast<double>(kMaxSide)));
}

void read_window(const Json& json, Settings& values) {
  double width = values.width, height = values.height;
  read_field(json, "width", width, is_number);
  read_field(json, "height", height, is_number);
  read_field(json, "maximised", values.maximised, is_flag);
  values.width = side(width, kMinWidth);
  values.height = side(height, kMinHeight);
}

void read_layout(const Json& json, WorkspaceLayout& layout) {
  read_field(json, "strip", layout.strip, is_number);
  read_field(json, "inspector", layout.inspector, is_number);
  read_field(json, "lower", layout.lower, is_number);
  read_field(json, "below_timeline", layout.below_timeline, is_number);
  layout.strip = std::clamp(layout.strip, 0.0f, 4000.0f);
  layout.inspector = std::clamp(layout.inspector, 0.0f, 1.0f);
  layout.lower = std::clamp(layout.lower, 0.0f, 1.0f);
  layout.below_timeline = std::clamp(layout.below_timeline, 0.0f, 1.0f);
}

void read_source_folders(const Json& json, std::vector<std::string>& folders) {
  const auto found = json.find("source_folders");
  if (found == json.end()) return;
  if (!found->is_array() || !std::all_of(found->begin(), found->end(), is_text))
    throw Unreadable("\"source_folders\" has an invalid value");
  folders = found->get<std::vector<std::string>>();
}

void read_recent(const Json& json, std::vector<RecentEntry>& recent) {
  const auto found = json.find("recent");
  if (found == json.end()) return;
  if (!found->is_array()) throw Unreadable("\"recent\" has an invalid value");
  for (const Json& each : *found) {
    RecentEntry entry;
    if (!each.is_object()) throw Unreadable("an entry of \"recent\" has an invalid value");
    read_field(each, "path", entry.path, is_text);
    read_field(each, "opened", entry.opened, is_integer);
    if (!entry.path.empty() && recent.size() < kMaxRecentFiles) recent.push_back(std::move(entry));
  }
}

// Reads each section separately, so that an error in one does not lose another.
std::string read_all(const Json& json, Settings& values) {
  std::string wrong;
  const auto attempt = [&](auto read) {
    try {
      read();
    } catch (const Unreadable& error) {
      wrong = error.what();
    }
  };
  attempt([&] {
    std::string shade = "dark";
    read_field(json, "shade", shade, is_text);
    values.shade = shade == "light" ? Shade::Light : Shade::Dark;
  });
  attempt([&] { read_window(object_in(json, "window"), values); });
  attempt([&] { read_layout(object_in(json, "layout"), values.layout); });
  attempt([&] { read_source_folders(json, values.layout.source_folders); });
  attempt([&] { read_field(json, "tables", values.tables, is_text); });
  attempt([&] { read_recent(json, values.recent); });
  return wrong;
}

// Updates the existing JSON, so that unknown fields survive.
void write_all(const Settings& values, Json& json) {
  if (!json.is_object()) json = Json::object();
  json["shade"] = values.shade == Shade::Light ? "light" : "dark";
  Json& window = json["window"];
  if (!window.is_object()) window = Json::object();
  window["width"] = values.width;
  window["height"] = values.height;
  window["maximised"] = values.maximised;
  Json& layout = json["layout"];
  if (!layout.is_object()) layout = Json::object();
  layout["strip"] = values.layout.strip;
  layout["inspector"] = values.layout.inspector;
  layout["lower"] = values.layout.lower;
  layout["below_timeline"] = values.layout.below_timeline;
  json["source_folders"] = values.layout.source_folders;
  json["tables"] = values.tables;
  json["recent"] = Json::array();
  for (const RecentEntry& entry : values.recent)
    json["recent"].push_back({{"path", entry.path}, {"opened", entry.opened}});
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

// `path`, or `path` with the first unused number appended.
fs::path free_name(const fs::path& path) {
  std::error_code ignored;
  fs::path name = path;
  for (unsigned i = 2; fs::exists(name, ignored); ++i)
    name = path.string() + "-" + std::to_string(i);
  return name;
}

}  // namespace

void Settings::note_opened(const fs::path& file, std::int64_t seconds) {
  std::error_code error;
  const fs::path whole = fs::absolute(file, error).lexically_normal();
  const std::string path = error ? file.string() : whole.string();
  forget(path);
  recent.insert(recent.begin(), {path, seconds});
  if (recent.size() > kMaxRecentFiles) recent.resize(kMaxRecentFiles);
}

void Settings::forget(const std::string& path) {
  std::erase_if(recent, [&](const RecentEntry& entry) { return entry.path == path; });
}

fs::path settings_path() {
  const char* config = ::secure_getenv("XDG_CONFIG_HOME");
  if (config && fs::path(config).is_absolute()) return fs::path(config) / "reprise" / "viewer.json";
  const char* home = ::secure_getenv("HOME");
  return home && *home ? fs::path(home) / ".config" / "reprise" / "viewer.json" : fs::path();
}

SettingsFile::SettingsFile(fs::path path) : path_(std::move(path)) {
  if (path_.empty()) {
    may_write_ = false;
    return;
  }
  read();
}

void SettingsFile::read() {
  std::error_code error;
  if (fs::symlink_status(path_, error).type() == fs::file_type::not_found) return;
  const fs::file_status status = fs::status(path_, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    may_write_ = false;
    message_ = path_.string() + " is not a regular file; settings will not be saved";
    return;
  }
  errno = 0;
  std::ifstream file(path_);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    may_write_ = false;  // the file exists but is inaccessible; it must not be overwritten
    message_ = "cannot read " + path_.string() + ": " + std::strerror(errno) +
               "; settings will not be saved";
    return;
  }
  known_ = detail::parse_ordered_json(text);
  if (!known_.is_object()) {
    known_ = Json::object();
    set_aside("not a JSON object");
    return;
  }
  const std::string wrong = read_all(known_, values);
  if (!wrong.empty()) set_aside(wrong);
}

void SettingsFile::set_aside(const std::string& why) {
  const fs::path aside = free_name(path_.string() + ".damaged");
  std::error_code error;
  fs::copy_file(path_, aside, error);
  if (error) {
    may_write_ = false;
    message_ = path_.string() + " is damaged (" + why +
               ") and cannot be renamed: " + error.message() + "; settings will not be saved";
  } else {
    message_ = path_.string() + " is damaged (" + why + "); it was renamed to " +
               aside.filename().string() + ", and the affected settings were reset";
  }
}

std::string SettingsFile::save() {
  if (!may_write_) return {};
  Json json = known_;
  write_all(values, json);
  if (json == known_) return {};
  std::error_code error;
  fs::create_directories(path_.parent_path(), error);
  try {
    detail::write_file_atomically(path_, text_of(json), {.sources = {detail::kOwnerOnly}});
  } catch (const detail::FileError& failed) {
    return failed.what();
  }
  known_ = std::move(json);
  return {};
}

}  // namespace reprise::viewer
