#include "model/observed_run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "model/program_files.hpp"

namespace reprise::model {

namespace fs = std::filesystem;

namespace {

constexpr char kNvtxVariable[] = "NVTX_INJECTION64_PATH";

}  // namespace

fs::path injection_library(const fs::path& program) {
  for (const fs::path& place : library_candidates(program, kInjectionLibrary)) {
    std::error_code ignored;
    if (fs::exists(place, ignored)) return place;
  }
  return {};
}

RunErrors::RunErrors() {
  if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot create a pipe");
}

RunErrors::~RunErrors() {
  for (const int end : pipe_) ::close(end);
}

std::string RunErrors::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(pipe_[1]);
}

std::vector<std::string> RunErrors::take() {
  std::string text;
  char bytes[4096];
  for (ssize_t n = 0; (n = ::read(pipe_[0], bytes, sizeof(bytes))) > 0;)
    text.append(bytes, static_cast<std::size_t>(n));
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

std::map<std::string, std::string> observation_variables(const ObservedRun& run) {
  std::map<std::string, std::string> variables{
      {"REPRISE_RUN_TRACE", run.trace},
      {"REPRISE_RUN_PARENT", std::to_string(::getpid())},
      {"REPRISE_RUN_ERRORS", run.errors},
      {"REPRISE_RUN_NODES", run.nodes ? "1" : "0"},
      {"REPRISE_RUN_FOLLOW", run.follow},
      {"REPRISE_RUN_YIELD", run.yield ? "1" : "0"},
      {"REPRISE_RUN_STACKS", run.stacks},
      {"REPRISE_RUN_COST", run.cost},
      {"REPRISE_RUN_LAUNCH_STACKS", run.launch_stacks ? "1" : "0"}};
  if (run.dumps) {
    const char* const others = std::getenv(kInterposerVariable);
    const std::string interposer = (run.library.parent_path() / kInterposer).string();
    variables[kInterposerVariable] =
        others == nullptr || *others == '\0' ? interposer : interposer + ":" + others;
    variables["REPRISE_RUN_LIBRARY"] = run.library.string();
  } else {
    variables[kInjectionVariable] = run.library.string();
  }
  if (std::getenv(kNvtxVariable) == nullptr) variables[kNvtxVariable] = run.library.string();
  return variables;
}

}  // namespace reprise::model
