// How the ranks of a control channel find each other: rank 0 listens, the others connect to it and
// introduce themselves. Threads: functions run `io` on the calling thread, if at all.
#pragma once

#include <string>

#include "collectives/control_channel.hpp"
#include "trace/live/asio.hpp"

namespace reprise::detail {

namespace asio = trace::asio;

using ControlDoor = trace::AcceptorOf<asio::ip::tcp>;

// Throws Error (InvalidArgument).
void check_control_channel(const ControlChannelDesc& desc);
// Host and process: "node7, pid 4711".
[[nodiscard]] std::string control_name();
// The frame with which a rank introduces itself to rank 0.
[[nodiscard]] std::string control_greeting(const ControlChannelDesc& desc);

// Throws Error (NativeFailure) if no port is free.
[[nodiscard]] ControlDoor listen_for_ranks(asio::io_context& io, const ControlChannelDesc& desc);

struct HubConnection {
  trace::StreamSocket socket;
  std::string name;  // of rank 0
  std::uint64_t job_id = 0;
  std::uint32_t launched_rank = 0;  // of rank 0
};
// Tries all ports until rank 0 answers. Throws Error: RankLost if it does not within the limit,
// InvalidArgument for a bad address or if rank 0 already has a connection of this rank.
[[nodiscard]] HubConnection connect_to_hub(asio::io_context& io, const ControlChannelDesc& desc);

}  // namespace reprise::detail
