// Notes: what people wrote about nodes and replays of a trace, in FILE.notes.json beside it, so
// that the trace itself stays as it is. Read and written in the background; what cannot be read is
// kept as it is, and nothing is written over it. Threads: the drawing thread's.
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
  enum class About : std::uint8_t { Node, Replay };
  model::GraphKey graph;
  About about = About::Node;
  std::uint64_t number = 0;  // of the node, or of the replay
  std::string name;          // of the node, for whoever reads the file
  std::string text;
  friend bool operator==(const Note&, const Note&) = default;
};

// As the file has them. parse_notes() throws std::runtime_error that says what is wrong.
[[nodiscard]] std::string notes_text(const std::vector<Note>& notes);
[[nodiscard]] std::vector<Note> parse_notes(const std::string& text);
[[nodiscard]] std::filesystem::path notes_path(const std::filesystem::path& trace);

class Notes {
 public:
  // Begins to read; a file that is not there is no error.
  Notes(const std::filesystem::path& trace, Background& background);

  [[nodiscard]] static bool can_have_one(const model::Selection& selection);
  // Empty: none.
  [[nodiscard]] std::string text_of(const model::Selection& selection) const;
  // Replaces the one there; an empty text removes it. `name`: of the node. Written soon.
  void set(const model::Selection& selection, std::string name, std::string text);

  [[nodiscard]] std::vector<Note> all() const;
  [[nodiscard]] std::uint64_t revision() const;  // another number, other notes
  [[nodiscard]] bool is_read() const;
  [[nodiscard]] std::string error()
      const;  // why they could not be read or written; empty: they could

 private:
  struct Shared;
  Background& background_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace reprise::viewer
