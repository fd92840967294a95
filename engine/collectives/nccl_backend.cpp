// The collectives of a rank on a GPU, which NCCL runs.
#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
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

// ncclCommAbort lets running kernels end, and then waits until graphs with the communicator are
// destroyed. It therefore has a thread of its own, which may outlive the communicator.
struct CommunicatorAbort {
  std::mutex mutex;
  std::condition_variable ended;
  bool is_started = false, has_ended = false;
};
constexpr std::chrono::seconds kAbortLimit{2};

class NcclCollectives final : public CollectiveBackend {
 public:
  // `control`: null for a communicator of the application, which aborts it itself.
  NcclCollectives(Device device, ncclComm* communicator, std::uint32_t size,
                  std::shared_ptr<RankControl> control)
      : device_(std::move(device)),
        communicator_(communicator),
        size_(size),
        control_(std::move(control)) {
    if (control_) on_abort_ = control_->on_abort([this](const std::string&) { abort(); });
  }
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;
  ~NcclCollectives() override {
    on_abort_.reset();
    if (!control_ || wait_for_abort()) return;
    try {
      const CurrentDevice current(device_);
      static_cast<void>(nccl_.comm_destroy(communicator_));
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
    // Colors of NCCL are not negative.
    check(nccl_.comm_split(communicator_, static_cast<int>(color & 0x7fffffff), 0, &made, nullptr),
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
  void abort() {
    const std::lock_guard lock(abort_->mutex);
    if (std::exchange(abort_->is_started, true)) return;
    std::thread([nccl = &nccl_, communicator = communicator_, abort = abort_] {
      static_cast<void>(nccl->comm_abort(communicator));
      const std::lock_guard ended(abort->mutex);
      abort->has_ended = true;
      abort->ended.notify_all();
    }).detach();
  }
  // False: the communicator was not aborted.
  [[nodiscard]] bool wait_for_abort() const {
    std::unique_lock lock(abort_->mutex);
    if (!abort_->is_started) return false;
    abort_->ended.wait_for(lock, kAbortLimit, [this] { return abort_->has_ended; });
    return true;
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
  const std::shared_ptr<CommunicatorAbort> abort_ = std::make_shared<CommunicatorAbort>();
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
