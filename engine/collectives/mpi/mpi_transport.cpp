#include "collectives/mpi/mpi_transport.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/call_rules.hpp"
#include "collectives/mpi/mpi_check.hpp"
#include "collectives/mpi/mpi_runtime.hpp"
#include "collectives/reduce_elements.hpp"

namespace reprise::detail {
namespace {

constexpr int kPairTag = 0, kAllToAllTag = 1;

// The communicator of a transport, as its operations use it.
struct CommView {
  MPI_Comm comm;
  std::uint32_t rank, size;
  std::uint64_t max_bytes;
};

// The requests of a group, and the work that remains once they are complete.
class MpiOperation final : public HostTransport::Operation {
 public:
  MpiOperation(CommView comm, std::shared_ptr<JobFailure> failure)
      : comm_(comm), failure_(std::move(failure)) {
    runtime_.add_pending();
  }
  MpiOperation(const MpiOperation&) = delete;
  MpiOperation& operator=(const MpiOperation&) = delete;
  ~MpiOperation() override {
    if (is_complete_) return;
    // MPI cannot cancel collectives: the requests keep their buffers.
    runtime_.set_failed();
    for (Scratch& scratch : scratch_) static_cast<void>(scratch.release());
  }

  // Under the lock of the runtime.
  void start(const CollectiveCall& call) {
    if (call.count == 0) return;
    const Elements elements{runtime_.datatype(call.type), size_of(call.type)};
    switch (call.kind) {
      case CollectiveKind::AllReduce: start_all_reduce(call, elements); break;
      case CollectiveKind::Reduce: start_reduce(call, elements, 0, call.peer, call.receive); break;
      case CollectiveKind::Broadcast: start_broadcast(call, elements); break;
      case CollectiveKind::AllGather: start_all_gather(call, elements); break;
      case CollectiveKind::ReduceScatter: start_reduce_scatter(call, elements); break;
      case CollectiveKind::AllToAll: start_all_to_all(call, elements); break;
      case CollectiveKind::Send:
        start_send(call.send, call.count, elements, call.peer, kPairTag);
        break;
      case CollectiveKind::Receive:
        start_receive(call.receive, call.count, elements, call.peer, kPairTag);
        break;
    }
    if (is_reduction(call.kind) && call.reduce == ReduceOperator::Average &&
        has_output(call, comm_.rank))
      averages_.push_back(call);
  }
  // After the last call.
  void reserve_statuses() { statuses_.resize(requests_.size()); }

  bool poll() override {
    failure_->throw_if_set(Stage::Launch);
    if (is_complete_) return true;
    int is_done = 0;
    {
      std::unique_lock<std::mutex> lock;
      if (!runtime_.try_lock(lock)) return false;
      const int result = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &is_done,
                                     statuses_.data());
      if (result != MPI_SUCCESS) fail_with(result);
    }
    if (is_done == 0) return false;
    for (const Copy& copy : copies_) std::memcpy(copy.into, copy.from, copy.bytes);
    for (const CollectiveCall& call : averages_)
      divide_elements(call.type, call.receive, call.count, comm_.size);
    is_complete_ = true;
    runtime_.remove_pending();
    return true;
  }

 private:
  struct Elements {
    MPI_Datatype type;
    std::uint64_t bytes;  // of one
  };
  struct Copy {
    void* into;
    const void* from;
    std::uint64_t bytes;
  };
  using Scratch = std::unique_ptr<std::byte[]>;

  [[nodiscard]] std::byte* add_scratch(std::uint64_t bytes) {
    scratch_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    return scratch_.back().get();
  }

  [[nodiscard]] MPI_Request* add_request() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  // Calls f(first element, number of elements) for parts that fit into one request.
  template <class F>
  void for_each_part(std::uint64_t count, Elements elements, const F& f) const {
    const std::uint64_t max_count = comm_.max_bytes / elements.bytes;
    for (std::uint64_t first = 0; first < count; first += max_count)
      f(first, static_cast<int>(std::min(count - first, max_count)));
  }
  // Whether `count` elements of each rank fit into one request.
  [[nodiscard]] bool fits(std::uint64_t count, Elements elements) const {
    return count <= comm_.max_bytes / elements.bytes / comm_.size;
  }

  void start_all_reduce(const CollectiveCall& call, Elements elements) {
    copy_bytes(call.receive, call.send, call.count * elements.bytes);
    for_each_part(call.count, elements, [&](std::uint64_t first, int count) {
      mpi_check(MPI_Iallreduce(MPI_IN_PLACE, at(call.receive, first * elements.bytes), count,
                               elements.type, runtime_.reduction(call.type, call.reduce),
                               comm_.comm, add_request()),
                "MPI_Iallreduce", Stage::Launch);
    });
  }

  // Reduces call.count elements of `call.send` from `offset` on to rank `root`.
  void start_reduce(const CollectiveCall& call, Elements elements, std::uint64_t offset,
                    std::uint32_t root, void* receive) {
    for_each_part(call.count, elements, [&](std::uint64_t first, int count) {
      const void* send = at(call.send, (offset + first) * elements.bytes);
      void* const into = root == comm_.rank ? at(receive, first * elements.bytes) : nullptr;
      if (send == into) send = MPI_IN_PLACE;
      mpi_check(
          MPI_Ireduce(send, into, count, elements.type, runtime_.reduction(call.type, call.reduce),
                      static_cast<int>(root), comm_.comm, add_request()),
          "MPI_Ireduce", Stage::Launch);
    });
  }

  void start_broadcast(const CollectiveCall& call, Elements elements) {
    const bool is_root = call.peer == comm_.rank;
    if (is_root) copy_bytes(call.receive, call.send, call.count * elements.bytes);
    start_broadcast_of(call.receive, call.count, elements, call.peer);
  }

  void start_broadcast_of(void* buffer, std::uint64_t n, Elements elements, std::uint32_t root) {
    for_each_part(n, elements, [&](std::uint64_t first, int count) {
      mpi_check(MPI_Ibcast(at(buffer, first * elements.bytes), count, elements.type,
                           static_cast<int>(root), comm_.comm, add_request()),
                "MPI_Ibcast", Stage::Launch);
    });
  }

  void start_all_gather(const CollectiveCall& call, Elements elements) {
    const std::uint64_t part_bytes = call.count * elements.bytes;
    copy_bytes(at(call.receive, comm_.rank * part_bytes), call.send, part_bytes);
    if (!fits(call.count, elements)) {
      for (std::uint32_t root = 0; root < comm_.size; ++root)
        start_broadcast_of(at(call.receive, root * part_bytes), call.count, elements, root);
      return;
    }
    const int count = static_cast<int>(call.count);
    mpi_check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, call.receive, count, elements.type,
                             comm_.comm, add_request()),
              "MPI_Iallgather", Stage::Launch);
  }

  void start_reduce_scatter(const CollectiveCall& call, Elements elements) {
    if (!fits(call.count, elements)) {
      for (std::uint32_t root = 0; root < comm_.size; ++root)
        start_reduce(call, elements, root * call.count, root, call.receive);
      return;
    }
    const std::uint64_t part_bytes = call.count * elements.bytes;
    void* into = call.receive;
    if (at(call.send, comm_.rank * part_bytes) == into) {
      into = add_scratch(part_bytes);
      copies_.push_back({call.receive, into, part_bytes});
    }
    mpi_check(MPI_Ireduce_scatter_block(call.send, into, static_cast<int>(call.count),
                                        elements.type, runtime_.reduction(call.type, call.reduce),
                                        comm_.comm, add_request()),
              "MPI_Ireduce_scatter_block", Stage::Launch);
  }

  void start_all_to_all(const CollectiveCall& call, Elements elements) {
    const std::uint64_t part_bytes = call.count * elements.bytes;
    const void* send = call.send;
    if (send == call.receive) {
      std::byte* const scratch = add_scratch(part_bytes * comm_.size);
      std::memcpy(scratch, call.send, part_bytes * comm_.size);
      send = scratch;
    }
    if (!fits(call.count, elements)) {
      for (std::uint32_t other = 0; other < comm_.size; ++other) {
        start_receive(at(call.receive, other * part_bytes), call.count, elements, other,
                      kAllToAllTag);
        start_send(at(send, other * part_bytes), call.count, elements, other, kAllToAllTag);
      }
      return;
    }
    const int count = static_cast<int>(call.count);
    mpi_check(MPI_Ialltoall(send, count, elements.type, call.receive, count, elements.type,
                            comm_.comm, add_request()),
              "MPI_Ialltoall", Stage::Launch);
  }

  void start_send(const void* send, std::uint64_t n, Elements elements, std::uint32_t to, int tag) {
    for_each_part(n, elements, [&](std::uint64_t first, int count) {
      mpi_check(MPI_Isend(at(send, first * elements.bytes), count, elements.type,
                          static_cast<int>(to), tag, comm_.comm, add_request()),
                "MPI_Isend", Stage::Launch);
    });
  }

  void start_receive(void* receive, std::uint64_t n, Elements elements, std::uint32_t from,
                     int tag) {
    for_each_part(n, elements, [&](std::uint64_t first, int count) {
      mpi_check(MPI_Irecv(at(receive, first * elements.bytes), count, elements.type,
                          static_cast<int>(from), tag, comm_.comm, add_request()),
                "MPI_Irecv", Stage::Launch);
    });
  }

  // Throws the error of the first request that has one, and fails the other operations.
  [[noreturn]] void fail_with(int result) {
    runtime_.set_failed();
    if (result == MPI_ERR_IN_STATUS) {
      for (const MPI_Status& status : statuses_) {
        if (status.MPI_ERROR == MPI_SUCCESS || status.MPI_ERROR == MPI_ERR_PENDING) continue;
        result = status.MPI_ERROR;
        break;
      }
    }
    const Error error = mpi_error(result, "MPI_Testall", Stage::Launch);
    failure_->set(error.code(), error.text());
    throw error;
  }

  MpiRuntime& runtime_ = MpiRuntime::instance();
  CommView comm_;
  std::shared_ptr<JobFailure> failure_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<Scratch> scratch_;  // in use until all requests are complete
  std::vector<Copy> copies_;      // after the requests, before the averages
  std::vector<CollectiveCall> averages_;
  bool is_complete_ = false;
};

}  // namespace

std::unique_ptr<MpiTransport> MpiTransport::duplicate(MPI_Comm comm, std::uint64_t max_bytes) {
  const auto lock = MpiRuntime::instance().lock();
  int is_between_groups = 0;
  mpi_check(MPI_Comm_test_inter(comm, &is_between_groups), "MPI_Comm_test_inter", Stage::Open);
  if (is_between_groups != 0) {
    fail(ErrorCode::InvalidArgument, Stage::Open, {},
         "the communicator is an inter-communicator, which has no collectives among all of its "
         "ranks; merge it with MPI_Intercomm_merge");
  }
  MPI_Comm copy = MPI_COMM_NULL;
  mpi_check(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup", Stage::Open);
  return std::unique_ptr<MpiTransport>(
      new MpiTransport(copy, max_bytes, std::make_shared<JobFailure>()));
}

MpiTransport::MpiTransport(MPI_Comm comm, std::uint64_t max_bytes,
                           std::shared_ptr<JobFailure> failure)
    : comm_(comm), max_bytes_(max_bytes), failure_(std::move(failure)) {
  int rank = 0, size = 1;
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank);
  MPI_Comm_size(comm_, &size);
  rank_ = static_cast<std::uint32_t>(rank);
  size_ = static_cast<std::uint32_t>(size);
}

MpiTransport::~MpiTransport() {
  MpiRuntime& runtime = MpiRuntime::instance();
  if (runtime.has_failed() || !MpiRuntime::is_usable()) return;  // freeing may wait for all ranks
  const auto lock = runtime.lock();
  MPI_Comm_free(&comm_);
}

std::unique_ptr<HostTransport::Operation> MpiTransport::start(
    std::span<const CollectiveCall> group) {
  failure_->throw_if_set(Stage::Launch);
  for (const CollectiveCall& call : group) check_call(call, rank_, size_);
  MpiRuntime& runtime = MpiRuntime::instance();
  auto operation =
      std::make_unique<MpiOperation>(CommView{comm_, rank_, size_, max_bytes_}, failure_);
  const auto lock = runtime.lock();
  for (const CollectiveCall& call : group) operation->start(call);
  operation->reserve_statuses();
  return operation;
}

std::unique_ptr<HostTransport> MpiTransport::split(std::uint32_t color) {
  failure_->throw_if_set(Stage::Open);
  if (color > static_cast<std::uint32_t>(INT_MAX))
    fail(ErrorCode::InvalidArgument, Stage::Open, {},
         concat("split: color ", color, " exceeds the limit of MPI, 2^31 - 1"));
  const auto lock = MpiRuntime::instance().lock();
  MPI_Comm part = MPI_COMM_NULL;
  mpi_check(MPI_Comm_split(comm_, static_cast<int>(color), static_cast<int>(rank_), &part),
            "MPI_Comm_split", Stage::Open);
  return std::unique_ptr<MpiTransport>(new MpiTransport(part, max_bytes_, failure_));
}

void MpiTransport::abort(std::string reason) noexcept {
  failure_->set(ErrorCode::RankLost, std::move(reason));
  MpiRuntime::instance().set_failed();
}

}  // namespace reprise::detail
