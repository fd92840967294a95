#include "cli/rank_stats.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cli/text.hpp"
#include "model/late_command.hpp"
#include "trace/record_names.hpp"

namespace reprise::cli {

namespace {

using model::CollectiveRank;
using model::CollectiveSummary;
using model::RankSummary;
using trace::kNone;
using trace::kUnknownError;
using trace::Time;

constexpr const char* kNothing = "-";

std::string rank_label(const model::Document& document, std::uint32_t session) {
  std::string name = document.rank_name(session);
  if (session >= document.sessions->size()) return name;
  const trace::Session& s = (*document.sessions)[session];
  if (name.empty()) name = "process";
  return s.host.empty() ? name : name + " on " + printable(s.host);
}

double fraction_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<const trace::Message*> merge_warnings(const model::Document& document) {
  std::vector<const trace::Message*> warnings;
  for (const trace::Message& m : document.messages) {
    if (m.id.starts_with("merge.")) warnings.push_back(&m);
  }
  return warnings;
}

// "~12.300" if the clocks cannot distinguish the time from 0.
std::string wait_text(double ns, Time error) {
  return (ns != 0 && ns <= static_cast<double>(error) ? "~" : "") + microseconds(ns);
}

void print_clock(const Stats& stats) {
  const model::Document& document = *stats.document;
  if (!document.has_ranks()) return;
  const model::RankClocks clocks(document);
  const std::string reference = printable(document.rank_name(clocks.reference()));
  Time error = 0;
  std::uint64_t unknown = 0;
  for (std::uint32_t s = 0; s < document.sessions->size(); ++s) {
    const Time of_session = clocks.error(s);
    unknown += of_session == kUnknownError ? 1 : 0;
    if (of_session != kUnknownError) error = std::max(error, of_session);
  }
  write_out("  times are on the clock of %s, within %s", reference.c_str(),
            duration(static_cast<double>(error)).c_str());
  if (unknown != 0) write_out("; %s without a bound", counted(unknown, "rank").c_str());
  write_out("\n");
}

void add_rank(Table& table, const std::string& label, const RankSummary& r) {
  const double replays = static_cast<double>(std::max<std::uint64_t>(1, r.replays));
  table.add({label, microseconds(r.exposed / replays), microseconds(r.overlapped / replays),
             r.executions == 0 ? kNothing : microseconds(r.waited / replays),
             r.executions == 0 ? kNothing : percent(fraction_of(r.last, r.executions)),
             r.executions == 0 ? kNothing : percent(fraction_of(r.certainly_last, r.executions)),
             r.executions == 0 ? kNothing : microseconds(r.caused / replays)});
}

void print_rank_table(const Stats& stats, const StatsOptions& options) {
  const auto& ranks = stats.ranks.ranks;
  std::vector<std::uint32_t> order(ranks.size());
  std::iota(order.begin(), order.end(), 0u);
  const std::size_t shown = options.top == 0 ? order.size() : std::min(kMaxRanks, order.size());
  if (shown < order.size()) {
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return ranks[a].caused > ranks[b].caused;
    });
  }
  Table table(1, {"per replay", "exposed us", "overlapped us", "waited us", "last", "certainly",
                  "others waited us"});
  RankSummary others;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const RankSummary& r = ranks[order[i]];
    if (i < shown) {
      add_rank(table, rank_label(*stats.document, order[i]), r);
      continue;
    }
    others.replays += r.replays;
    others.exposed += r.exposed;
    others.overlapped += r.overlapped;
    others.executions = std::max(others.executions, r.executions);
    others.last += r.last;
    others.certainly_last += r.certainly_last;
    others.waited += r.waited;
    others.caused += r.caused;
  }
  if (shown < order.size()) add_rank(table, counted(order.size() - shown, "other rank"), others);
  table.remove_columns(kNothing);
  write_out("%s", table.text().c_str());
  if (stats.ranks.worst == kNone) return;
  const RankSummary& worst = ranks[stats.ranks.worst];
  write_out("  %s arrived last in %s of collectives, others waited %s in total\n",
            stats.document->rank_name(stats.ranks.worst).c_str(),
            percent(fraction_of(worst.last, worst.executions)).c_str(),
            duration(worst.caused).c_str());
}

// "forward +20.100" if the rank is last in most executions.
std::string late_command_text(const model::Document& document, const CollectiveSummary& c) {
  if (!c.has_late_rank()) return kNothing;
  const model::LateCommand late = model::late_command(document, c, c.last);
  if (late.node == kNone) return kNothing;
  return document.find(c.ranks[c.last].graph)->graph->node_name(late.node) + " +" +
         microseconds(static_cast<double>(late.excess()));
}

void print_collectives(const Stats& stats, const StatsOptions& options) {
  const auto& collectives = stats.ranks.collectives;
  const Time error = stats.ranks.max_error;
  Table table(4, {"node", "collective", "graph", "late command us", "executions", "last", "",
                  "wait us", "p99 us", "transfer us", "p99 us"});
  const std::size_t shown = options.limit(collectives.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const CollectiveSummary& c = collectives[i];
    const CollectiveRank* last = c.last == kNone ? nullptr : &c.ranks[c.last];
    const auto wait = [&](Time t) {
      return c.has_waits() ? wait_text(static_cast<double>(t), error) : kNothing;
    };
    const auto transfer = [&](Time t) {
      return c.has_waits() ? microseconds(static_cast<double>(t)) : kNothing;
    };
    table.add({std::to_string(c.node), c.name, c.graph, late_command_text(*stats.document, c),
               with_separators(c.executions),
               last == nullptr ? kNothing
                               : (last->certainly_last * 2 < last->last ? "~" : "") +
                                     stats.document->rank_name(last->session),
               last == nullptr ? kNothing : percent(fraction_of(last->last, c.executions)),
               wait(c.wait.median), wait(c.wait.p99), transfer(c.transfer.median),
               transfer(c.transfer.p99)});
  }
  if (table.empty()) return;
  table.remove_columns(kNothing);
  write_out("\nCollectives\n%s", table.text().c_str());
  if (shown < collectives.size())
    write_out("  ... %s more; --top 0 prints all\n",
              counted(collectives.size() - shown, "collective").c_str());
  std::uint64_t incomplete = 0;
  for (const CollectiveSummary& c : collectives) incomplete += c.incomplete;
  if (incomplete != 0)
    write_out("  %s lack the times of a rank\n", counted(incomplete, "execution").c_str());
  if (error == kUnknownError) {
    write_out("  ~: the clocks of the ranks have no error bound\n");
  } else if (error != 0) {
    write_out("  ~: within the error of the clocks, up to %s between two ranks\n",
              duration(static_cast<double>(error)).c_str());
  }
}

nlohmann::ordered_json error_json(Time error) {
  return error == kUnknownError ? nlohmann::ordered_json() : nlohmann::ordered_json(error);
}

nlohmann::ordered_json duration_json(const model::DurationSummary& s) {
  return {{"count", s.count},
          {"median_ns", s.median},
          {"p99_ns", s.p99},
          {"max_ns", s.max},
          {"total_ns", s.total}};
}

nlohmann::ordered_json collective_json(const model::Document& document,
                                       const CollectiveSummary& c) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (const CollectiveRank& r : c.ranks) {
    ranks.push_back({{"session", r.session},
                     {"graph", r.graph.graph},
                     {"version", r.graph.version},
                     {"last", r.last},
                     {"certainly_last", r.certainly_last},
                     {"others_waited_ns", r.caused},
                     {"wait", duration_json(r.wait)}});
  }
  nlohmann::ordered_json late, last;
  if (c.last != kNone) last = c.ranks[c.last].session;
  if (const model::LateCommand command =
          c.has_late_rank() ? model::late_command(document, c, c.last) : model::LateCommand{};
      command.node != kNone) {
    late = {{"node", command.node},
            {"name", document.find(c.ranks[c.last].graph)->graph->node_name(command.node)},
            {"median_ns", command.duration},
            {"others_median_ns", command.median}};
  }
  return {{"communicator", hex(c.id.communicator)},
          {"number", c.id.number},
          {"index", c.id.index},
          {"node", c.node},
          {"name", c.name},
          {"graph", c.graph},
          {"kind", trace::collective_kind_name(c.kind)},
          {"executions", c.executions},
          {"incomplete", c.incomplete},
          {"last_session", std::move(last)},
          {"late_command", std::move(late)},
          {"wait", duration_json(c.wait)},
          {"transfer", duration_json(c.transfer)},
          {"ranks", std::move(ranks)}};
}

}  // namespace

bool has_rank_stats(const model::Document& document) {
  return document.has_ranks() ||
         std::any_of(document.graphs.begin(), document.graphs.end(),
                     [](const auto& graph) { return !graph.second.communication.empty(); });
}

void print_ranks(const Stats& stats, const StatsOptions& options) {
  if (!has_rank_stats(*stats.document)) return;
  write_out("\nCommunication of ranks\n");
  print_clock(stats);
  for (const trace::Message* m : merge_warnings(*stats.document))
    write_out("  %s: %s\n", trace::severity_name(m->severity), printable(m->text).c_str());
  print_rank_table(stats, options);
  print_collectives(stats, options);
}

nlohmann::ordered_json json_of_ranks(const Stats& stats) {
  const model::Document& document = *stats.document;
  const model::RankClocks clocks(document);
  nlohmann::ordered_json warnings = nlohmann::ordered_json::array(), alignments = warnings,
                         ranks = warnings, collectives = warnings;
  for (const trace::Message* m : merge_warnings(document)) warnings.push_back(m->text);
  for (const auto& [session, a] : *document.alignments) {
    alignments.push_back({{"session", session},
                          {"offset_ns", a.offset},
                          {"drift", a.drift},
                          {"error_ns", error_json(a.error)},
                          {"exchanges", a.exchanges},
                          {"collectives", a.collectives}});
  }
  for (std::uint32_t s = 0; s < stats.ranks.ranks.size(); ++s) {
    const RankSummary& r = stats.ranks.ranks[s];
    ranks.push_back({{"session", s},
                     {"name", document.rank_name(s)},
                     {"sampled_replays", r.replays},
                     {"exposed_ns", r.exposed},
                     {"overlapped_ns", r.overlapped},
                     {"exposed_per_replay", duration_json(r.exposed_per_replay)},
                     {"overlapped_per_replay", duration_json(r.overlapped_per_replay)},
                     {"executions", r.executions},
                     {"last", r.last},
                     {"certainly_last", r.certainly_last},
                     {"waited_ns", r.waited},
                     {"others_waited_ns", r.caused}});
  }
  for (const CollectiveSummary& c : stats.ranks.collectives)
    collectives.push_back(collective_json(document, c));
  return {{"reference_session", clocks.reference()},
          {"max_error_ns", error_json(stats.ranks.max_error)},
          {"clock_alignments", std::move(alignments)},
          {"warnings", std::move(warnings)},
          {"ranks", std::move(ranks)},
          {"collectives", std::move(collectives)}};
}

}  // namespace reprise::cli
