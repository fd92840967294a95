// The collectives of a rank on the host device, and those of a communicator with one rank.
#include <cstring>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/call_rules.hpp"
#include "collectives/collective_backend.hpp"
#include "collectives/host_progress.hpp"

namespace reprise::detail {
namespace {

class HostCollectives final : public CollectiveBackend,
                              public std::enable_shared_from_this<HostCollectives> {
 public:
  HostCollectives(std::unique_ptr<HostTransport> transport, std::shared_ptr<RankControl> control,
                  std::shared_ptr<HostProgress> progress)
      : transport_(std::move(transport)),
        control_(std::move(control)),
        progress_(std::move(progress)),
        on_abort_(
            control_->on_abort([this](const std::string& reason) { transport_->abort(reason); })) {}

  void record(GraphRecordCtx& ctx, std::span<const CollectiveDesc> operations) override {
    auto calls = std::make_shared<std::vector<CollectiveCall>>();
    for (const CollectiveDesc& operation : operations) calls->push_back(call_of(ctx, operation));
    ctx.host_async([self = shared_from_this(), calls](GraphRecordCtx::StepDone done) {
      self->progress_->submit(*self->transport_, *calls, std::move(done));
    });
  }

  std::shared_ptr<CollectiveBackend> split(std::uint32_t color) override {
    return std::make_shared<HostCollectives>(transport_->split(color), control_, progress_);
  }

 private:
  const std::unique_ptr<HostTransport> transport_;
  const std::shared_ptr<RankControl> control_;
  const std::shared_ptr<HostProgress> progress_;
  const std::shared_ptr<const void> on_abort_;  // destroyed before the transport
};

// Every operation copies, if it is not in place.
class SingleRankCollectives final : public CollectiveBackend,
                                    public std::enable_shared_from_this<SingleRankCollectives> {
 public:
  void record(GraphRecordCtx& ctx, std::span<const CollectiveDesc> operations) override {
    std::vector<CollectiveDesc> copies;
    std::vector<CollectiveDesc> sends;  // which the receives of the group get in their order
    for (const CollectiveDesc& one : operations)
      if (one.kind == CollectiveKind::Send) sends.push_back(one);
    auto next_send = sends.begin();
    for (const CollectiveDesc& one : operations) {
      if (one.kind == CollectiveKind::Send) continue;
      copies.push_back(one);
      if (one.kind != CollectiveKind::Receive) continue;
      if (next_send == sends.end() || next_send->count != one.count)
        fail(
            ErrorCode::RankMismatch, Stage::Instantiate, "receive",
            concat("receive: no send of ", one.count,
                   " elements to the only rank of the communicator is in the same group; add one"));
      copies.back().send = next_send++->send;
    }
    if (next_send != sends.end())
      fail(ErrorCode::RankMismatch, Stage::Instantiate, "send",
           concat("send: no receive of its ", next_send->count,
                  " elements by the only rank of the communicator is in the same group; add one"));
    for (const CollectiveDesc& one : copies) {
      const CollectiveCall call = call_of(ctx, one);
      if (call.send != nullptr && call.send != call.receive)
        copy(ctx, call.receive, call.send, one.receive.bytes());
    }
  }
  std::shared_ptr<CollectiveBackend> split(std::uint32_t) override { return shared_from_this(); }

 private:
  static void copy(GraphRecordCtx& ctx, void* to, const void* from, std::uint64_t bytes) {
    switch (ctx.device_kind()) {
      case DeviceKind::Host: return ctx.host([=](std::uint32_t) { std::memcpy(to, from, bytes); });
      case DeviceKind::Cuda: return copy_on_stream(ctx.native_stream(), to, from, bytes);
    }
  }
};

}  // namespace

std::shared_ptr<CollectiveBackend> make_single_rank_backend() {
  return std::make_shared<SingleRankCollectives>();
}

CollectiveCall call_of(const GraphRecordCtx& ctx, const CollectiveDesc& operation) {
  CollectiveCall call{operation.kind,  operation.type, operation.reduce, operation.peer,
                      operation.count, nullptr,        nullptr};
  if (operation.send) call.send = ctx.address(operation.send);
  if (operation.receive) call.receive = ctx.address(operation.receive);
  return call;
}

std::shared_ptr<CollectiveBackend> make_host_backend(std::unique_ptr<HostTransport> transport,
                                                     std::shared_ptr<RankControl> control) {
  return std::make_shared<HostCollectives>(std::move(transport), std::move(control),
                                           std::make_shared<HostProgress>());
}

}  // namespace reprise::detail
