// Collectives between ranks, each of which is a process with one device. Target
// reprise::collectives.
//
//   const Communicator world = Communicator::from_environment(device);  // mpirun, srun, torchrun
//   commands.add(all_reduce(world, gradients, gradients));
//
// A collective is a command, whose accesses order it against the other commands of its graph. In
// addition, all collectives of a device run in the order in which they are recorded and launched,
// and graphs with collectives never overlap. That order has to be the same on every rank: compile()
// and update() of a recording with collectives are collective calls, which compare it and throw
// RankMismatch with the two commands that differ. If one of them fails on one rank, it throws
// RankLost with that error on the others. In all other cases RankLost ends the job: another rank
// ended, failed or does not arrive. CapturedGraph::tune() is a collective call as well. All ranks
// compile the same number of replicas. find_races() refuses graphs with collectives.
//
// GPUs use NCCL (libnccl.so.2), and the host device MPI; both are opened at run time. Graphs with
// collectives are destroyed before the process ends. Threads: a Communicator is a value that any
// threads may use; one thread of each rank at a time makes the calls that are collective.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/device.hpp>
#include <reprise/graph_op.hpp>

struct ncclComm;

namespace reprise::inline REPRISE_ABI {

enum class CollectiveKind : std::uint8_t {
  AllReduce,
  Reduce,
  Broadcast,
  AllGather,
  ReduceScatter,
  AllToAll,
  Send,
  Receive
};
// F16 is IEEE half precision, BF16 is bfloat16.
enum class ElementType : std::uint8_t { I8, U8, I32, U32, I64, U64, F16, BF16, F32, F64 };
// Average is of floating-point elements only.
enum class ReduceOperator : std::uint8_t { Sum, Product, Min, Max, Average };
[[nodiscard]] REPRISE_API std::string_view to_string(CollectiveKind kind) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(ElementType type) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(ReduceOperator reduce) noexcept;
[[nodiscard]] REPRISE_API std::uint32_t size_of(ElementType type) noexcept;  // bytes

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {
class CommunicatorCore;

template <class T>
[[nodiscard]] constexpr ElementType element_type() {
  if constexpr (std::is_same_v<T, float>) {
    return ElementType::F32;
  } else if constexpr (std::is_same_v<T, double>) {
    return ElementType::F64;
  } else {
    static_assert(std::is_integral_v<T> && sizeof(T) != 2,
                  "collectives take float, double and integers of 1, 4 or 8 bytes; of half "
                  "precision, pass BufferViews and an ElementType");
    if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? ElementType::I8 : ElementType::U8;
    if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? ElementType::I32 : ElementType::U32;
    return std::is_signed_v<T> ? ElementType::I64 : ElementType::U64;
  }
}
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// This process among those that one launcher started: torchrun (RANK, WORLD_SIZE, LOCAL_RANK),
// Open MPI, SLURM or PMI. Without a launcher: the only rank.
struct LaunchedRank {
  std::uint32_t rank = 0, size = 1;
  std::uint32_t local_rank = 0;  // among those of this machine: the GPU to open
};
// Throws InvalidArgument for variables that contradict each other.
[[nodiscard]] REPRISE_API LaunchedRank launched_rank();

struct CommunicatorDesc {
  // A rank that launches no graph with collectives for this long, while another rank waits in one,
  // ends the job: every rank gets RankLost with its name, the graph and the replay. If all ranks
  // have launched, a replay that has not completed after this long is reported as the message
  // replay-waits. At least a second, since reports of launches may be that old; otherwise
  // InvalidArgument.
  std::chrono::milliseconds stall_limit = std::chrono::minutes(10);
};

// A group of ranks. A reference-counted handle; recorded collectives and graphs hold it.
class REPRISE_API Communicator {
 public:
  Communicator() = default;

  // The factories are collective calls. They throw LibraryMissing, which names the package,
  // RankLost with the ranks that did not call within a minute, and InvalidState in a host callback.

  // All ranks that the launcher started, or this process alone. The ranks find each other at
  // $MASTER_ADDR, and on one machine without it; they use the first free ports above $MASTER_PORT.
  // $REPRISE_JOB_SECRET, if set, is the password of the job.
  [[nodiscard]] static Communicator from_environment(const Device& device,
                                                     const CommunicatorDesc& desc = {});
  // The ranks of an MPI_Comm, which is duplicated. The application has initialised MPI, for
  // MPI_THREAD_SERIALIZED at least. Throws Unsupported if it was built with another MPI than this
  // library's module.
  template <class MpiComm>
  [[nodiscard]] static Communicator from_mpi(const Device& device, MpiComm communicator,
                                             const CommunicatorDesc& desc = {}) {
    return from_mpi(device, &communicator, sizeof communicator, desc);
  }
  [[nodiscard]] static Communicator from_mpi(const Device& device, const void* communicator,
                                             std::size_t bytes, const CommunicatorDesc& desc);
  // An ncclComm_t of the application, which outlives all graphs with its collectives. The ranks
  // cannot compare their collectives, and loops and tune() refuse them. Throws Unsupported unless
  // NCCL_GRAPH_REGISTER is 0, which is set before NCCL is used for the first time.
  [[nodiscard]] static Communicator from_nccl(const Device& device, ncclComm* communicator);
  // Collective: a communicator of the ranks that pass the same `color`, in the order of this one.
  [[nodiscard]] Communicator split(std::uint32_t color) const;

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] std::uint32_t rank() const;
  [[nodiscard]] std::uint32_t size() const;
  // True once the job has ended because a rank was lost. Work without collectives goes on.
  [[nodiscard]] bool is_lost() const;

 private:
  friend struct detail::HandleAccess;
  explicit Communicator(std::shared_ptr<detail::CommunicatorCore> core) noexcept
      : core_(std::move(core)) {}

  std::shared_ptr<detail::CommunicatorCore> core_;
};

// One operation of this rank. Counts are in elements.
struct CollectiveDesc {
  CollectiveKind kind = CollectiveKind::AllReduce;
  ElementType type = ElementType::F32;
  ReduceOperator reduce = ReduceOperator::Sum;  // AllReduce, Reduce, ReduceScatter
  std::uint32_t peer = 0;                       // the root, or the other rank of Send and Receive
  std::uint64_t count = 0;                      // see the functions below
  BufferView send = {}, receive = {};           // empty where this rank sends or receives nothing
};

// A command of one collective, or of several that wait together. See the functions below, which
// create it. Constructors throw NotInitialized for an empty communicator or buffer, InvalidArgument
// for a rank outside the communicator or an operator that the type lacks, OutOfRange for a buffer
// that is too small, Overlap unless `send` and `receive` are apart or in place.
class REPRISE_API CollectiveOp final : public GraphOp {
 public:
  CollectiveOp(const Communicator& communicator, const CollectiveDesc& desc);
  // Operations that run together, as several sends and receives have to.
  static CollectiveOp group(std::span<const CollectiveOp> operations);

  [[nodiscard]] std::string_view op_name() const noexcept override;
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

  [[nodiscard]] std::span<const CollectiveDesc> operations() const noexcept { return operations_; }
  [[nodiscard]] const Communicator& communicator() const noexcept { return communicator_; }

 private:
  explicit CollectiveOp(Communicator communicator) : communicator_(std::move(communicator)) {}
  [[nodiscard]] detail::RankAgreement* ranks() const noexcept override;

  Communicator communicator_;
  std::vector<CollectiveDesc> operations_;
};

// Element i of `receive` on every rank is the reduction of the elements i of all `send`. In place:
// `send` is `receive`.
template <class T>
[[nodiscard]] CollectiveOp all_reduce(const Communicator& communicator, const GpuRef<T>& send,
                                      const GpuRef<T>& receive,
                                      ReduceOperator reduce = ReduceOperator::Sum) {
  return {communicator,
          {CollectiveKind::AllReduce, detail::element_type<T>(), reduce, 0, send.size(), send,
           receive}};
}
// The same on `root` alone; other ranks may pass an empty `receive`.
template <class T>
[[nodiscard]] CollectiveOp reduce(const Communicator& communicator, const GpuRef<T>& send,
                                  const GpuRef<T>& receive, std::uint32_t root,
                                  ReduceOperator reduce = ReduceOperator::Sum) {
  return {communicator,
          {CollectiveKind::Reduce, detail::element_type<T>(), reduce, root, send.size(), send,
           receive}};
}
// Copies `buffer` of `root` to that of every other rank.
template <class T>
[[nodiscard]] CollectiveOp broadcast(const Communicator& communicator, const GpuRef<T>& buffer,
                                     std::uint32_t root) {
  return {communicator,
          {CollectiveKind::Broadcast,
           detail::element_type<T>(),
           {},
           root,
           buffer.size(),
           buffer,
           buffer}};
}
// `receive` holds the `send` of all ranks, in their order: size() times as many elements. In place:
// `send` is this rank's part of `receive`.
template <class T>
[[nodiscard]] CollectiveOp all_gather(const Communicator& communicator, const GpuRef<T>& send,
                                      const GpuRef<T>& receive) {
  return {
      communicator,
      {CollectiveKind::AllGather, detail::element_type<T>(), {}, 0, send.size(), send, receive}};
}
// Reduces `send`, which has size() times as many elements as `receive`; rank r receives part r. In
// place: `receive` is this rank's part of `send`.
template <class T>
[[nodiscard]] CollectiveOp reduce_scatter(const Communicator& communicator, const GpuRef<T>& send,
                                          const GpuRef<T>& receive,
                                          ReduceOperator reduce = ReduceOperator::Sum) {
  return {communicator,
          {CollectiveKind::ReduceScatter, detail::element_type<T>(), reduce, 0, receive.size(),
           send, receive}};
}
// Part r of `send` goes to rank r, whose part of `receive` comes from there. Not in place.
template <class T>
[[nodiscard]] CollectiveOp all_to_all(const Communicator& communicator, const GpuRef<T>& send,
                                      const GpuRef<T>& receive) {
  return {communicator,
          {CollectiveKind::AllToAll,
           detail::element_type<T>(),
           {},
           0,
           communicator ? send.size() / communicator.size() : 0,
           send,
           receive}};
}
template <class T>
[[nodiscard]] CollectiveOp send(const Communicator& communicator, const GpuRef<T>& from,
                                std::uint32_t to) {
  return {communicator,
          {CollectiveKind::Send, detail::element_type<T>(), {}, to, from.size(), from, {}}};
}
template <class T>
[[nodiscard]] CollectiveOp receive(const Communicator& communicator, const GpuRef<T>& into,
                                   std::uint32_t from) {
  return {communicator,
          {CollectiveKind::Receive, detail::element_type<T>(), {}, from, into.size(), {}, into}};
}

}  // namespace reprise::inline REPRISE_ABI
