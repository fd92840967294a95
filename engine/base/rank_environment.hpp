// RankEnvironment: the rank of this process as its launcher (torchrun, mpirun, srun) describes it
// in environment variables. Knows no sockets. Threads: pure functions of what `get` returns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <reprise/abi.hpp>

namespace reprise::detail {

// The value of an environment variable; nullopt: it is not set.
using GetVariable = std::function<std::optional<std::string>(const char* name)>;
// A variable of this process. nullopt in a program with raised privileges (set-uid), whose caller
// controls the variables.
[[nodiscard]] REPRISE_API std::optional<std::string> process_variable(const char* name);

struct RankEnvironment {
  std::uint32_t rank = 0, size = 1;
  std::uint32_t local_rank = 0;  // among the ranks of this host
  // The address of rank 0. Empty: the launcher does not state it, and the ranks may be on several
  // hosts.
  std::string master_address;
  // The same on all ranks. A program of the launcher may listen on it.
  std::uint16_t master_port = 0;
  std::string source;  // "torchrun", "Open MPI", "SLURM", "PMI"
};

// Returns nullopt if no launcher is recognised. Throws Error (InvalidArgument, Stage::Open) that
// names a variable which is missing or malformed.
[[nodiscard]] REPRISE_API std::optional<RankEnvironment> read_rank_environment(
    const GetVariable& get);

// Names the job among those of its launcher; the same on all ranks.
[[nodiscard]] std::string job_name(const GetVariable& get, const RankEnvironment& environment);

// A text that is the same on all ranks of a job and differs between jobs: $REPRISE_JOB_SECRET, or
// else composed of ids of the job. Only the variable keeps other users out: ids can be guessed.
[[nodiscard]] REPRISE_API std::string job_secret(const GetVariable& get,
                                                 const RankEnvironment& environment);

}  // namespace reprise::detail
