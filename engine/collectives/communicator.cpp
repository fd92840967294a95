// Communicator: how the ranks of a job find each other.
#include <unistd.h>

#include <chrono>
#include <numeric>
#include <random>
#include <sstream>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/rank_environment.hpp"
#include "base/text.hpp"
#include "collectives/communicator_core.hpp"
#include "collectives/control/control_channel.hpp"
#include "collectives/local_communicators.hpp"
#include "collectives/local_control.hpp"
#include "collectives/local_transport.hpp"
#include "collectives/mpi_loader.hpp"

namespace reprise::detail {
namespace {

std::vector<std::uint32_t> all_ranks(std::uint32_t size) {
  std::vector<std::uint32_t> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

std::shared_ptr<CommunicatorCore> make_world(const Device& device,
                                             std::shared_ptr<CollectiveOrder> order,
                                             std::shared_ptr<RankControl> control,
                                             std::shared_ptr<CollectiveBackend> backend,
                                             const CommunicatorDesc& desc) {
  const std::uint32_t rank = control ? control->rank() : 0, size = control ? control->size() : 1;
  auto job = std::make_shared<JobRank>(std::move(order), std::move(control), desc.stall_limit);
  return std::make_shared<CommunicatorCore>(CommunicatorCore::Desc{
      device, std::move(job), std::move(backend), CommunicatorCore::kWorld, all_ranks(size), rank});
}

void require_device(const Device& device, std::string_view call) {
  static_cast<void>(require_handle(core_of(device), "Device", call, Stage::Open));
  require_outside_callback("Communicator", call, Stage::Open, "");
}

// As old as reports of launches may be.
constexpr std::chrono::milliseconds kMinStallLimit{1'000};

void require_valid(const Device& device, const CommunicatorDesc& desc, std::string_view call) {
  require_device(device, call);
  if (desc.stall_limit >= kMinStallLimit) return;
  fail(ErrorCode::InvalidArgument, Stage::Open, "",
       concat(call, ": a stall_limit of ", desc.stall_limit.count(),
              " ms is too short; the minimum is ", kMinStallLimit.count(), " ms"));
}

// The backend of all ranks on the device of this one. `communicator`: of MPI, for the host device.
std::shared_ptr<CollectiveBackend> make_backend(const Device& device,
                                                const std::shared_ptr<RankControl>& control,
                                                MpiCommunicatorBytes communicator) {
  if (control->size() == 1) return make_single_rank_backend();
  switch (device.info().kind) {
    case DeviceKind::Cuda: return make_nccl_backend(device, control);
    case DeviceKind::Host: break;
  }
  std::unique_ptr<HostTransport> transport = load_mpi_module().open(communicator);
  if (transport->rank() != control->rank() || transport->size() != control->size()) {
    fail(ErrorCode::Unsupported, Stage::Open, "",
         concat("MPI started this process as rank ", transport->rank(), " of ", transport->size(),
                ", and the environment names rank ", control->rank(), " of ", control->size(),
                "; start ranks on the host device with mpirun, or with srun --mpi=pmix"));
  }
  return make_host_backend(std::move(transport), control);
}

std::string random_secret() {
  std::random_device random;
  std::ostringstream out;
  for (int i = 0; i < 8; ++i) out << std::hex << random() << '-';
  return std::move(out).str();
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15 + 0x13198a2e03707344;
}

}  // namespace

std::shared_ptr<CommunicatorCore> CommunicatorCore::split(std::uint32_t color) {
  const std::uint64_t number = ++splits_;
  if (size() == 1) {
    Desc alone = desc_;
    alone.id = mixed(mixed(desc_.id, number), color);
    return std::make_shared<CommunicatorCore>(std::move(alone));
  }
  if (!desc_.job->control()) {
    fail(ErrorCode::Unsupported, Stage::Open, "",
         "split: the ranks of an adopted communicator cannot exchange messages; split the native "
         "communicator and adopt its parts");
  }
  const std::string own = std::to_string(color);
  const std::vector<std::string> colors =
      desc_.job->control()->all_gather(desc_.id, desc_.members, own);
  Desc part{desc_.device, desc_.job, nullptr, mixed(mixed(desc_.id, number), color), {}, 0};
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (colors[i] != own) continue;
    if (i == desc_.rank) part.rank = static_cast<std::uint32_t>(part.members.size());
    part.members.push_back(desc_.members[i]);
  }
  // Libraries take colors below 2^31; the first member is one, and differs between parts.
  part.backend = desc_.backend->split(part.members.front());
  return std::make_shared<CommunicatorCore>(std::move(part));
}

std::vector<Communicator> local_communicators(const Device& host, std::uint32_t ranks,
                                              const CommunicatorDesc& desc) {
  require_valid(host, desc, "local_communicators");
  if (host.info().kind != DeviceKind::Host)
    fail(ErrorCode::Unsupported, Stage::Open, host.info().selector,
         concat("local_communicators: device ", host.info().selector,
                " cannot run several ranks of one process; pass the host device"));
  std::vector<Communicator> made;
  auto transports = make_local_transports(ranks);
  const auto controls = make_local_controls(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    made.push_back(make_handle<Communicator>(
        make_world(host, std::make_shared<CollectiveOrder>(host), controls[rank],
                   ranks == 1 ? make_single_rank_backend()
                              : make_host_backend(std::move(transports[rank]), controls[rank]),
                   desc)));
  }
  return made;
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

LaunchedRank launched_rank() {
  const auto environment = detail::read_rank_environment(detail::process_variable);
  if (!environment) return {};
  return {environment->rank, environment->size, environment->local_rank};
}

Communicator Communicator::from_environment(const Device& device, const CommunicatorDesc& desc) {
  detail::require_valid(device, desc, "from_environment");
  const auto environment = detail::read_rank_environment(detail::process_variable);
  std::shared_ptr<detail::RankControl> control;
  if (environment && environment->size > 1) {
    control = detail::ControlChannel::open(detail::control_channel_desc(
        *environment, detail::job_secret(detail::process_variable, *environment)));
  }
  auto backend =
      control ? detail::make_backend(device, control, {}) : detail::make_single_rank_backend();
  return Communicator(detail::make_world(device, detail::CollectiveOrder::of(device),
                                         std::move(control), std::move(backend), desc));
}

Communicator Communicator::from_mpi(const Device& device, const void* communicator,
                                    std::size_t bytes, const CommunicatorDesc& desc) {
  detail::require_valid(device, desc, "from_mpi");
  detail::MpiModule& mpi = detail::load_mpi_module();
  const detail::MpiCommunicatorBytes given{communicator, bytes};
  const detail::MpiModule::RankInfo info = mpi.rank_info(given);
  std::shared_ptr<detail::RankControl> control;
  if (info.size > 1) {
    detail::ControlChannelDesc channel;
    channel.rank = info.rank;
    channel.launched_rank = launched_rank().rank;
    channel.size = info.size;
    // Rank 0 sends "address port secret" to the others once it listens.
    if (info.rank == 0) {
      channel.secret = detail::random_secret();
      channel.address = info.local_size == info.size ? "127.0.0.1" : detail::host_name();
      channel.publish = [&](std::uint16_t port) {
        static_cast<void>(
            mpi.broadcast(given, detail::concat(channel.address, " ", port, " ", channel.secret)));
      };
    } else {
      std::istringstream text(mpi.broadcast(given, {}));
      text >> channel.address >> channel.port >> channel.secret;
      channel.port_count = 1;
    }
    control = detail::ControlChannel::open(channel);
  }
  auto backend =
      control ? detail::make_backend(device, control, given) : detail::make_single_rank_backend();
  return Communicator(detail::make_world(device, detail::CollectiveOrder::of(device),
                                         std::move(control), std::move(backend), desc));
}

Communicator Communicator::from_nccl(const Device& device, ncclComm* communicator) {
  detail::require_device(device, "from_nccl");
  std::uint32_t rank = 0, size = 1;
  auto backend = detail::adopt_nccl(device, communicator, rank, size);
  auto job = std::make_shared<detail::JobRank>(detail::CollectiveOrder::of(device), nullptr,
                                               CommunicatorDesc().stall_limit);
  return Communicator(std::make_shared<detail::CommunicatorCore>(detail::CommunicatorCore::Desc{
      device, std::move(job), std::move(backend), detail::CommunicatorCore::kWorld,
      detail::all_ranks(size), rank}));
}

Communicator Communicator::split(std::uint32_t color) const {
  detail::CommunicatorCore& core =
      detail::require_handle(core_, "Communicator", "split", Stage::Open);
  detail::require_outside_callback("Communicator", "split", Stage::Open, "");
  return Communicator(core.split(color));
}
std::uint32_t Communicator::rank() const {
  return detail::require_handle(core_, "Communicator", "rank", Stage::Record).rank();
}
bool Communicator::is_lost() const {
  return detail::require_handle(core_, "Communicator", "is_lost", Stage::Record).job().is_lost();
}
std::uint32_t Communicator::size() const {
  return detail::require_handle(core_, "Communicator", "size", Stage::Record).size();
}

}  // namespace reprise::inline REPRISE_ABI
