#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/attach.hpp"
#include "cli/commands.hpp"
#include "cli/merge_report.hpp"
#include "cli/number.hpp"
#include "cli/served_viewer.hpp"
#include "cli/text.hpp"
#include "cli/viewer_modules.hpp"

namespace reprise::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kListedTraces = 20;  // of a folder, newest first
constexpr std::uint32_t kMaxClients = 1000;

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> out;
  for (const std::string& text : texts) out.push_back(text.c_str());
  out.push_back(nullptr);
  return out;
}

void add_traces_of(const fs::path& folder, std::vector<std::string>& traces) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->path().extension() == ".reprise" && at->is_regular_file(ignored))
      found.emplace_back(at->last_write_time(ignored), at->path().string());
  }
  if (error) throw std::runtime_error("cannot read " + folder.string() + ": " + error.message());
  std::sort(found.rbegin(), found.rend());
  for (const auto& [time, path] : found) {
    if (traces.size() < kListedTraces) traces.push_back(path);
  }
}

// Separates folders from what is opened, and checks that it exists.
void sort_targets(ServedViewer& viewer, std::vector<std::string>& allowed,
                  std::vector<std::string>& traces) {
  std::vector<std::string> opened;
  for (const std::string& target : viewer.targets) {
    std::error_code ignored;
    const fs::file_status status = fs::status(target, ignored);
    if (fs::is_directory(status)) {
      allowed.push_back(fs::absolute(target).string());
      add_traces_of(fs::absolute(target), traces);
    } else if (fs::exists(status)) {
      opened.push_back(fs::absolute(target).string());
      if (!fs::is_socket(status)) {
        allowed.push_back(opened.back());
        traces.push_back(opened.back());
      }
    } else {
      if (fs::path(target).extension() == ".reprise" || target.find('/') != std::string::npos)
        throw std::runtime_error(target + ": no such file");
      opened.push_back(find_session(target));
    }
  }
  viewer.targets = std::move(opened);
}

}  // namespace

int serve_viewer(ServedViewer viewer) {
  for (const std::string& folder : viewer.allowed_folders) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored))
      throw std::runtime_error("--allow-folder: " + folder + " is not a folder");
  }
  if (viewer.token.empty()) {
    if (const char* token = ::secure_getenv("REPRISE_TOKEN")) viewer.token = token;
  }
  const ServeModule module;
  std::vector<std::string> allowed = viewer.allowed_folders, traces;
  sort_targets(viewer, allowed, traces);
  const auto merged = merge_ranks(viewer.targets);
  if (merged) allowed.push_back(merged->path().string());
  viewer.targets.resize(2);
  const std::vector<const char*> allowed_list = pointers(allowed), trace_list = pointers(traces),
                                 host_list = pointers(viewer.hosts);
  RepriseServeRequest request{};
  request.target = or_null(viewer.targets[0]);
  request.other = or_null(viewer.targets[1]);
  request.token = or_null(viewer.token);
  request.traces = trace_list.data();
  request.allowed = allowed_list.data();
  request.hosts = host_list.data();
  request.address = viewer.address.c_str();
  request.port = viewer.port;
  request.max_clients = viewer.max_clients;
  request.read_only = viewer.read_only ? 1 : 0;
  request.opens_browser = viewer.opens_browser ? 1 : 0;
  request.print_link = [](const char* link) {
    write_out("%s\n", link);
    std::fflush(nullptr);  // a script may wait for the line
  };
  module.serve(request);
  return kDone;
}

Command add_serve(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "serve", "Show the viewer in browsers, of this machine or over a forwarded port");
  auto viewer = std::make_shared<ServedViewer>();
  app->add_option(
      "TRACES", viewer->targets,
      "trace files, a live session (socket, process id or name; see reprise sessions), "
      "host:port, or folders of traces; two files are compared, but traces of the ranks "
      "of one job are merged; default: a start page with the live sessions");
  app->add_option("--port", viewer->port, "port, or the next free one; 0: any")
      ->check(number<std::uint16_t>())
      ->capture_default_str();
  app->add_option("--address", viewer->address,
                  "address to listen on; others than loopback have no encryption: leave TLS to a "
                  "proxy")
      ->capture_default_str();
  app->add_option("--allow-host", viewer->hosts,
                  "further name of this server in a browser's address bar, such as a proxy's")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app->add_option("--allow-folder", viewer->allowed_folders,
                  "further folder whose traces and sources browsers may read")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app->add_flag("--read-only", viewer->read_only,
                "for sharing: browsers start no programs, change no profile mode or note, record "
                "nothing, and open only the given traces and live sessions");
  app->add_option("--max-clients", viewer->max_clients, "browsers at the same time")
      ->check(number<std::uint32_t>(1, kMaxClients))
      ->capture_default_str();
  app->add_option("--token", viewer->token,
                  "token of the session at host:port; default: $REPRISE_TOKEN");
  app->footer(
      "Prints the link, which contains the access token. Forward the port to your machine, and "
      "open the link there:\n  ssh -L 8321:127.0.0.1:8321 gpu-box reprise serve run.reprise\n"
      "Stop it with Ctrl+C.\n"
      "Examples:\n  reprise serve\n  reprise serve run.reprise\n  reprise serve traces/ "
      "--read-only\n  reprise serve before.reprise after.reprise\n"
      "  REPRISE_TRACE=live ./server & reprise serve server");
  return {app, [viewer] { return serve_viewer(*viewer); }};
}

}  // namespace reprise::cli
