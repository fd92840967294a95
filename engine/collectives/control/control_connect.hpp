// How the ranks of a control channel find each other: rank 0 listens, and the others connect to it.
// Threads: functions run `io` on the calling thread, if at all.
#pragma once

#include <memory>
#include <string>

#include "base/asio.hpp"
#include "collectives/control/control_channel.hpp"
#include "collectives/control/control_peer.hpp"

namespace reprise::detail {

using ControlDoor = AcceptorOf<asio::ip::tcp>;

// Throws Error (InvalidArgument).
void check_control_channel(const ControlChannelDesc& desc);
// Host and process: "node7, pid 4711".
[[nodiscard]] std::string control_name();

// Throws Error (NativeFailure) if no port is free.
[[nodiscard]] ControlDoor listen_for_ranks(asio::io_context& io, const ControlChannelDesc& desc);

struct HubConnection {
  std::shared_ptr<ControlPeer> peer;  // has started; change its owner before `io` runs again
  std::string name;                   // of rank 0
  std::uint64_t job_id = 0;
  std::uint32_t launched_rank = 0;  // of rank 0
};
// Tries all ports at once until rank 0 answers, which proves that it knows the secret. Throws
// Error: RankLost if it does not within the limit, InvalidArgument for a bad address or if rank 0
// already has a connection of this rank.
[[nodiscard]] HubConnection connect_to_hub(asio::io_context& io, const ControlChannelDesc& desc);

}  // namespace reprise::detail
