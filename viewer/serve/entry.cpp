#include "serve/entry.hpp"

#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "application/quit_signals.hpp"
#include "base/atomic_file.hpp"
#include "base/shown_text.hpp"
#include "serve/request_checks.hpp"
#include "serve/viewer_server.hpp"

namespace reprise::viewer {

namespace {

namespace fs = std::filesystem;

std::string text(const char* given) { return given ? given : ""; }

template <class T>
std::vector<T> list(const char* const* given) {
  std::vector<T> out;
  for (; given && *given; ++given) out.emplace_back(*given);
  return out;
}

// Opens the link in the desktop's browser, by a file in `folder`: other users can see command
// lines.
void open_browser(const std::string& link, const fs::path& folder) {
  fs::create_directory(folder);
  std::string name = "xdg-open", file = (folder / "viewer.html").string();
  detail::write_file_atomically(file,
                                "<meta http-equiv=\"refresh\" content=\"0;url=" + link + "\">\n",
                                {.sources = {detail::kOwnerOnly}});
  char* const arguments[] = {name.data(), file.data(), nullptr};
  pid_t pid = 0;
  if (::posix_spawnp(&pid, name.c_str(), nullptr, nullptr, arguments, environ) != 0)
    detail::print_message("cannot start xdg-open; open the link in a browser");
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "localhost" || address == "::1";
}

ServeDesc desc_of(const RepriseServeRequest& request) {
  const std::string token = text(request.token);
  ServeDesc desc{.program = text(request.program),
                 .target = {text(request.target), token},
                 .other = {text(request.other), token},
                 .traces = list<fs::path>(request.traces),
                 .allowed = list<fs::path>(request.allowed),
                 .address = text(request.address),
                 .port = request.port,
                 .hosts = list<std::string>(request.hosts),
                 .read_only = request.read_only != 0,
                 .max_clients = request.max_clients};
  desc.hosts.push_back(host_of_address(desc.address));
  return desc;
}

void serve(const RepriseServeRequest& request) {
  if (request.version != kRepriseServeVersion)
    throw std::runtime_error(
        "the program and its serve module have different versions; reinstall both");
  std::atomic<ViewerServer*> running{nullptr};
  const QuitSignals signals([&running] {
    if (ViewerServer* server = running.load()) server->wake();
  });
  const ServeDesc desc = desc_of(request);
  ViewerServer server(desc);
  running.store(&server);
  if (desc.port != 0 && server.port() != desc.port)
    detail::print_message("port " + std::to_string(desc.port) + " is taken; using " +
                          std::to_string(server.port()));
  if (!is_loopback(desc.address))
    detail::print_message(
        "listening on " + desc.address +
        " without encryption: leave TLS to a proxy (--allow-host NAME), or forward the port "
        "with ssh");
  const std::string link = server.link();
  request.print_link(link.c_str());
  if (request.opens_browser != 0) open_browser(link, server.folder().next());
  server.run([&signals] { return signals.received(); });
  running.store(nullptr);
}

}  // namespace

}  // namespace reprise::viewer

int reprise_serve(const RepriseServeRequest* request, char* error, std::size_t error_size) {
  try {
    reprise::viewer::serve(*request);
    return 0;
  } catch (const std::exception& failure) {
    const std::string reason = reprise::detail::failure_text(failure, "serving the viewer");
    const std::size_t count = std::min(reason.size(), error_size - 1);
    std::memcpy(error, reason.data(), count);
    error[count] = 0;
    return 1;
  }
}
