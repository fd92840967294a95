// Notes: user annotations on nodes, replays and spans of the timeline of a trace, stored in
// TRACE.notes.json next to the trace. They also serve as bookmarks. The trace file is never
// modified. File access runs on a worker; a file that cannot be parsed is never overwritten.
// Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "model/selection.hpp"
#include "panels/shared/async_value.hpp"

namespace reprise::viewer {

struct Note {
  enum class Target : std::uint8_t { Node, Replay, Span };
  model::GraphKey graph = {};  // of a node or replay
  Target target = Target::Node;
  std::uint64_t number = 0;  // node index or replay number
  std::string name = {};     // of the target, for human readers of the file
  std::string text = {};
  model::SelectedSpan span = {};  // of Target::Span
  friend bool operator==(const Note&, const Note&) = default;
};

// Format and parse the notes file. parse_notes() throws std::runtime_error on malformed input.
[[nodiscard]] std::string notes_text(const std::vector<Note>& notes);
[[nodiscard]] std::vector<Note> parse_notes(const std::string& text);
[[nodiscard]] std::filesystem::path notes_path(const std::filesystem::path& trace);

// Read: set() changes what is shown, but no file.
enum class NotesUse : std::uint8_t { Edit, Read };

class Notes {
 public:
  // Starts reading the file. A missing file is not an error.
  Notes(const std::filesystem::path& trace, Background& background, NotesUse use = NotesUse::Edit);

  [[nodiscard]] static bool can_have_one(const model::Selection& selection);
  // The note on the selection; empty if it has none.
  [[nodiscard]] std::string text_of(const model::Selection& selection) const;
  // Sets the note on the selection; an empty text removes it. `name` is the target's name. The file
  // is written asynchronously.
  void set(const model::Selection& selection, std::string name, std::string text);

  [[nodiscard]] std::vector<Note> all() const;
  [[nodiscard]] std::uint64_t revision() const;  // changes whenever all() changes
  [[nodiscard]] bool is_read() const;
  // The error of the last read or write; empty if it succeeded.
  [[nodiscard]] std::string error() const;

 private:
  struct Shared;
  Background& background_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace reprise::viewer
