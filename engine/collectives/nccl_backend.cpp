// The collectives of a rank on a GPU, which NCCL runs.
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include <reprise/cuda_interop.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/collective_backend.hpp"
#include "collectives/nccl_library.hpp"

namespace reprise::detail {
namespace {

// The calls that end communicators, each on a thread of its own, because they wait for others:
// ncclCommDestroy until the other ranks destroy the same communicator, so that ranks which
// destroyed two of them in different orders would wait for each other; ncclCommAbort lets running
// kernels end, and then waits until graphs with the communicator are destroyed. The process waits
// for them before it ends, but no longer than kEndLimit.
class CommunicatorEnds {
 public:
  static constexpr std::chrono::seconds kEndLimit{2};
  using End = NcclLibrary::Result (*)(ncclComm*);

  // Never destroyed: the threads may outlive static destructors, and so may communicators.
  static CommunicatorEnds& of_process() {
    static CommunicatorEnds& ends = *new CommunicatorEnds;
    static const AtExit at_exit{ends};  // NCCL is open already: its own destructors run later
    return ends;
  }

  // Does not wait. If no thread can be started, the communicator stays open.
  void start(ncclComm* communicator, int ordinal, End end) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      if (is_process_ending_) return;
      const auto running = running_.insert(communicator);
      try {
        std::thread([this, communicator, ordinal, end] {
          // NCCL would otherwise create a context of GPU 0 for this thread.
          if (cudaSetDevice(ordinal) == cudaSuccess) static_cast<void>(end(communicator));
          const std::lock_guard ended(mutex_);
          running_.erase(running_.find(communicator));
          ended_.notify_all();
        }).detach();
      } catch (...) {
        running_.erase(running);
      }
    } catch (...) {
      // There is no memory.
    }
  }
  void wait_for(ncclComm* communicator) {
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, kEndLimit, [&] { return !running_.contains(communicator); });
  }

 private:
  struct AtExit {
    CommunicatorEnds& ends;
    ~AtExit() {
      std::unique_lock lock(ends.mutex_);
      ends.is_process_ending_ = true;
      ends.ended_.wait_for(lock, kEndLimit, [this] { return ends.running_.empty(); });
    }
  };

  std::mutex mutex_;
  std::condition_variable ended_;
  std::multiset<ncclComm*> running_;  // NCCL may reuse an address at once
  bool is_process_ending_ = false;
};

class NcclCollectives final : public CollectiveBackend {
 public:
  // `control`: null for a communicator of the application, which aborts it itself.
  NcclCollectives(Device device, ncclComm* communicator, std::uint32_t size,
                  std::shared_ptr<RankControl> control)
      : device_(std::move(device)),
        communicator_(communicator),
        size_(size),
        control_(std::move(control)) {
    if (!control_) return;
    check(nccl_.comm_cu_device(communicator_, &ordinal_), "ncclCommCuDevice");
    on_abort_ = control_->on_abort([this](const std::string&) { abort(); });
  }
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;
  ~NcclCollectives() override {
    on_abort_.reset();
    if (!control_) return;
    CommunicatorEnds& ends = CommunicatorEnds::of_process();
    if (is_aborted_) {
      ends.wait_for(communicator_);
      return;
    }
    try {
      const CurrentDevice current(device_);
      ends.start(communicator_, ordinal_, nccl_.comm_destroy);
    } catch (...) {
      // The device is lost, and the communicator with it.
    }
  }

  void record(GraphRecordCtx& ctx, std::span<const CollectiveDesc> operations) override {
    const auto stream = static_cast<NcclLibrary::Stream>(ctx.native_stream());
    const std::lock_guard lock(recording_);  // a profiling clone is recorded on another thread
    check(nccl_.group_start(), "ncclGroupStart");
    try {
      for (const CollectiveDesc& one : operations) add(call_of(ctx, one), stream);
    } catch (...) {
      static_cast<void>(nccl_.group_end());
      throw;
    }
    check(nccl_.group_end(), "ncclGroupEnd");
  }

  std::shared_ptr<CollectiveBackend> split(std::uint32_t color) override {
    const CurrentDevice current(device_);
    ncclComm* made = nullptr;
    check(nccl_.comm_split(communicator_, static_cast<int>(color), 0, &made, nullptr),
          "ncclCommSplit");
    int size = 0;
    check(nccl_.comm_count(made, &size), "ncclCommCount");
    return std::make_shared<NcclCollectives>(device_, made, static_cast<std::uint32_t>(size),
                                             control_);
  }

  std::string loop_exclusion() const override {
    if (!control_)
      return "its communicator was adopted, and may be used outside of graphs meanwhile";
    const char* const mixing = std::getenv("NCCL_GRAPH_MIXING_SUPPORT");
    return mixing != nullptr && std::string_view(mixing) == "0"
               ? std::string()
               : "NCCL was used before this library could set NCCL_GRAPH_MIXING_SUPPORT=0, without "
                 "which it captures events; set the variable when the program starts";
  }

 private:
  // At most once.
  void abort() {
    is_aborted_ = true;
    CommunicatorEnds::of_process().start(communicator_, ordinal_, nccl_.comm_abort);
  }

  void check(NcclLibrary::Result result, const char* call) const {
    nccl_.check(result, call, communicator_, Stage::Instantiate);
  }

  void add(const CollectiveCall& call, NcclLibrary::Stream stream) {
    const int type = nccl_type(call.type), reduce = nccl_operator(call.reduce),
              peer = static_cast<int>(call.peer);
    const auto [send, receive, count] = std::tuple(call.send, call.receive, call.count);
    switch (call.kind) {
      case CollectiveKind::AllReduce:
        return check(nccl_.all_reduce(send, receive, count, type, reduce, communicator_, stream),
                     "ncclAllReduce");
      case CollectiveKind::Reduce:
        return check(nccl_.reduce(send, receive, count, type, reduce, peer, communicator_, stream),
                     "ncclReduce");
      case CollectiveKind::Broadcast:
        return check(nccl_.broadcast(send, receive, count, type, peer, communicator_, stream),
                     "ncclBroadcast");
      case CollectiveKind::AllGather:
        return check(nccl_.all_gather(send, receive, count, type, communicator_, stream),
                     "ncclAllGather");
      case CollectiveKind::ReduceScatter:
        return check(
            nccl_.reduce_scatter(send, receive, count, type, reduce, communicator_, stream),
            "ncclReduceScatter");
      case CollectiveKind::AllToAll: {
        const std::uint64_t part = count * size_of(call.type);
        for (std::uint32_t rank = 0; rank < size_; ++rank) {
          check(nccl_.send(static_cast<const std::byte*>(send) + rank * part, count, type,
                           static_cast<int>(rank), communicator_, stream),
                "ncclSend");
          check(nccl_.receive(static_cast<std::byte*>(receive) + rank * part, count, type,
                              static_cast<int>(rank), communicator_, stream),
                "ncclRecv");
        }
        return;
      }
      case CollectiveKind::Send:
        return check(nccl_.send(send, count, type, peer, communicator_, stream), "ncclSend");
      case CollectiveKind::Receive:
        return check(nccl_.receive(receive, count, type, peer, communicator_, stream), "ncclRecv");
    }
  }

  const NcclLibrary& nccl_ = NcclLibrary::get();
  const Device device_;
  ncclComm* const communicator_;
  const std::uint32_t size_;
  const std::shared_ptr<RankControl> control_;
  int ordinal_ = 0;
  std::atomic<bool> is_aborted_{false};
  std::shared_ptr<const void> on_abort_;
  std::mutex recording_;
};

}  // namespace

std::shared_ptr<CollectiveBackend> make_nccl_backend(const Device& device,
                                                     std::shared_ptr<RankControl> control) {
  const NcclLibrary& nccl = NcclLibrary::get();
  NcclLibrary::require_no_registration();
  const CurrentDevice current(device);
  NcclUniqueId id;
  if (control->rank() == 0)
    nccl.check(nccl.get_unique_id(&id), "ncclGetUniqueId", nullptr, Stage::Open);
  std::vector<std::uint32_t> all(control->size());
  for (std::uint32_t rank = 0; rank < all.size(); ++rank) all[rank] = rank;
  const std::vector<std::string> ids =
      control->all_gather(0, all, std::string(id.internal, sizeof id.internal));
  std::memcpy(id.internal, ids.front().data(), sizeof id.internal);
  ncclComm* made = nullptr;
  nccl.check(nccl.comm_init_rank(&made, static_cast<int>(control->size()), id,
                                 static_cast<int>(control->rank())),
             "ncclCommInitRank", nullptr, Stage::Open);
  return std::make_shared<NcclCollectives>(device, made, control->size(), control);
}

std::shared_ptr<CollectiveBackend> adopt_nccl(const Device& device, ncclComm* communicator,
                                              std::uint32_t& rank, std::uint32_t& size) {
  const NcclLibrary& nccl = NcclLibrary::get();
  NcclLibrary::require_no_registration();
  int counted = 0, own = 0, ordinal = 0;
  const auto check = [&](NcclLibrary::Result result, const char* call) {
    nccl.check(result, call, communicator, Stage::Open);
  };
  check(nccl.comm_count(communicator, &counted), "ncclCommCount");
  check(nccl.comm_user_rank(communicator, &own), "ncclCommUserRank");
  check(nccl.comm_cu_device(communicator, &ordinal), "ncclCommCuDevice");
  const std::string selector = concat("cuda:", ordinal);
  if (device.info().selector != selector) {
    fail(ErrorCode::WrongDevice, Stage::Open, selector,
         concat("from_nccl: the communicator belongs to ", selector, ", not to ",
                device.info().selector));
  }
  rank = static_cast<std::uint32_t>(own);
  size = static_cast<std::uint32_t>(counted);
  return std::make_shared<NcclCollectives>(device, communicator, size, nullptr);
}

void copy_on_stream(void* stream, void* to, const void* from, std::uint64_t bytes) {
  const cudaError_t result =
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream));
  if (result != cudaSuccess)
    fail(ErrorCode::NativeFailure, Stage::Instantiate, "",
         concat("cudaMemcpyAsync failed: ", cudaGetErrorName(result)));
}

}  // namespace reprise::detail
