#include <memory>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/text.hpp"
#include "trace/live/session_directory.hpp"

namespace reprise::cli {

namespace {

using Sessions = std::vector<trace::LiveSession>;

void print(const Sessions& sessions) {
  if (sessions.empty()) {
    write_out(
        "No live sessions of this user on this machine. Start a program that uses Reprise with\n"
        "  REPRISE_TRACE=live ./program\n"
        "and view it with\n"
        "  reprise view\n");
    return;
  }
  Table table(5, {"pid", "application", "rank", "state", "socket"});
  bool stale = false;
  for (const trace::LiveSession& session : sessions) {
    table.add({std::to_string(session.pid), session.application,
               session.rank == trace::kNone ? "" : std::to_string(session.rank),
               session.alive ? "live" : "ended", session.path.string()});
    stale |= !session.alive;
  }
  table.remove_columns("");
  write_out("%s", table.text().c_str());
  if (stale) write_out("Run 'reprise sessions --clean' to remove the sockets of ended sessions.\n");
}

void print_json(const Sessions& sessions) {
  nlohmann::ordered_json json = {{"sessions", nlohmann::ordered_json::array()}};
  for (const trace::LiveSession& session : sessions) {
    json["sessions"].push_back({{"pid", session.pid},
                                {"application", session.application},
                                {"path", session.path.string()},
                                {"alive", session.alive}});
    if (session.rank != trace::kNone) {
      json["sessions"].back()["rank"] = session.rank;
      json["sessions"].back()["job"] = session.job;
    }
  }
  write_out("%s", json_text(json).c_str());
}

}  // namespace

Command add_sessions(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "sessions", "List live sessions: running programs that a viewer can connect to");
  struct SessionsOptions {
    bool json = false, clean = false;
  };
  auto options = std::make_shared<SessionsOptions>();
  app->add_flag("--json", options->json, "print JSON");
  app->add_flag("--clean", options->clean, "first remove stale sockets of ended programs");
  app->footer(
      "A program that uses Reprise accepts viewers if it runs with REPRISE_TRACE=live.\n"
      "Examples:\n  reprise sessions\n  reprise sessions --clean\n  reprise view \"$(reprise "
      "sessions --json | jq -r '.sessions[0].path')\"");
  return {app, [options] {
            if (options->clean) {
              const std::size_t removed = trace::remove_stale_sessions();
              if (!options->json)
                write_out("removed %s\n", counted(removed, "stale socket").c_str());
            }
            const Sessions sessions = trace::list_sessions();
            if (options->json) {
              print_json(sessions);
            } else {
              print(sessions);
            }
            return kDone;
          }};
}

}  // namespace reprise::cli
