// The ranks of a sample: the option --ranks, which starts them with mpirun. Threads: the main
// thread.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <reprise/collectives.hpp>

#include "support/program.hpp"

namespace samples {

class Ranks {
 public:
  // `program` outlives the object.
  explicit Ranks(Program& program) : program_(program) {
    program.options
        .add_option("--ranks", wanted_,
                    "processes to share the work, each on a device; or use mpirun")
        ->check(CLI::Range(1, 1024));
  }

  // Called before any other work. Without a launcher, replaces this process by mpirun with `wanted`
  // copies of it. All ranks but the first print only complaints.
  void start(int argc, char** argv) {
    launched_ = reprise::launched_rank();
    if (launched_.size == 1 && wanted_ > 1) run_mpirun(argc, argv);
    if (launched_.size > 1) program_.set_rank(launched_.rank);
    if (wanted_ != 0 && wanted_ != launched_.size)
      throw std::runtime_error("--ranks is " + std::to_string(wanted_) +
                               ", and the launcher started " + std::to_string(launched_.size));
    if (launched_.rank != 0 && std::freopen("/dev/null", "w", stdout) == nullptr)
      throw std::runtime_error("cannot open /dev/null");
  }
  [[nodiscard]] const reprise::LaunchedRank& launched() const { return launched_; }

 private:
  void run_mpirun(int argc, char** argv) const {
    std::vector<std::string> words = {"mpirun", "--oversubscribe",      "--bind-to", "none",
                                      "-n",     std::to_string(wanted_)};
    if (geteuid() == 0) words.insert(words.begin() + 1, "--allow-run-as-root");
    words.emplace_back("/proc/self/exe");
    char path[4096] = {};
    if (readlink("/proc/self/exe", path, sizeof path - 1) > 0) words.back() = path;
    words.insert(words.end(), argv + 1, argv + argc);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    std::fflush(nullptr);
    execvp(pointers[0], pointers.data());
    throw std::runtime_error(
        "--ranks starts processes with mpirun, which cannot be run; install it with apt-get "
        "install "
        "openmpi-bin");
  }

  Program& program_;
  std::uint32_t wanted_ = 0;  // 0: as many as the launcher started
  reprise::LaunchedRank launched_;
};

}  // namespace samples
