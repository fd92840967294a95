#include "collectives/control/control_connect.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/control/control_frame.hpp"
#include "collectives/control/control_handshake.hpp"

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

// Tries all places where rank 0 may listen, each again and again, until one is rank 0. Handlers
// share it, and do nothing once it has ended.
class HubSearch : public std::enable_shared_from_this<HubSearch> {
 public:
  HubSearch(asio::io_context& io, const ControlChannelDesc& desc) : io_(io), desc_(desc) {}

  void add(const asio::ip::tcp::endpoint& endpoint) {
    places_.push_back(std::make_unique<Place>(io_, endpoint));
    connect(*places_.back());
  }
  // Closes all connections but that to rank 0. Throws InvalidArgument if rank 0 refuses this rank.
  std::optional<HubConnection> end() {
    is_over_ = true;
    for (const auto& place : places_) {
      if (place->peer && (!found_ || place->peer != found_->peer)) place->peer->close();
      place->close();
    }
    if (!refusal_.empty()) refuse_description(refusal_);
    return std::move(found_);
  }
  // The fault of the last endpoint that failed other than by refusing the connection; empty: there
  // is none.
  [[nodiscard]] const std::string& last_fault() const noexcept { return last_fault_; }

 private:
  struct Place {
    Place(asio::io_context& io, const asio::ip::tcp::endpoint& at)
        : endpoint(at), socket(io), timer(io) {}
    void close() {
      asio::error_code ignored;
      socket.close(ignored);
      closed_in_fork.reset();
      peer.reset();
      timer.cancel();
    }
    const asio::ip::tcp::endpoint endpoint;
    StreamSocket socket;  // until it is connected
    std::optional<ClosedInFork> closed_in_fork;
    std::shared_ptr<ControlPeer> peer;  // from then on
    std::optional<RankHandshake> handshake;
    SteadyTimer timer;  // of one attempt, and of the pause after it
    milliseconds pause{10};
    std::uint64_t attempt = 0;
  };

  // Calls `work` unless the search or the attempt has ended meanwhile.
  template <class Work>
  auto in_attempt(Place& place, Work work) {
    return [self = shared_from_this(), &place, attempt = place.attempt,
            work = std::move(work)](const asio::error_code& error) {
      if (!self->is_over_ && place.attempt == attempt) work(error);
    };
  }
  void after(Place& place, milliseconds time, void (HubSearch::*next)(Place&)) {
    place.timer.expires_after(time);
    place.timer.async_wait(in_attempt(place, [this, &place, next](const asio::error_code& error) {
      if (!error) (this->*next)(place);
    }));
  }

  void connect(Place& place) {
    ++place.attempt;
    const int family = place.endpoint.protocol().family(), native = open_tcp_socket(family);
    if (native < 0) return fail_attempt(place, {errno, asio::system_category()});
    asio::error_code error;
    place.socket.assign({family, IPPROTO_TCP}, native, error);
    if (error) {
      ::close(native);
      return fail_attempt(place, error);
    }
    place.closed_in_fork.emplace(native);
    after(place, desc_.greeting_limit, &HubSearch::time_out);
    place.socket.async_connect(place.endpoint,
                               in_attempt(place, [this, &place](const asio::error_code& result) {
                                 result ? fail_attempt(place, result) : greet(place);
                               }));
  }

  void greet(Place& place) {
    place.handshake.emplace(desc_.secret, place.endpoint.port(), desc_.rank, desc_.size);
    place.peer = std::make_shared<ControlPeer>(std::move(place.socket), kMaxGreetingBytes);
    place.closed_in_fork.reset();
    place.peer->start(
        [self = shared_from_this(), &place](ControlPeer& from, FrameType type,
                                            std::string_view body) {
          if (!self->is_over_) self->receive(place, from, type, body);
        },
        [self = shared_from_this(), &place](ControlPeer&) {
          if (!self->is_over_)
            self->end_attempt(place, "another program, or a job of another secret or size");
        });
    place.peer->send(place.handshake->hello());
  }

  void receive(Place& place, ControlPeer& from, FrameType type, std::string_view body) {
    if (type == FrameType::Challenge && !place.handshake->is_proved())
      return from.send(place.handshake->prove(body, control_name()));
    FrameReader reader(body);
    if (!place.handshake->is_proved()) throw MalformedFrame{};
    if (type == FrameType::Refused) {
      refusal_ = reader.text();
    } else if (type == FrameType::Welcome) {
      std::string name = reader.text();
      const std::uint64_t job_id = reader.u64();
      found_ = HubConnection{place.peer, std::move(name), job_id, reader.u32()};
    } else {
      throw MalformedFrame{};
    }
    is_over_ = true;
    io_.stop();
  }

  void time_out(Place& place) { fail_attempt(place, asio::error::timed_out); }
  // A closed port is no fault: rank 0 may listen on it later, or on another one.
  void fail_attempt(Place& place, const asio::error_code& error) {
    end_attempt(place, error == asio::error::connection_refused ? "" : error.message());
  }
  void end_attempt(Place& place, const std::string& fault) {
    if (!fault.empty()) last_fault_ = concat("; port ", place.endpoint.port(), ": ", fault);
    if (place.peer) place.peer->close();
    place.close();
    ++place.attempt;
    after(place, place.pause, &HubSearch::connect);
    place.pause = std::min(2 * place.pause, milliseconds(500));
  }

  asio::io_context& io_;
  const ControlChannelDesc& desc_;
  std::vector<std::unique_ptr<Place>> places_;
  std::optional<HubConnection> found_;
  std::string refusal_, last_fault_;
  bool is_over_ = false;
};

}  // namespace

void check_control_channel(const ControlChannelDesc& desc) {
  if (desc.size == 0 || desc.size > kMaxRanks || desc.rank >= desc.size)
    refuse_description(
        concat("rank ", desc.rank, " of ", desc.size,
               ": the rank must be less than the number of ranks, which must be 1 to ", kMaxRanks));
  if (desc.secret.size() > kMaxSecretBytes)
    refuse_description(concat("the secret of the job has ", desc.secret.size(),
                              " bytes; the limit is ", kMaxSecretBytes));
  if (desc.size == 1) return;
  if (desc.address.empty()) refuse_description("the address of rank 0 is unknown; set MASTER_ADDR");
  if (desc.port_count == 0 || desc.port + desc.port_count > 65'536 ||
      (desc.port == 0 && desc.rank != 0))
    refuse_description(concat(desc.port_count, " ports from ", desc.port,
                              " are not a valid range; ports are 1 to 65535"));
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
  TcpResolver resolver(io);
  asio::error_code error;
  TcpResolver::results_type addresses;
  do {
    addresses = resolver.resolve(desc.address, "", error);
    if (error == asio::error::host_not_found_try_again)
      std::this_thread::sleep_for(milliseconds(100));
  } while (error == asio::error::host_not_found_try_again && Clock::now() < deadline);
  if (error) refuse_description(concat(desc.address, ", the address of rank 0: ", error.message()));
  const auto search = std::make_shared<HubSearch>(io, desc);
  for (int i = 0; i < desc.port_count; ++i)
    for (const auto& found : addresses)
      search->add({found.endpoint().address(), static_cast<std::uint16_t>(desc.port + i)});
  io.restart();
  io.run_until(deadline);
  if (std::optional<HubConnection> hub = search->end()) return std::move(*hub);
  fail(ErrorCode::RankLost, Stage::Open, {},
       concat("rank 0 did not answer within ", desc.connect_limit.count(), " ms at ",
              ports_of(desc), search->last_fault()));
}

}  // namespace reprise::detail
