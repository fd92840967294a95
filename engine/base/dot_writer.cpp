#include "base/dot_writer.hpp"

#include <utility>

#include "base/shown_text.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

constexpr std::string_view kFont = "fontname=\"sans-serif\"";

std::string after_comma(std::string_view attributes) {
  return attributes.empty() ? std::string() : concat(", ", attributes);
}

}  // namespace

DotWriter::DotWriter(std::string_view name, std::string_view title, std::string_view nodes,
                     std::string_view edges) {
  text_ = concat("digraph ", quote_text(name), " {\n");
  line(concat("graph [label=", quote_text(title), ", labelloc=t, ", kFont, "];"));
  line(concat("node [shape=box, ", nodes, ", ", kFont, ", fontsize=10];"));
  line(concat("edge [", kFont, ", fontsize=8", after_comma(edges), "];"));
}

void DotWriter::node(std::string_view id, std::string_view label, std::string_view attributes) {
  line(concat(id, " [label=", quote_text(label), after_comma(attributes), "];"));
}

void DotWriter::edge(std::string_view from, std::string_view to, std::string_view label,
                     std::string_view attributes) {
  std::string all(attributes);
  if (!label.empty()) all = concat("label=", quote_text(label), after_comma(attributes));
  line(concat(from, " -> ", to, all.empty() ? "" : concat(" [", all, ']'), ';'));
}

void DotWriter::begin_cluster(std::string_view id, std::string_view label, std::string_view style,
                              std::string_view colour) {
  line(concat("subgraph cluster_", id, " {"));
  indent_ += "  ";
  line(concat("label=", quote_text(label), "; style=", style, "; color=", colour, ';'));
}

void DotWriter::end_cluster() {
  indent_.resize(indent_.size() - 2);
  line("}");
}

std::string DotWriter::finish() { return std::move(text_) + "}\n"; }

void DotWriter::line(std::string_view text) { text_ += concat(indent_, text, '\n'); }

}  // namespace reprise::detail
