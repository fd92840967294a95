// SourcePreview: the call stack and the source lines of a call site. Before it reads a file, it
// asks the user to allow a folder that contains it. Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/source_lines.hpp"
#include "panels/shared/async_value.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class SourcePreview {
 public:
  explicit SourcePreview(Background& background) : lines_(background) {}
  // A section of the inspector; nothing without a line.
  void draw(PanelContext& context, const model::SourceLocation& location);
  // And before it one with the call stack: `innermost` is the index of a frame of the shown graph;
  // trace::kNone: no section. A clicked frame's lines replace those of the location.
  void draw_stack(PanelContext& context, const model::SourceLocation& location,
                  std::uint32_t innermost);

 private:
  struct Key {
    model::SourceLocation location;
    std::vector<std::string> folders;
    friend bool operator==(const Key&, const Key&) = default;
  };
  void draw_permission(PanelContext& context, const model::SourceLocation& location);
  static void draw_lines(const Theme& theme, const model::SourceLines& lines, std::uint32_t line);

  AsyncValue<Key, model::SourceLines> lines_;
  std::string proposed_for_, folder_;  // the file that the proposed folder contains
  struct Shown {
    model::GraphKey graph;
    std::uint32_t innermost = trace::kNone, frame = trace::kNone;
  };
  Shown shown_;  // the clicked frame
};

}  // namespace reprise::viewer
