#include "collectives/mpi_module.hpp"

#include <mpi.h>

#include <cstring>
#include <limits>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/mpi/mpi_check.hpp"
#include "collectives/mpi/mpi_runtime.hpp"
#include "collectives/mpi/mpi_transport.hpp"

namespace reprise::detail {
namespace {

[[nodiscard]] MPI_Comm communicator_of(MpiCommunicatorBytes communicator) {
  if (communicator.comm == nullptr) return MPI_COMM_WORLD;
  if (communicator.bytes != sizeof(MPI_Comm)) {
    fail(ErrorCode::InvalidArgument, Stage::Open, {},
         concat("the communicator has ", communicator.bytes,
                " bytes, but one of the MPI library "
                "that libreprise_mpi.so was built with has ",
                sizeof(MPI_Comm), "; build the application with that library"));
  }
  MPI_Comm comm = MPI_COMM_NULL;
  std::memcpy(&comm, communicator.comm, sizeof comm);
  if (comm == MPI_COMM_NULL)
    fail(ErrorCode::InvalidArgument, Stage::Open, {},
         "the communicator is MPI_COMM_NULL; pass one that this process belongs to");
  return comm;
}

class Module final : public MpiModule {
 public:
  bool is_initialized() const override { return MpiRuntime::is_usable(); }
  void initialize() override { runtime_.initialize(); }

  RankInfo rank_info(MpiCommunicatorBytes communicator) override {
    runtime_.initialize();
    const MPI_Comm comm = communicator_of(communicator);
    const auto lock = runtime_.lock();
    int rank = 0, size = 1, local_rank = 0, local_size = 1;
    mpi_check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank", Stage::Open);
    mpi_check(MPI_Comm_size(comm, &size), "MPI_Comm_size", Stage::Open);
    MPI_Comm host = MPI_COMM_NULL;
    mpi_check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host),
              "MPI_Comm_split_type", Stage::Open);
    MPI_Comm_rank(host, &local_rank);
    MPI_Comm_size(host, &local_size);
    MPI_Comm_free(&host);
    const auto unsigned_of = [](int value) { return static_cast<std::uint32_t>(value); };
    return {unsigned_of(rank), unsigned_of(size), unsigned_of(local_rank), unsigned_of(local_size)};
  }

  std::string broadcast(MpiCommunicatorBytes communicator, std::string from_root) override {
    runtime_.initialize();
    const MPI_Comm comm = communicator_of(communicator);
    if (from_root.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      fail(ErrorCode::InvalidArgument, Stage::Open, {},
           concat("a broadcast of ", from_root.size(), " bytes exceeds the limit of 2 GiB"));
    const auto lock = runtime_.lock();
    constexpr int kRoot = 0;
    std::uint64_t bytes = from_root.size();
    mpi_check(MPI_Bcast(&bytes, 1, MPI_UINT64_T, kRoot, comm), "MPI_Bcast", Stage::Open);
    from_root.resize(bytes);
    mpi_check(MPI_Bcast(from_root.data(), static_cast<int>(bytes), MPI_CHAR, kRoot, comm),
              "MPI_Bcast", Stage::Open);
    return from_root;
  }

  std::unique_ptr<HostTransport> open(MpiCommunicatorBytes communicator,
                                      std::uint64_t max_bytes) override {
    runtime_.initialize();
    return MpiTransport::duplicate(communicator_of(communicator), max_bytes);
  }

 private:
  MpiRuntime& runtime_ = MpiRuntime::instance();
};

}  // namespace
}  // namespace reprise::detail

extern "C" __attribute__((visibility("default"))) reprise::detail::MpiModule* reprise_mpi_module(
    std::uint32_t version) {
  using namespace reprise::detail;
  static Module& module = *new Module;  // users may run at exit
  return version == MpiModule::kVersion ? &module : nullptr;
}
