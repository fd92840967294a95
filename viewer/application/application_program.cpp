// Application: the program that the viewer runs, and its output.
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <imgui.h>

#include "application/application.hpp"
#include "model/observed_run.hpp"

namespace reprise::viewer {

namespace {

constexpr double kOutputSeconds = 0.25;  // between reads of the output
constexpr std::size_t kStartOutputLines = 8, kOutputLines = 10'000;

}  // namespace

void Application::run_sample() {
  const std::filesystem::path sample = find_sample(desc_.program);
  if (sample.empty()) {
    program_state_ = "the digits sample is not installed with " + desc_.program.string();
    return;
  }
  start({.name = "the sample",
         .command = {sample.string(), "--out", "out", "--epochs", "1000000"},
         .directory = ProgramRunDesc::Directory::Private});
  is_sample_ = true;
}

void Application::run_program(const std::string& command) {
  try {
    std::vector<std::string> words = words_of(command);
    const std::string name = std::filesystem::path(words.front()).filename().string();
    start({.name = name,
           .command = std::move(words),
           .library = model::injection_library(desc_.program)});
    is_sample_ = false;
  } catch (const std::exception& error) {
    program_state_ = error.what();
  }
}

void Application::start(ProgramRunDesc desc) {
  error_.clear();
  program_output_.clear();
  try {
    if (!program_) program_ = std::make_unique<ProgramRun>(std::move(desc));
    program_state_ = "started " + program_->name() + " as process " +
                     std::to_string(program_->pid()) + ", waiting for its live session";
  } catch (const std::exception& error) {
    program_state_ = error.what();
  }
}

void Application::watch_program() {
  const double now = ImGui::GetTime();
  const bool is_running = program_->is_running();
  if (!is_running || now - output_read_ >= kOutputSeconds) {
    output_read_ = now;
    program_output_ = program_->output(kStartOutputLines);
  }
  if (!is_running) {
    program_state_ = program_->reason();
    if (program_output_.empty()) program_state_ += ", without a live session";
    if (program_output_.size() == 1) program_output_.clear();  // part of the reason
    program_.reset();
    return;
  }
  for (const trace::LiveSession& session : monitor_->found().sessions) {
    if (!session.alive || !program_->has_process(static_cast<pid_t>(session.pid))) continue;
    program_->set_session(session.path);
    program_state_.clear();
    program_output_.clear();
    return open({session.path.string(), {}});
  }
}

// In the status line of the program's session.
void Application::show_output() {
  const double now = ImGui::GetTime();
  if (!program_ || now - output_read_ < kOutputSeconds) return;
  output_read_ = now;
  const bool is_running = program_->is_running();
  workspace_->set_program_output(program_->output(kOutputLines),
                                 is_running ? std::string() : program_->reason());
}

}  // namespace reprise::viewer
