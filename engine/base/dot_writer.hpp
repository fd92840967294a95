// DotWriter: writes a graph in Graphviz's DOT language. Threads: one at a time.
#pragma once

#include <string>
#include <string_view>

namespace reprise::detail {

// Labels are any text; ids are words of DOT; attributes are in DOT's notation, "style=dashed,
// color=gray50", or empty.
class DotWriter {
 public:
  // `title` is shown above the graph; `nodes` are attributes of all its nodes.
  DotWriter(std::string_view name, std::string_view title, std::string_view nodes,
            std::string_view edges = {});

  void node(std::string_view id, std::string_view label, std::string_view attributes = {});
  // Without a label if `label` is empty.
  void edge(std::string_view from, std::string_view to, std::string_view label,
            std::string_view attributes = {});
  // A box around what is written until end_cluster(); boxes nest.
  void begin_cluster(std::string_view id, std::string_view label, std::string_view style,
                     std::string_view colour);
  void end_cluster();

  // The text of the graph, which takes nothing more.
  [[nodiscard]] std::string finish();

 private:
  void line(std::string_view text);

  std::string text_, indent_ = "  ";
};

}  // namespace reprise::detail
