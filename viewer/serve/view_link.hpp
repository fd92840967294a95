// ViewLink: what a workspace shows as the text of a link: "graph=step&replay=120&view=timeline".
// Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "panels/workspace/workspace.hpp"

namespace reprise::viewer {

struct ViewLink {
  std::string graph;                    // its label; empty: not given
  std::optional<std::uint64_t> replay;  // empty: the newest
  std::optional<View> view;
  friend bool operator==(const ViewLink&, const ViewLink&) = default;
};

// Unknown and malformed parts are ignored.
[[nodiscard]] ViewLink parse_link(std::string_view text);
[[nodiscard]] std::string link_text(const ViewLink& link);

[[nodiscard]] ViewLink link_of(Workspace& workspace);
// Shows graph and replay. Returns why that is not possible; empty on success.
[[nodiscard]] std::string follow_link(const ViewLink& link, Workspace& workspace);

}  // namespace reprise::viewer
