#include "panels/shared/notes.hpp"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/atomic_file.hpp"

namespace reprise::viewer {

namespace {

constexpr const char* kFormat = "reprise notes";
constexpr std::uintmax_t kMostBytes = 16u << 20;

// What a note on the selection is of; its text is empty.
bool note_of(const model::Selection& selection, Note& note) {
  if (const auto* node = std::get_if<model::SelectedNode>(&selection)) {
    note.graph = node->graph;
    note.about = Note::About::Node;
    note.number = node->node;
    return true;
  }
  if (const auto* replay = std::get_if<model::SelectedReplay>(&selection)) {
    note.graph = replay->graph;
    note.about = Note::About::Replay;
    note.number = replay->replay;
    return true;
  }
  return false;
}

bool is_same_place(const Note& a, const Note& b) {
  return a.graph == b.graph && a.about == b.about && a.number == b.number;
}

}  // namespace

struct Notes::Shared {
  mutable std::mutex mutex;  // of all below but `path` and `writing`
  std::filesystem::path path;
  std::mutex writing;  // one writes at a time; taken before `mutex`
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
    nlohmann::ordered_json one{{"graph", note.graph.graph}, {"version", note.graph.version}};
    one[note.about == Note::About::Node ? "node" : "replay"] = note.number;
    if (!note.name.empty()) one["name"] = note.name;
    one["text"] = note.text;
    list.push_back(std::move(one));
  }
  const nlohmann::ordered_json file{
      {"format", kFormat}, {"version", 1}, {"notes", std::move(list)}};
  return file.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<Note> parse_notes(const std::string& text) {
  std::vector<Note> notes;
  try {
    const nlohmann::json file = nlohmann::json::parse(text);
    if (file.value("format", "") != kFormat)
      throw std::runtime_error("these are no notes of a trace");
    if (file.at("version").get<int>() != 1)
      throw std::runtime_error("these notes are of a later version of this program");
    for (const nlohmann::json& one : file.at("notes")) {
      Note note;
      note.graph = {one.at("graph").get<std::uint32_t>(), one.at("version").get<std::uint32_t>()};
      const bool is_node = one.contains("node");
      note.about = is_node ? Note::About::Node : Note::About::Replay;
      note.number = one.at(is_node ? "node" : "replay").get<std::uint64_t>();
      if (is_node && note.number > 0xffffffffu)
        throw std::runtime_error("a note is on a node that no graph has");
      note.name = one.value("name", "");
      note.text = one.at("text").get<std::string>();
      notes.push_back(std::move(note));
    }
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(std::string("the notes cannot be read: ") + error.what());
  }
  return notes;
}

std::filesystem::path notes_path(const std::filesystem::path& trace) {
  return trace.string() + ".notes.json";
}

void Notes::Shared::read() {
  std::vector<Note> found;
  std::string why;
  bool readable = true;
  try {
    std::error_code none;
    if (std::filesystem::exists(path, none)) {
      if (std::filesystem::file_size(path) > kMostBytes)
        throw std::runtime_error(path.string() + " is larger than notes can be");
      std::ifstream stream(path, std::ios::binary);
      std::ostringstream text;
      text << stream.rdbuf();
      if (!stream) throw std::runtime_error("cannot read " + path.string());
      found = parse_notes(text.str());
    }
  } catch (const std::exception& failure) {
    why = failure.what();
    readable = false;
  }
  bool is_older = false;  // the file, than what was written meanwhile
  {
    const std::lock_guard lock(mutex);
    is_older = !notes.empty();
    for (Note& note : found) {
      if (std::none_of(notes.begin(), notes.end(),
                       [&](const Note& n) { return is_same_place(n, note); }))
        notes.push_back(std::move(note));
    }
    std::erase_if(notes, [](const Note& note) { return note.text.empty(); });
    is_read = true;
    may_write = readable;
    error = why;
    ++revision;
  }
  if (is_older) write();
}

void Notes::Shared::write() {
  const std::lock_guard one_at_a_time(writing);
  std::string text;
  std::uint64_t of = 0;
  {
    const std::lock_guard lock(mutex);
    if (!may_write || written == revision) return;
    of = revision;
    text = notes_text(notes);
  }
  std::string why;
  try {
    detail::write_file_atomically(path, text);
  } catch (const std::exception& failure) {
    why = failure.what();
  }
  const std::lock_guard lock(mutex);
  error = why;
  if (why.empty()) written = of;
}

Notes::Notes(const std::filesystem::path& trace, Background& background)
    : background_(background), shared_(std::make_shared<Shared>()) {
  shared_->path = notes_path(trace);
  background_.run([shared = shared_] { shared->read(); });
}

bool Notes::can_have_one(const model::Selection& selection) {
  Note note;
  return note_of(selection, note);
}

std::string Notes::text_of(const model::Selection& selection) const {
  Note place;
  if (!note_of(selection, place)) return {};
  const std::lock_guard lock(shared_->mutex);
  for (const Note& note : shared_->notes) {
    if (is_same_place(note, place)) return note.text;
  }
  return {};
}

void Notes::set(const model::Selection& selection, std::string name, std::string text) {
  Note note;
  if (!note_of(selection, note)) return;
  note.name = std::move(name);
  note.text = std::move(text);
  {
    const std::lock_guard lock(shared_->mutex);
    auto& notes = shared_->notes;
    const auto place = std::find_if(notes.begin(), notes.end(),
                                    [&](const Note& n) { return is_same_place(n, note); });
    if (place == notes.end() && note.text.empty() && shared_->is_read) return;
    if (place == notes.end()) {
      notes.push_back(std::move(note));
    } else if (place->text == note.text) {
      return;
    } else {
      *place = std::move(note);
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
