#include "faults/fault_report.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/kernel_name.hpp"
#include "base/text.hpp"
#include "faults/candidates.hpp"

namespace reprise::faults {

namespace {

constexpr std::size_t kMaxLines = 8;  // of candidates, and of kernels; the rest is counted

std::string position(const Extent& at) {
  return detail::concat("(", at[0], ", ", at[1], ", ", at[2], ")");
}
std::string size(const Extent& of) { return detail::concat(of[0], " x ", of[1], " x ", of[2]); }

std::string source_of(const std::string& file, std::uint32_t line) {
  return file.empty() || line == 0 ? std::string() : detail::concat(file, ":", line);
}

std::string label_of(const trace::GraphVersion& graph, std::uint32_t label) {
  std::string path;
  for (; label != 0 && label < graph.labels.size(); label = graph.labels[label].parent) {
    const std::string& name = graph.strings[graph.labels[label].name];
    path = path.empty() ? name : detail::concat(name, " / ", path);
    if (graph.labels[label].parent >= label) break;
  }
  return path;
}

std::string replays_of(const Candidate& one) {
  if (one.last_replay == 0) return "all recorded replays had ended";
  if (one.first_replay == one.last_replay) return detail::concat("replay ", one.last_replay);
  return detail::concat("one of the replays ", one.first_replay, " to ", one.last_replay,
                        ", which were all launched");
}

std::string node_text(const Candidate& one, const TraceFacts& facts) {
  const trace::GraphVersion& graph = facts.graphs.at(one.graph);
  const trace::Node& node = graph.nodes[one.node];
  std::string text = detail::concat("node ", one.node, " ", graph.strings[node.name]);
  const std::string label = label_of(graph, node.label),
                    source = source_of(graph.strings[node.file], node.line);
  if (!label.empty()) text += detail::concat(" [", label, "]");
  if (!source.empty()) text += detail::concat(" at ", source);
  text += detail::concat(" of graph ", one.graph, " \"", graph.label, "\", ", replays_of(one));
  switch (one.parameters) {
    case Candidate::Parameters::Equal: text += ", same parameters"; break;
    case Candidate::Parameters::Different: text += ", other parameters"; break;
    case Candidate::Parameters::Unknown: break;
  }
  return text;
}

class Reporter {
 public:
  Reporter(const char* id, const TraceFacts& facts) : id_(id), facts_(facts) {}

  // `what` happened to a kernel, which `grid` runs.
  void add(const std::string& what, const DumpedGrid& grid) {
    first_.reset();
    line(what);
    if (grid.grid[0] != 0)
      line(detail::concat("  grid ", size(grid.grid), ", block ", size(grid.block), ", device ",
                          grid.device));
    const Candidates found = find_candidates(grid, facts_);
    if (found.nodes.empty()) {
      line(facts_.graphs.empty()
               ? "  no graph was recorded, so its node is unknown"
               : "  no node of the recorded graphs has this kernel, grid and block: it ran outside "
                 "them");
      return message(trace::Severity::Error, what, nullptr);
    }
    for (std::size_t i = 0; i < std::min(found.nodes.size(), kMaxLines); ++i) {
      const std::string text = node_text(found.nodes[i], facts_);
      line(detail::concat(i == 0 ? "  " : "  or ", text));
      message(i == 0 ? trace::Severity::Error : trace::Severity::Warning,
              i == 0 ? detail::concat(what, "; ", text) : detail::concat("or ", text),
              &found.nodes[i]);
    }
    if (found.nodes.size() > kMaxLines)
      line(detail::concat("  or one of ", found.nodes.size() - kMaxLines, " further nodes"));
    if (found.excluded != 0)
      line(detail::concat("  ", found.excluded, found.excluded == 1 ? " node" : " nodes",
                          " with the same kernel and other parameters excluded"));
    first_ = found.nodes.front();
  }

  void add_unfinished() {
    if (!first_) return;
    const trace::GraphVersion& graph = facts_.graphs.at(first_->graph);
    const std::vector<std::uint32_t> after = successors(graph, first_->node);
    if (after.empty()) return;
    std::string text = detail::concat("  waiting for it: ", after.size(),
                                      after.size() == 1 ? " node: " : " nodes: ");
    for (std::size_t i = 0; i < std::min(after.size(), kMaxLines); ++i)
      text += detail::concat(i == 0 ? "" : ", ", after[i], " ",
                             graph.strings[graph.nodes[after[i]].name]);
    if (after.size() > kMaxLines) text += ", ...";
    line(text);
  }

  void line(std::string text) { report_.lines.push_back(std::move(text)); }
  FaultReport take() { return std::move(report_); }

 private:
  void message(trace::Severity severity, std::string text, const Candidate* about) {
    trace::Message message{facts_.last, severity, id_, std::move(text)};
    if (about != nullptr) {
      const trace::GraphVersion& graph = facts_.graphs.at(about->graph);
      message.graph = about->graph;
      message.version = graph.version;
      message.command = graph.nodes[about->node].command;
    }
    report_.messages.push_back(std::move(message));
  }

  const char* id_;
  const TraceFacts& facts_;
  std::optional<Candidate> first_;  // of the last kernel
  FaultReport report_;
};

std::string kernel_text(const std::string& name) {
  return name.empty() ? "unnamed kernel" : detail::short_kernel_name(name);
}

std::string fault_text(const DumpedException& one, const std::string& kernel, std::size_t warps) {
  std::string text =
      detail::concat("fault: ", exception_name(one.code), " in ", kernel_text(kernel));
  if (!one.function.empty() && one.function != kernel)
    text += detail::concat(", function ", detail::readable_kernel_name(one.function));
  if (const std::string source = source_of(one.file, one.line); !source.empty())
    text += detail::concat(" at ", source);
  if (one.block) text += detail::concat(", block ", position(*one.block));
  if (one.thread)
    text +=
        detail::concat(one.threads == 1 ? ", thread " : ", warp of thread ", position(*one.thread));
  if (warps > 1)
    text += detail::concat(", and in ", warps - 1, warps == 2 ? " other warp" : " other warps");
  return text;
}

FaultReport report_faults(const CoreDump& dump, const TraceFacts& facts) {
  Reporter reporter(kFaultMessage, facts);
  std::vector<std::pair<DumpedException, std::size_t>> kernels;  // the first of each, and the warps
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> known;
  for (const DumpedException& one : dump.exceptions) {
    const auto [at, is_new] =
        known.emplace(std::tuple(one.device, one.grid, one.code), kernels.size());
    if (is_new) {
      kernels.emplace_back(one, 1);
      continue;
    }
    auto& [first, warps] = kernels[at->second];
    ++warps;
    if (std::tuple(one.block, one.thread) < std::tuple(first.block, first.thread)) first = one;
  }
  const std::size_t further = kernels.size() - std::min(kernels.size(), kMaxLines);
  kernels.resize(kernels.size() - further);
  for (const auto& [one, warps] : kernels) {
    DumpedGrid grid;
    if (one.grid != kNoGrid) {
      grid = dump.grids[one.grid];
    } else {
      // The blocks have ended: the grid is one with the function, if it is still there.
      const auto same = std::find_if(dump.grids.begin(), dump.grids.end(), [&](const auto& g) {
        return g.device == one.device && !g.kernel.empty() && g.kernel == one.function;
      });
      if (same != dump.grids.end()) {
        grid = *same;
      } else if (!one.function.empty()) {
        grid.device = one.device;
        grid.kernel = one.function;
      } else {
        reporter.line(fault_text(one, {}, warps));
        reporter.line("  its kernel is not in the dump, so its node is unknown");
        continue;
      }
    }
    reporter.add(fault_text(one, grid.kernel.empty() ? one.function : grid.kernel, warps), grid);
  }
  if (further != 0) reporter.line(detail::concat("fault: ", further, " further kernels faulted"));
  return reporter.take();
}

FaultReport report_hang(const CoreDump& dump, const TraceFacts& facts) {
  Reporter reporter(kHangMessage, facts);
  std::size_t running = 0;
  for (const DumpedGrid& grid : dump.grids) {
    if (grid.blocks == 0) continue;
    if (++running > kMaxLines) continue;
    std::string what = detail::concat("hang: ", kernel_text(grid.kernel), " runs: ", grid.blocks,
                                      grid.blocks == 1 ? " block" : " blocks", " on the GPU");
    if (grid.first_block) what += detail::concat(", one is ", position(*grid.first_block));
    reporter.add(what, grid);
    reporter.add_unfinished();
  }
  if (running > kMaxLines)
    reporter.line(detail::concat("hang: ", running - kMaxLines, " further kernels run"));
  if (running == 0) reporter.line("hang: no kernel runs on the GPU");
  return reporter.take();
}

}  // namespace

FaultReport report_dump(const CoreDump& dump, const TraceFacts& facts) {
  return dump.exceptions.empty() ? report_hang(dump, facts) : report_faults(dump, facts);
}

}  // namespace reprise::faults
