#include "serve/view_link.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>
#include <system_error>

namespace reprise::viewer {

namespace {

constexpr char kHexDigits[] = "0123456789ABCDEF";

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (is_plain) {
      out += c;
    } else {
      out += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
  return out;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    const bool is_code = text[i] == '%' && i + 2 < text.size() &&
                         std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    out += is_code ? static_cast<char>(byte) : text[i] == '+' ? ' ' : text[i];
    if (is_code) i += 2;
  }
  return out;
}

// The newest version of the label that has the replay, if one is given; the shown graph if it does.
std::optional<model::GraphKey> graph_of(const ViewLink& link, const model::Document& document,
                                        model::GraphKey shown) {
  const auto fits = [&](model::GraphKey key) {
    const model::GraphEntry* const entry = document.find(key);
    return entry && (link.graph.empty() || entry->graph->name() == link.graph) &&
           (!link.replay || document.find_replay(key, *link.replay));
  };
  if (fits(shown)) return shown;
  for (auto each = document.graphs.rbegin(); each != document.graphs.rend(); ++each) {
    if (fits(each->first)) return each->first;
  }
  return std::nullopt;
}

}  // namespace

ViewLink parse_link(std::string_view text) {
  ViewLink link;
  std::istringstream parts{std::string(text)};
  for (std::string part; std::getline(parts, part, '&');) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = part.substr(0, equals), value = decoded(part.substr(equals + 1));
    if (name == "graph") link.graph = value;
    if (name == "view") link.view = view_named(value);
    std::uint64_t number = 0;
    const char* const last = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), last, number);
    if (name == "replay" && error == std::errc() && stop == last) link.replay = number;
  }
  return link;
}

std::string link_text(const ViewLink& link) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!text.empty()) text += '&';
    text.append(name).append("=").append(encoded(value));
  };
  if (!link.graph.empty()) add("graph", link.graph);
  if (link.replay) add("replay", std::to_string(*link.replay));
  for (const ViewDesc& each : kViews) {
    if (link.view == each.view) add("view", each.name);
  }
  return text;
}

ViewLink link_of(Workspace& workspace) {
  const ViewState& view = workspace.view();
  ViewLink link{.graph = {}, .replay = view.replay, .view = view.front};
  const auto document = workspace.feed().document();
  if (const model::GraphEntry* entry = document->find(view.graph))
    link.graph = entry->graph->name();
  return link;
}

std::string follow_link(const ViewLink& link, Workspace& workspace) {
  const auto document = workspace.feed().document();
  const auto key = graph_of(link, *document, workspace.view().graph);
  const std::string replay = link.replay ? "replay " + std::to_string(*link.replay) : "";
  if (!key)
    return "The trace has no " +
           (link.graph.empty() ? replay
                               : "graph " + link.graph + (replay.empty() ? "" : " with " + replay));
  workspace.view().show_graph(*key);
  workspace.view().replay = link.replay;
  return {};
}

}  // namespace reprise::viewer
