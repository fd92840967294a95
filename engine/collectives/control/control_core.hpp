// ControlChannel::Core: the connections of a control channel. Its thread handles them; calls of
// other threads post to it.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/abort_handlers.hpp"
#include "collectives/control/control_channel.hpp"
#include "collectives/control/control_connect.hpp"
#include "collectives/control/control_peer.hpp"
#include "collectives/control/gather_table.hpp"
#include "collectives/control/rank_table.hpp"

namespace reprise::detail {

// The other ranks wait this much longer than rank 0, which enforces the limits.
inline constexpr std::chrono::milliseconds kHubGrace{5000};

// The part that the thread shares. Members after "Loop" belong to the thread of io_, and to open()
// before it starts; those after "Locked" are protected by mutex_.
class ControlChannel::Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(const ControlChannelDesc& desc)
      : desc_(desc),
        table_(desc.size, desc.rank, control_name()),
        peers_(desc.size),
        gathers_(desc.size, desc.gather_limit,
                 {[this](std::uint32_t rank, const Frame& frame) { deliver(rank, frame); },
                  [this](std::uint32_t rank) { return describe(rank); }}) {}

  void start();
  void wait_for_all();
  void leave() noexcept;
  std::vector<std::string> all_gather(std::uint64_t group, std::span<const std::uint32_t> members,
                                      const std::string& message);
  void end_group(std::uint64_t group) noexcept;
  void report_progress(std::string report);
  std::size_t max_report_bytes() const noexcept {
    return std::min<std::size_t>(64U << 10, kMaxFrameBytes / 2 / desc_.size);
  }
  std::vector<Progress> progress() const;
  std::vector<RankAgreement::ClockExchange> take_clock_exchanges();
  std::uint64_t job_id() const noexcept { return job_id_; }
  void abort(std::string reason) noexcept;
  std::string abort_reason() const;
  std::shared_ptr<const void> on_abort(AbortHandlers::Handler handler);
  const ControlChannelDesc& desc() const noexcept { return desc_; }

 private:
  struct Call {
    std::size_t members = 0;
    bool is_done = false;
    std::vector<std::string> result;
    std::string failure;  // empty: success
    ErrorCode code = ErrorCode::RankLost;
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  [[nodiscard]] bool is_hub() const noexcept { return desc_.rank == 0; }
  // "rank 3 (node7, pid 4711)"
  [[nodiscard]] std::string describe(std::uint32_t rank) const;
  // Empty: calls of this rank can succeed. Requires the lock.
  [[nodiscard]] std::string why_ended() const;

  // On the loop.
  void run() noexcept;
  void tick();
  void accept();
  void add_unauthenticated(int socket);
  void authenticate(ControlPeer& peer, FrameType type, std::string_view body);
  void add_rank(ControlPeer& peer, std::uint32_t rank, std::string name);
  [[nodiscard]] ControlPeer::OnFrame on_frame();
  [[nodiscard]] ControlPeer::OnEnd on_end();
  void receive(std::uint32_t from, FrameType type, std::string_view body);
  void receive_time(FrameReader& reader);
  void receive_result(FrameType type, std::string_view body);
  void peer_ended(ControlPeer& peer);
  void rank_left(std::uint32_t rank);
  void deliver(std::uint32_t rank, const Frame& frame);
  enum class Busy : std::uint8_t { Skip, Include };  // peers with unsent frames
  void send_report(Busy busy);                       // to rank 0
  void send_tables(Busy busy);
  void propagate_abort();
  void begin_leave();
  void end_if_left();

  static constexpr std::uint32_t kRanksPerTick = 256;  // larger jobs send tables less often
  static constexpr std::size_t kKeptExchanges = 1024;
  static constexpr std::uint32_t kFirstExchanges = 16;  // in quick succession

  const ControlChannelDesc desc_;
  std::uint64_t job_id_ = 0;        // constant after start()
  std::uint32_t hub_launched_ = 0;  // rank 0 among the launched ranks; likewise
  asio::io_context io_{1};
  std::optional<asio::executor_work_guard<Executor>> work_;
  std::thread thread_;
  const std::shared_ptr<AbortHandlers> handlers_ = std::make_shared<AbortHandlers>();
  std::atomic<std::size_t> refused_ = 0;  // connections with a wrong greeting

  // Locked.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::thread::id loop_id_;
  RankTable table_;
  std::map<std::uint64_t, std::uint64_t> next_sequence_;  // by group
  std::map<Key, Call*> calls_;
  std::vector<RankAgreement::ClockExchange> exchanges_;
  bool is_aborted_ = false, is_left_ = false;
  std::string abort_reason_;

  // Loop. Rank 0 has a peer for each other rank, and these have one for rank 0.
  std::vector<std::shared_ptr<ControlPeer>> peers_;
  std::list<std::shared_ptr<ControlPeer>> unauthenticated_;  // oldest first
  std::optional<ControlDoor> door_;
  std::optional<ClosedInFork> door_in_fork_;
  std::uint16_t port_ = 0;
  SteadyTimer heartbeat_{io_}, linger_{io_};
  std::uint32_t exchange_count_ = 0, ticks_ = 0;
  bool accept_waits_ = false, is_propagated_ = false, is_leaving_ = false;
  GatherTable gathers_;
};

}  // namespace reprise::detail
