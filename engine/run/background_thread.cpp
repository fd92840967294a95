#include "run/background_thread.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "run/failure.hpp"

namespace reprise::detail {

namespace {

constexpr std::chrono::milliseconds kBackgroundPeriod{5};

}  // namespace

struct BackgroundThread::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::unique_ptr<BackgroundJob>> jobs;
  bool stop = false;
  std::thread thread;
};

BackgroundThread::BackgroundThread() : state_(std::make_shared<State>()) {}

BackgroundThread::~BackgroundThread() {
  std::thread thread;
  std::vector<std::unique_ptr<BackgroundJob>> left;
  {
    std::lock_guard lock(state_->mutex);
    state_->stop = true;
    thread = std::move(state_->thread);
    left.swap(state_->jobs);
  }
  state_->changed.notify_all();
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();  // its step dropped the last owner of this; it sees `stop` and ends
  } else {
    thread.join();
  }
}

void BackgroundThread::add(std::unique_ptr<BackgroundJob> job) {
  std::lock_guard lock(state_->mutex);
  state_->jobs.push_back(std::move(job));
  state_->changed.notify_all();
  if (state_->thread.joinable()) return;
  try {
    state_->thread = std::thread(&BackgroundThread::run, state_);
  } catch (const std::system_error& error) {
    state_->jobs.pop_back();
    fail(ErrorCode::OutOfMemory, Stage::Instantiate, "", concat("no thread could be started: ", error.what()));
  }
}

void BackgroundThread::run(const std::shared_ptr<State>& state) noexcept {
  std::vector<std::unique_ptr<BackgroundJob>> mine;
  std::unique_lock lock(state->mutex);
  while (!state->stop) {
    if (mine.empty() && state->jobs.empty()) {
      state->changed.wait(lock);
      continue;
    }
    for (auto& job : state->jobs) mine.push_back(std::move(job));
    state->jobs.clear();
    lock.unlock();
    std::erase_if(mine, [](const auto& job) { return job->step() == BackgroundJob::Next::Over; });
    lock.lock();
    if (!mine.empty() && !state->stop) state->changed.wait_for(lock, kBackgroundPeriod);
  }
  lock.unlock();  // and with that its jobs go
}

}  // namespace reprise::detail
