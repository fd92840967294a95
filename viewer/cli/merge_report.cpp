#include "cli/merge_report.hpp"

#include <algorithm>
#include <set>

#include "cli/progress_line.hpp"
#include "cli/text.hpp"
#include "trace/trace_error.hpp"

namespace reprise::cli {

trace::MergeReport merge_with_progress(const std::vector<std::string>& inputs,
                                       const std::string& output) {
  trace::MergeDesc desc{.inputs = {inputs.begin(), inputs.end()}, .output = output};
  trace::MergeReport report = [&] {
    ProgressLine line("merging " + counted(inputs.size(), "trace"));
    desc.progress = [&](std::uint64_t done, std::uint64_t total) { line.update(done, total); };
    return trace::merge_traces(desc);
  }();
  for (const std::string& warning : report.warnings) print_message(warning);
  return report;
}

std::unique_ptr<model::MergedTraceFile> merge_ranks(std::vector<std::string>& targets) {
  if (targets.size() < 2) return nullptr;
  auto merged = std::make_unique<model::MergedTraceFile>(targets.front());
  try {
    merge_with_progress(targets, merged->path());
  } catch (const trace::TraceError&) {
    if (targets.size() > 2) throw;
    return nullptr;
  }
  targets = {merged->path().string()};
  return merged;
}

std::string alignment_text(const std::vector<trace::Session>& sessions,
                           const std::vector<trace::ClockAlignment>& alignments) {
  std::set<std::string> hosts, clocks;
  std::uint64_t exchanges = 0, collectives = 0, unknown = 0;
  trace::Time error = 0;
  for (const trace::ClockAlignment& a : alignments) {
    const trace::Session& session = sessions[a.session];
    hosts.insert(session.host);
    if (a.error >= trace::kUnknownError) {
      ++unknown;
      continue;
    }
    error = std::max(error, a.error);
    collectives = std::max(collectives, a.collectives);
    // Sessions of one clock have the same exchanges.
    if (session.clock.empty() || clocks.insert(session.clock).second) exchanges += a.exchanges;
  }
  std::string text = counted(sessions.size(), "rank") + " on " +
                     (hosts.size() == 1 ? std::string("one host") : counted(hosts.size(), "host"));
  if (sessions.size() == 1) return text;
  const std::string reference = "rank " + std::to_string(sessions.front().rank);
  if (exchanges + collectives + unknown == 0) return text + " share a clock";
  if (exchanges + collectives != 0) {
    text +=
        ", aligned to " + reference + " within " + duration(static_cast<double>(error)) + " by ";
    if (exchanges == 0) {
      text += "the ends of " + counted(collectives, "collective") + " alone";
    } else {
      text += counted(exchanges, "exchange");
      if (collectives != 0) text += " and " + counted(collectives, "collective");
    }
  }
  if (unknown != 0) text += ", " + counted(unknown, "rank") + " by UTC with an unknown error";
  return text;
}

}  // namespace reprise::cli
