#include "serve/view_link.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <nlohmann/json.hpp>

#include "model/allowed_paths.hpp"

namespace reprise::viewer {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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

ViewLink link_of(const Json& state) {
  const auto text = [&](const char* name) { return state.value(name, std::string()); };
  ViewLink link{.trace = text("trace"), .graph = text("graph"), .view = view_named(text("view"))};
  const std::string replay = text("replay");
  const char* const last = replay.data() + replay.size();
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(replay.data(), last, number);
  if (error == std::errc() && stop == last) link.replay = number;
  return link;
}

Json state_of(const ViewLink& link) {
  Json state = Json::object();
  if (!link.trace.empty()) state["trace"] = link.trace;
  if (!link.graph.empty()) state["graph"] = link.graph;
  if (link.replay) state["replay"] = std::to_string(*link.replay);
  for (const ViewDesc& each : kViews) {
    if (link.view == each.view) state["view"] = each.name;
  }
  return state;
}

std::string trace_of_target(const std::string& target, const ServeDesc& desc) {
  std::error_code ignored;
  if (desc.allowed.size() <= 1 && target == desc.target.target) return {};  // there is no other
  if (fs::is_socket(target, ignored)) return target;
  for (const fs::path& served : desc.allowed) {
    const fs::path relative = fs::relative(target, served, ignored);
    if (relative.empty() || *relative.begin() == "..") continue;
    const std::string name = (relative == "." ? served.filename() : relative).string();
    return fs::equivalent(target_of_trace(name, desc), target, ignored) ? name : target;
  }
  return {};
}

std::string target_of_trace(const std::string& trace, const ServeDesc& desc) {
  const model::AllowedPaths allowed(desc.allowed);
  for (const fs::path& served : desc.allowed) {
    const fs::path path = served.filename() == trace ? served : served / trace;
    std::error_code ignored;
    if (allowed.contains(path) && fs::is_regular_file(path, ignored)) return path.string();
  }
  return trace;
}

ViewLink link_of(Workspace& workspace, const std::string& trace) {
  const ViewState& view = workspace.view();
  ViewLink link{.trace = trace, .replay = view.replay, .view = view.front};
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
