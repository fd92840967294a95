// ControlChannel: RankControl over TCP. Every rank connects to rank 0, whose hub relays messages.
//
//   const auto channel = ControlChannel::open(control_channel_desc(environment, secret));
//
// Rank 0 and the others prove to each other that they know the secret; see control_handshake.hpp.
// It separates jobs that use the same ports, and keeps out who cannot guess it. What follows is not
// protected from others who can change the network traffic. Once all ranks are connected, no port
// is open.
// Threads: any. Each channel has one thread of its own. A forked child may only destroy its copy.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/creator_process.hpp"
#include "base/rank_environment.hpp"
#include "collectives/rank_control.hpp"

namespace reprise::detail {

struct ControlChannelDesc {
  std::uint32_t rank = 0, size = 1;
  std::uint32_t launched_rank = 0;  // of this process, for clock exchanges
  std::string address;              // of rank 0: a name or an IP address; ignored if `size` is 1
  // Rank 0 listens on the first free port of [port, port + port_count); the others try all of
  // these. 0: rank 0 listens on any free port; the others are given that port and a count of 1.
  std::uint16_t port = 0;
  std::uint16_t port_count = 16;
  std::string secret;  // the same on all ranks, at most 2,048 bytes
  // Called by rank 0 with the port in use before it waits for the others; may be empty. Not called
  // if `size` is 1.
  std::function<void(std::uint16_t port)> publish;
  std::chrono::milliseconds connect_limit{60'000};  // until all ranks are connected
  std::chrono::milliseconds gather_limit{120'000};  // of all_gather; that of rank 0 counts
  std::chrono::milliseconds heartbeat{200};         // between reports of progress
  std::chrono::milliseconds greeting_limit{5'000};  // for the greeting of one connection
};

// Uses 16 ports beside that of the environment, on which the launcher may listen.
[[nodiscard]] ControlChannelDesc control_channel_desc(const RankEnvironment& environment,
                                                      std::string secret);

class ControlChannel final : public RankControl {
 public:
  // Collective: returns when all ranks are connected. Throws Error (Stage::Open): RankLost with
  // the ranks that are missing or lost, InvalidArgument for a bad description or a rank that is
  // taken, NativeFailure if no port is free.
  [[nodiscard]] static std::shared_ptr<ControlChannel> open(const ControlChannelDesc& desc);
  ~ControlChannel() override;  // leave()
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  // Sends the last report and a goodbye, so that the end of this rank does not abort the job. Waits
  // until all messages are sent, for at most 2 s, and for a handler that is running. Afterwards,
  // all_gather() throws on this rank, and on others if it needs this rank; if rank 0 leaves, on
  // all.
  void leave() noexcept;

  [[nodiscard]] std::uint32_t rank() const noexcept override;
  [[nodiscard]] std::uint32_t size() const noexcept override;
  // A message has at most 16 MiB / members - 1 KiB. Also throws Error: InvalidArgument for a longer
  // message or wrong members, RankMismatch if the members of one group's call differ.
  [[nodiscard]] std::vector<std::string> all_gather(std::uint64_t group,
                                                    std::span<const std::uint32_t> members,
                                                    std::string message) override;
  void end_group(std::uint64_t group) noexcept override;
  // Sent with the next heartbeat.
  void report_progress(std::string report) override;
  // 64 KiB, and less in jobs of over 128 ranks: all reports of a job fit into one frame.
  [[nodiscard]] std::size_t max_report_bytes() const noexcept override;
  [[nodiscard]] std::vector<Progress> progress() const override;
  // At the start and with each heartbeat; at most the newest 1,024 are kept.
  [[nodiscard]] std::vector<RankAgreement::ClockExchange> take_clock_exchanges() override;
  [[nodiscard]] std::uint64_t job_id() const noexcept override;
  void abort(std::string reason) noexcept override;
  [[nodiscard]] std::string abort_reason() const override;
  // Handlers run on the channel's thread, which relays no messages meanwhile; they may destroy the
  // channel. Their exceptions are ignored. The destructor of the result waits while the handler
  // runs, except on that thread. After leave(), no handler runs.
  [[nodiscard]] std::shared_ptr<const void> on_abort(
      std::function<void(const std::string& reason)> handler) override;

 private:
  class Core;
  explicit ControlChannel(std::shared_ptr<Core> core) noexcept;

  CreatorProcess process_;
  std::shared_ptr<Core> core_;
};

}  // namespace reprise::detail
