#include "viewer/window/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "support/paths.hpp"

namespace reprise::test {

namespace {

std::vector<std::string> variables_with(const Environment& environment) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!environment.count(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : environment) {
    if (value) all.push_back(name + "=" + *value);
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// A private temporary file; unlike a pipe it cannot fill up.
int new_file() {
  std::string name = (scratch_folder() / "said-XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  ::unlink(name.c_str());
  if (file < 0) throw std::runtime_error("no file for what a program says");
  return file;
}

std::string text_of(int file) {
  std::string text;
  char part[4096];
  ::lseek(file, 0, SEEK_SET);
  for (ssize_t got; (got = ::read(file, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  return text;
}

}  // namespace

Process::Process(const std::vector<std::string>& command, Environment environment)
    : output_(new_file()), errors_(new_file()) {
  // drivers are unloaded before the leak check
  environment.try_emplace("LSAN_OPTIONS", "detect_leaks=0");
  std::vector<std::string> arguments = command, variables = variables_with(environment);
  const std::vector<char*> argument_pointers = pointers_to(arguments),
                           variable_pointers = pointers_to(variables);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("no process");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(output_, STDOUT_FILENO);
    ::dup2(errors_, STDERR_FILENO);
    ::execve(argument_pointers[0], argument_pointers.data(), variable_pointers.data());
    ::_exit(127);
  }
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(output_);
  ::close(errors_);
}

void Process::signal(int number) const { ::kill(pid_, number); }

Finished Process::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("nothing to wait for");
  }
  pid_ = -1;
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), text_of(output_),
          text_of(errors_)};
}

Finished run_process(const std::vector<std::string>& command, const Environment& environment) {
  return Process(command, environment).wait();
}

}  // namespace reprise::test
