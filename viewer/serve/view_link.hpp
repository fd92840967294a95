// ViewLink: what a workspace shows as the text of a link: "graph=step&replay=120&view=timeline". A
// server of several traces names the shown one, relative to what it serves:
// "trace=ranks/0.reprise". Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "panels/workspace/workspace.hpp"
#include "serve/serve_desc.hpp"

namespace reprise::viewer {

struct ViewLink {
  std::string trace = {};                    // empty: not given
  std::string graph = {};                    // its label; empty: not given
  std::optional<std::uint64_t> replay = {};  // empty: the newest
  std::optional<View> view = {};
  friend bool operator==(const ViewLink&, const ViewLink&) = default;
};

// The link of a state in a message, and back: {"graph": "step", "replay": "120", "view":
// "timeline"}. Unknown and malformed members are ignored. Throws nlohmann::json::exception for
// other types.
[[nodiscard]] ViewLink link_of(const nlohmann::ordered_json& state);
[[nodiscard]] nlohmann::ordered_json state_of(const ViewLink& link);

// The name of a trace in links, and the trace of a name. Both are empty for a trace without a name,
// such as an uploaded one. The trace may be one that is not allowed.
[[nodiscard]] std::string trace_of_target(const std::string& target, const ServeDesc& desc);
[[nodiscard]] std::string target_of_trace(const std::string& trace, const ServeDesc& desc);

[[nodiscard]] ViewLink link_of(Workspace& workspace, const std::string& trace);
// Shows graph and replay. Returns why that is not possible; empty on success.
[[nodiscard]] std::string follow_link(const ViewLink& link, Workspace& workspace);

}  // namespace reprise::viewer
