#include "panels/shared/notes.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/json_parser.hpp"
#include "base/json_number.hpp"
#include "base/shown_text.hpp"

namespace reprise::viewer {

namespace {

constexpr const char* kFormat = "reprise notes";
constexpr std::uintmax_t kMaxBytes = 16u << 20;

// Fills graph, target and number of a note on the selection. False if the selection can't have one.
bool set_target(const model::Selection& selection, Note& note) {
  if (const auto* node = std::get_if<model::SelectedNode>(&selection)) {
    note.graph = node->graph;
    note.target = Note::Target::Node;
    note.number = node->node;
    return true;
  }
  if (const auto* replay = std::get_if<model::SelectedReplay>(&selection)) {
    note.graph = replay->graph;
    note.target = Note::Target::Replay;
    note.number = replay->replay;
    return true;
  }
  if (const auto* span = std::get_if<model::SelectedSpan>(&selection)) {
    note.target = Note::Target::Span;
    note.span = *span;
    return true;
  }
  return false;
}

bool has_same_target(const Note& a, const Note& b) {
  return a.graph == b.graph && a.target == b.target && a.number == b.number && a.span == b.span;
}

}  // namespace

struct Notes::Shared {
  mutable std::mutex mutex;  // guards all members except the paths, `use` and `writing`
  std::filesystem::path trace, path;
  NotesUse use = NotesUse::Edit;
  std::mutex writing;  // serialises writers; acquired before `mutex`
  std::vector<Note> notes;
  std::uint64_t revision = 0, written = 0;
  bool is_read = false, may_write = false;
  std::string error;

  void read();
  void write();
};

std::string notes_text(const std::vector<Note>& notes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Note& note : notes) {
    nlohmann::ordered_json item;
    if (note.target == Note::Target::Span) {
      item["span"] = {note.span.started, note.span.ended};
    } else {
      item = {{"graph", note.graph.graph}, {"version", note.graph.version}};
      item[note.target == Note::Target::Node ? "node" : "replay"] = note.number;
    }
    if (!note.name.empty()) item["name"] = note.name;
    item["text"] = note.text;
    list.push_back(std::move(item));
  }
  const nlohmann::ordered_json file{
      {"format", kFormat}, {"version", 1}, {"notes", std::move(list)}};
  return file.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

namespace {

Note parse_target(const nlohmann::ordered_json& item) {
  Note note;
  if (item.contains("span")) {
    note.target = Note::Target::Span;
    const auto time = [&](std::size_t i) {
      return static_cast<trace::Time>(detail::json_integer(
          item.at("span").at(i), "span", std::numeric_limits<trace::Time>::max()));
    };
    note.span = {time(0), time(1)};
    if (note.span.ended < note.span.started)
      throw std::runtime_error("the notes file contains a span out of order");
    return note;
  }
  note.graph = {detail::json_uint32(item.at("graph"), "graph"),
                detail::json_uint32(item.at("version"), "version")};
  const bool is_node = item.contains("node");
  note.target = is_node ? Note::Target::Node : Note::Target::Replay;
  const char* const kind = is_node ? "node" : "replay";
  note.number = detail::json_integer(
      item.at(kind), kind, is_node ? 0xffffffffu : std::numeric_limits<std::uint64_t>::max());
  return note;
}

}  // namespace

std::vector<Note> parse_notes(const std::string& text) {
  std::vector<Note> notes;
  try {
    const nlohmann::ordered_json file = detail::parse_ordered_json(text);
    if (file.is_discarded()) throw std::runtime_error("the notes file is malformed JSON");
    if (file.value("format", "") != kFormat)
      throw std::runtime_error("the file is not a Reprise notes file");
    if (file.at("version") != 1)
      throw std::runtime_error("the notes file has an unsupported version");
    for (const nlohmann::ordered_json& item : file.at("notes")) {
      Note note = parse_target(item);
      note.name = item.value("name", "");
      note.text = item.at("text").get<std::string>();
      notes.push_back(std::move(note));
    }
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(std::string("cannot parse the notes file: ") + error.what());
  } catch (const std::out_of_range& error) {
    throw std::runtime_error(std::string("cannot parse the notes file: ") + error.what());
  }
  return notes;
}

std::filesystem::path notes_path(const std::filesystem::path& trace) {
  return trace.string() + ".notes.json";
}

void Notes::Shared::read() {
  std::vector<Note> found;
  std::string failure_text;
  bool readable = true;
  try {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      if (std::filesystem::file_size(path) > kMaxBytes)
        throw std::runtime_error(path.string() + " exceeds the size limit of 16 MiB for notes");
      std::ifstream stream(path, std::ios::binary);
      std::ostringstream text;
      text << stream.rdbuf();
      if (!stream) throw std::runtime_error("cannot read " + path.string());
      found = parse_notes(text.str());
    }
  } catch (const std::exception& failure) {
    failure_text = detail::failure_text(failure, "reading ", path.native());
    readable = false;
  }
  bool is_stale = false;  // true if notes were set before the file was read
  {
    const std::lock_guard lock(mutex);
    is_stale = !notes.empty();
    for (Note& note : found) {
      if (std::none_of(notes.begin(), notes.end(),
                       [&](const Note& n) { return has_same_target(n, note); }))
        notes.push_back(std::move(note));
    }
    std::erase_if(notes, [](const Note& note) { return note.text.empty(); });
    is_read = true;
    may_write = readable && use == NotesUse::Edit;
    error = failure_text;
    ++revision;
  }
  if (is_stale) write();
}

void Notes::Shared::write() {
  const std::lock_guard one_at_a_time(writing);
  std::string text;
  std::uint64_t text_revision = 0;
  {
    const std::lock_guard lock(mutex);
    if (!may_write || written == revision) return;
    text_revision = revision;
    text = notes_text(notes);
  }
  std::string failure_text;
  try {
    detail::write_file_atomically(path, text, {.sources = {detail::access_of(trace)}});
  } catch (const std::exception& failure) {
    failure_text = detail::failure_text(failure, "writing ", path.native());
  }
  const std::lock_guard lock(mutex);
  error = failure_text;
  if (failure_text.empty()) written = text_revision;
}

Notes::Notes(const std::filesystem::path& trace, Background& background, NotesUse use)
    : background_(background), shared_(std::make_shared<Shared>()) {
  shared_->use = use;
  shared_->trace = trace;
  shared_->path = notes_path(trace);
  background_.run([shared = shared_] { shared->read(); });
}

bool Notes::can_have_one(const model::Selection& selection) {
  Note note;
  return set_target(selection, note);
}

std::string Notes::text_of(const model::Selection& selection) const {
  Note key;
  if (!set_target(selection, key)) return {};
  const std::lock_guard lock(shared_->mutex);
  for (const Note& note : shared_->notes) {
    if (has_same_target(note, key)) return note.text;
  }
  return {};
}

void Notes::set(const model::Selection& selection, std::string name, std::string text) {
  Note note;
  if (!set_target(selection, note)) return;
  note.name = std::move(name);
  note.text = std::move(text);
  {
    const std::lock_guard lock(shared_->mutex);
    auto& notes = shared_->notes;
    const auto found = std::find_if(notes.begin(), notes.end(),
                                    [&](const Note& n) { return has_same_target(n, note); });
    if (found == notes.end() && note.text.empty() && shared_->is_read) return;
    if (found == notes.end()) {
      notes.push_back(std::move(note));
    } else if (found->text == note.text) {
      return;
    } else {
      *found = std::move(note);
    }
    if (shared_->is_read) std::erase_if(notes, [](const Note& n) { return n.text.empty(); });
    ++shared_->revision;
  }
  background_.run([shared = shared_] { shared->write(); });
}

std::vector<Note> Notes::all() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->notes;
}

std::uint64_t Notes::revision() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->revision;
}

bool Notes::is_read() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->is_read;
}

std::string Notes::error() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->error;
}

}  // namespace reprise::viewer
