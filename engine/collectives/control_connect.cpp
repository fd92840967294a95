#include "collectives/control_connect.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/control_frame.hpp"
#include "collectives/control_peer.hpp"
#include "trace/live/stream_io.hpp"

namespace reprise::detail {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint32_t kMaxRanks = 16'384;  // a table of all ranks fits into a frame
constexpr std::size_t kMaxSecretBytes = 2048;

[[noreturn]] void refuse_description(const std::string& text) {
  fail(ErrorCode::InvalidArgument, Stage::Open, {}, text);
}

std::string ports_of(const ControlChannelDesc& desc) {
  std::string text = concat(desc.address, ", port ", desc.port);
  if (desc.port_count > 1) text += concat(" to ", desc.port + desc.port_count - 1);
  return text;
}

asio::error_code listen_on(ControlDoor& door, const asio::ip::tcp::endpoint& endpoint) {
  const int socket = open_tcp_socket(endpoint.protocol().family());
  if (socket < 0) return {errno, asio::system_category()};
  asio::error_code error, ignored;
  door.close(ignored);
  door.assign(endpoint.protocol(), socket, error);
  if (error) {
    ::close(socket);
    return error;
  }
  door.set_option(asio::socket_base::reuse_address(true), ignored);
  const int off = 0;  // also accepts IPv4
  if (endpoint.address().is_v6())
    ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  door.bind(endpoint, error);
  if (!error) door.listen(asio::socket_base::max_listen_connections, error);
  return error;
}

// Returns why rank 0 did not answer; an empty text if the port is closed.
std::variant<HubConnection, std::string> try_to_connect(asio::io_context& io,
                                                        const ControlChannelDesc& desc,
                                                        const asio::ip::tcp::endpoint& endpoint,
                                                        Clock::time_point deadline) {
  const int native = open_tcp_socket(endpoint.protocol().family());
  if (native < 0) return asio::error_code(errno, asio::system_category()).message();
  trace::StreamSocket socket(io);
  asio::error_code error;
  socket.assign({endpoint.protocol().family(), IPPROTO_TCP}, native, error);
  if (error) {
    ::close(native);
    return error.message();
  }
  std::optional<ClosedInFork> closed_in_fork(native);
  const auto finished = [&](const auto& begin) {
    bool is_done = false;
    begin([&](const asio::error_code& result) {
      is_done = true;
      error = result;
    });
    io.restart();
    io.run_until(deadline);
    if (!is_done) {
      closed_in_fork.reset();
      asio::error_code ignored;
      socket.close(ignored);
      io.restart();
      io.run();
      error = asio::error::timed_out;
    }
    return !error;
  };
  if (!finished([&](auto done) { socket.async_connect(endpoint, done); }))
    return error == asio::error::connection_refused ? std::string() : error.message();
  const std::string hello = control_greeting(desc);
  const asio::const_buffer hello_bytes[] = {asio::buffer(hello)};
  FrameHeader header;
  std::string body;
  try {
    if (finished([&](auto done) { trace::async_write_all(socket, hello_bytes, done); }) &&
        finished([&](auto done) { trace::async_read_all(socket, asio::buffer(header), done); })) {
      FrameReader header_reader({header.data(), header.size()});
      const auto type = static_cast<FrameType>(header_reader.u32());
      body.resize(std::min(header_reader.u32(), kMaxGreetingBytes));
      if (type != FrameType::Welcome && type != FrameType::Refused) throw MalformedFrame{};
      if (finished([&](auto done) { trace::async_read_all(socket, asio::buffer(body), done); })) {
        FrameReader reader(body);
        if (reader.u64() != kControlMagic || reader.u32() != kControlVersion)
          throw MalformedFrame{};
        std::string text = reader.text();
        if (type == FrameType::Refused) refuse_description(text);
        const std::uint64_t job_id = reader.u64();
        return HubConnection{std::move(socket), std::move(text), job_id, reader.u32()};
      }
    }
  } catch (const MalformedFrame&) {
    return "another program";
  }
  return error == asio::error::eof || error == asio::error::connection_reset
             ? "refused by another program, or by a job of another secret or size"
             : error.message();
}

}  // namespace

void check_control_channel(const ControlChannelDesc& desc) {
  if (desc.size == 0 || desc.size > kMaxRanks || desc.rank >= desc.size)
    refuse_description(concat("rank ", desc.rank, " of ", desc.size,
                              ": expected a rank below a size of 1 to ", kMaxRanks));
  if (desc.secret.size() > kMaxSecretBytes)
    refuse_description(concat("the secret of the job has more than ", kMaxSecretBytes, " bytes"));
  if (desc.size == 1) return;
  if (desc.address.empty())
    refuse_description("the address of rank 0 is not known; set MASTER_ADDR");
  if (desc.port_count == 0 || desc.port + desc.port_count > 65'536 ||
      (desc.port == 0 && desc.rank != 0))
    refuse_description(concat("no range of ports: ", desc.port_count, " from ", desc.port));
}

std::string control_name() {
  char host[128] = {};
  ::gethostname(host, sizeof(host) - 1);
  return concat(std::string_view(host), ", pid ", ::getpid());
}

ControlDoor listen_for_ranks(asio::io_context& io, const ControlChannelDesc& desc) {
  ControlDoor door(io);
  asio::error_code error;
  const auto literal = asio::ip::make_address(desc.address, error);
  // Other names of this host can have a loopback address here and another one elsewhere.
  std::vector<asio::ip::address> addresses{asio::ip::address_v6::any(),
                                           asio::ip::address_v4::any()};
  if (!error && literal.is_loopback()) addresses = {literal};
  if (desc.address == "localhost") addresses = {asio::ip::address_v4::loopback()};
  const int count = desc.port == 0 ? 1 : desc.port_count;
  for (int i = 0; i < count; ++i) {
    for (const auto& address : addresses) {
      error = listen_on(door, {address, static_cast<std::uint16_t>(desc.port + i)});
      if (!error) return door;
      if (error == asio::error::address_in_use) break;
    }
  }
  fail(ErrorCode::NativeFailure, Stage::Open, {},
       concat("rank 0 cannot listen on ", ports_of(desc), ": ", error.message()));
}

HubConnection connect_to_hub(asio::io_context& io, const ControlChannelDesc& desc) {
  const auto deadline = Clock::now() + desc.connect_limit;
  trace::TcpResolver resolver(io);
  asio::error_code error;
  trace::TcpResolver::results_type addresses;
  do {
    addresses = resolver.resolve(desc.address, "", error);
    if (error == asio::error::host_not_found_try_again)
      std::this_thread::sleep_for(milliseconds(100));
  } while (error == asio::error::host_not_found_try_again && Clock::now() < deadline);
  if (error) refuse_description(concat(desc.address, ", the address of rank 0: ", error.message()));
  milliseconds pause(10);
  for (std::string last;;) {
    for (int i = 0; i < desc.port_count; ++i) {
      for (const auto& found : addresses) {
        const auto port = static_cast<std::uint16_t>(desc.port + i);
        auto outcome = try_to_connect(io, desc, {found.endpoint().address(), port},
                                      std::min(deadline, Clock::now() + desc.greeting_limit));
        if (auto* const hub = std::get_if<HubConnection>(&outcome)) return std::move(*hub);
        const std::string& why = std::get<std::string>(outcome);
        if (!why.empty()) last = concat("; port ", port, ": ", why);
        if (Clock::now() >= deadline) {
          fail(ErrorCode::RankLost, Stage::Open, {},
               concat("rank 0 did not answer within ", desc.connect_limit.count(), " ms at ",
                      ports_of(desc), last));
        }
      }
    }
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, deadline - Clock::now()));
    pause = std::min(2 * pause, milliseconds(500));
  }
}

std::string control_greeting(const ControlChannelDesc& desc) {
  return *FrameWriter(FrameType::Hello)
              .u64(kControlMagic)
              .u32(kControlVersion)
              .u32(desc.rank)
              .u32(desc.size)
              .text(desc.secret)
              .text(control_name())
              .finish();
}

}  // namespace reprise::detail
