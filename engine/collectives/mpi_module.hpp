// MpiModule: the functions of libreprise_mpi.so, which is opened at run time (mpi_loader.hpp). Only
// the files of this folder include <mpi.h>, and this header does not.
//
// If the application has initialised MPI, the module uses it as it is; otherwise it initialises MPI
// and finalises it at exit. It skips MPI_Finalize, which would wait for the other ranks, if an
// operation is pending or a transport was aborted or got an MPI error; mpirun then ends the other
// ranks and reports that this one did not finalise.
//
// Errors of MPI become Error. Open MPI 4.1 passes those of collectives to the error handler of
// MPI_COMM_WORLD, whichever communicator they use; it is MPI_ERRORS_RETURN if the module
// initialised MPI, and otherwise the application's, which by default ends the job.
//
// Threads: any, with MPI_THREAD_MULTIPLE. With MPI_THREAD_SERIALIZED the module's calls take turns,
// and the application makes MPI calls of its own only while no operation is in progress. Functions
// that are collective are called by one thread of each rank at a time, in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "collectives/host_transport.hpp"

namespace reprise::detail {

// The bytes of an MPI_Comm of the application, which has to use the MPI library of the module.
struct MpiCommunicatorBytes {
  const void* comm = nullptr;  // null: MPI_COMM_WORLD
  std::size_t bytes = 0;
};

class MpiModule {
 public:
  static constexpr std::uint32_t kVersion = 1;  // of this interface
  // One request to MPI moves at most this many bytes, because MPI counts with int; longer
  // collectives use several.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

  // Whether MPI is initialised, by the application or by the module, and not finalised.
  [[nodiscard]] virtual bool is_initialized() const = 0;
  // Initialises MPI unless that is done. The other functions call it. Throws Error: InvalidState if
  // MPI is finalised, or if the application initialised it with MPI_THREAD_SINGLE or
  // MPI_THREAD_FUNNELED.
  virtual void initialize() = 0;

  struct RankInfo {
    std::uint32_t rank = 0, size = 1;              // in the communicator
    std::uint32_t local_rank = 0, local_size = 1;  // among its ranks on the same host
  };
  // Collective.
  [[nodiscard]] virtual RankInfo rank_info(MpiCommunicatorBytes communicator) = 0;
  // Collective, blocks: the text of rank 0. The other ranks' `from_root` is ignored.
  [[nodiscard]] virtual std::string broadcast(MpiCommunicatorBytes communicator,
                                              std::string from_root) = 0;
  // Collective: a transport with the ranks of a duplicate of the communicator. MPI does not compare
  // what ranks start: ranks that start different collectives hang, corrupt data or get
  // RankMismatch. Reductions give the same bytes on all ranks and each time, in an order that MPI
  // selects by size and number of ranks. `max_bytes` is smaller only in tests.
  [[nodiscard]] virtual std::unique_ptr<HostTransport> open(
      MpiCommunicatorBytes communicator, std::uint64_t max_bytes = kMaxBytes) = 0;

 protected:
  ~MpiModule() = default;  // the module stays until the process ends
};

// The function that the module exports: null if its interface has a different version.
inline constexpr const char* kMpiModuleEntry = "reprise_mpi_module";
using MpiModuleEntry = MpiModule* (*)(std::uint32_t version);

}  // namespace reprise::detail
