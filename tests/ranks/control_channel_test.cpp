// The messages, aborts and losses of control channels.
#include "base/steady_clock.hpp"
#include "ranks/control_channel_fixture.hpp"

namespace reprise::test {

TEST_CASE("control channel: all_gather returns the messages in the order of the members") {
  const Channels channels = open_all(4);
  in_each_rank(4, [&](std::uint32_t rank) {
    CHECK(channels[rank]->rank() == rank);
    CHECK(channels[rank]->size() == 4);
    const auto got = channels[rank]->all_gather(1, all_of(4), std::string(rank, 'a'));
    CHECK(got == std::vector<std::string>{"", "a", "aa", "aaa"});
    const std::vector<std::uint32_t> pair =
        rank % 2 == 0 ? std::vector<std::uint32_t>{0, 2} : std::vector<std::uint32_t>{1, 3};
    // One number for two groups would match them with each other.
    const auto of_pair = channels[rank]->all_gather(2 + rank % 2, pair, std::to_string(rank));
    CHECK(of_pair == std::vector<std::string>{std::to_string(pair[0]), std::to_string(pair[1])});
    CHECK(channels[rank]->all_gather(9, std::vector{rank}, "own") ==
          std::vector<std::string>{"own"});
  });
}

TEST_CASE("control channel: groups are independent, whatever the order of their calls") {
  const Channels channels = open_all(2);
  // Rank 0 calls group 1 first and rank 1 calls group 2 first, so both are open at once.
  in_each_rank(2, [&](std::uint32_t rank) {
    in_each_rank(2, [&](std::uint32_t thread) {
      const std::uint64_t group = (rank + thread) % 2;
      for (int i = 0; i < 100; ++i) {
        const std::string message = std::to_string(group) + "/" + std::to_string(i);
        CHECK(channels[rank]->all_gather(group, all_of(2), message) ==
              std::vector<std::string>{message, message});
      }
    });
  });
}

TEST_CASE("control channel: 8 ranks, 1,000 gathers") {
  const Channels channels = open_all(8);
  std::atomic<int> wrong = 0;
  in_each_rank(8, [&](std::uint32_t rank) {
    for (std::uint32_t i = 0; i < 1000; ++i) {
      const auto got = channels[rank]->all_gather(7, all_of(8), std::to_string(i * 8 + rank));
      for (std::uint32_t other = 0; other < 8; ++other)
        if (got.size() != 8 || got[other] != std::to_string(i * 8 + other)) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("control channel: large messages, and messages over the limit") {
  const Channels channels = open_all(2);
  const std::string large(4U << 20, 'z');
  in_each_rank(2, [&](std::uint32_t rank) {
    const auto got = channels[rank]->all_gather(0, all_of(2), large);
    CHECK(got == std::vector<std::string>{large, large});
  });
  CHECK(has(error_of(
                [&] {
                  static_cast<void>(
                      channels[0]->all_gather(0, all_of(2), std::string(8U << 20, 'z')));
                },
                ErrorCode::InvalidArgument),
            "too long"));
  for (const std::vector<std::uint32_t>& members :
       {std::vector<std::uint32_t>{}, {1}, {1, 0}, {0, 0}, {0, 2}}) {
    error_of([&] { static_cast<void>(channels[0]->all_gather(0, members, "")); },
             ErrorCode::InvalidArgument);
  }
}

TEST_CASE("control channel: different members of one group are an error for both") {
  const Channels channels = open_all(3);
  in_each_rank(2, [&](std::uint32_t rank) {
    const auto members = rank == 0 ? all_of(2) : all_of(3);
    const std::string text =
        error_of([&] { static_cast<void>(channels[rank]->all_gather(5, members, "")); },
                 ErrorCode::RankMismatch);
    CHECK(has(text, "rank 0 ("));
    CHECK(has(text, "rank 1 ("));
    CHECK(has(text, "group 5"));
  });
}

TEST_CASE("control channel: a job of one rank has no sockets") {
  ControlChannelDesc desc;
  std::vector<int> handled;
  const auto channel = ControlChannel::open(desc);
  CHECK(channel->all_gather(0, std::vector{0U}, "alone") == std::vector<std::string>{"alone"});
  channel->report_progress("half");
  CHECK(channel->progress().at(0).report == "half");
  std::promise<std::string> reason;
  const auto handler = channel->on_abort([&](const std::string& why) { reason.set_value(why); });
  channel->abort("enough");
  CHECK(reason.get_future().get() == "enough");
  CHECK(has(error_of([&] { static_cast<void>(channel->all_gather(0, std::vector{0U}, "")); }),
            "enough"));
}

TEST_CASE("control channel: an abort of any rank ends the blocked calls of all") {
  for (const std::uint32_t aborting : {0U, 2U}) {
    CAPTURE(aborting);
    const Channels channels = open_all(3);
    std::atomic<int> handled = 0;
    std::vector<std::shared_ptr<const void>> handlers(3);
    in_each_rank(3, [&](std::uint32_t rank) {
      handlers[rank] = channels[rank]->on_abort([&](const std::string& reason) {
        if (reason == "a kernel failed") ++handled;
      });
      if (rank == aborting) {
        channels[rank]->abort("a kernel failed");
        channels[rank]->abort("another reason");
      }
      CHECK(has(error_of([&] {
                  static_cast<void>(channels[rank]->all_gather(0, all_of(3), "never complete"));
                }),
                "a kernel failed"));
      CHECK(channels[rank]->abort_reason() == "a kernel failed");
    });
    CHECK(eventually([&] { return handled == 3; }));
    std::promise<void> late;
    const auto after =
        channels[1]->on_abort([&](const std::string& /*reason*/) { late.set_value(); });
    CHECK(late.get_future().wait_for(kHang) == std::future_status::ready);
    CHECK(handled == 3);
  }
}

TEST_CASE("control channel: an abort reaches the others though its rank leaves at once") {
  Channels channels = open_all(3);
  channels[1]->abort("out of memory");
  channels[1].reset();
  for (const int rank : {0, 2})
    CHECK(eventually([&] { return channels[rank]->abort_reason() == "out of memory"; }));
}

TEST_CASE("control channel: a removed handler does not run, and removal waits for a running one") {
  const Channels channels = open_all(2);
  std::atomic<bool> removed_ran = false, finished = false;
  std::promise<void> started, may_end;
  auto removed = channels[1]->on_abort([&](const std::string&) { removed_ran = true; });
  auto running = channels[1]->on_abort([&](const std::string&) {
    started.set_value();
    may_end.get_future().wait();
    finished = true;
  });
  std::shared_ptr<const void> own;
  std::promise<void> own_removed;
  own = channels[1]->on_abort([&](const std::string&) {
    own.reset();  // in the handler itself
    own_removed.set_value();
  });
  removed.reset();
  channels[0]->abort("stop");
  started.get_future().wait();
  auto removal = std::async(std::launch::async, [&] {
    running.reset();
    return finished.load();
  });
  CHECK(removal.wait_for(50ms) == std::future_status::timeout);
  may_end.set_value();
  CHECK(removal.get());
  CHECK(own_removed.get_future().wait_for(kHang) == std::future_status::ready);
  CHECK(!removed_ran);
}

TEST_CASE("control channel: a handler may destroy the channel") {
  Channels channels = open_all(2);
  std::promise<void> destroyed;
  auto handler = channels[1]->on_abort([&](const std::string&) {
    channels[1].reset();
    destroyed.set_value();
  });
  channels[0]->abort("stop");
  CHECK(destroyed.get_future().wait_for(kHang) == std::future_status::ready);
  handler.reset();
}

TEST_CASE("control channel: the cut connection of a rank aborts the job with its name") {
  JobWithRawRank job(4);
  std::atomic<int> handled = 0;
  std::vector<std::shared_ptr<const void>> handlers;
  for (const auto& channel : job.channels)
    handlers.push_back(channel->on_abort([&](const std::string&) { ++handled; }));
  const auto before = Clock::now();
  in_each_rank(3, [&](std::uint32_t rank) {
    if (rank == 0) job.raw->cut();
    const std::string text = error_of([&] {
      static_cast<void>(job.channels[rank]->all_gather(0, all_of(3), ""));
      static_cast<void>(job.channels[rank]->all_gather(0, all_of(4), ""));
    });
    CHECK(has(text, "rank 3 ("));
    CHECK(has(text, "pid " + std::to_string(::getpid())));
    CHECK(has(text, "ended without leaving the job"));
  });
  CHECK(Clock::now() - before < 2s);
  CHECK(eventually([&] { return handled == 3; }));
  CHECK(eventually([&] { return !job.channels[1]->progress().at(3).is_connected; }));
  CHECK(job.channels[1]->progress().at(2).is_connected);
}

TEST_CASE("control channel: malformed messages of a rank abort the job") {
  std::string too_short = *FrameWriter(FrameType::Gather).u32(0).finish(),
              too_long = *FrameWriter(FrameType::Report).finish();
  too_long.replace(4, 4, 4, '\xff');
  for (const std::string& bytes : {*FrameWriter(FrameType{99}).finish(), too_short, too_long,
                                   *GatherTable::call(0, 0, {0, 1}, "of others"),
                                   *GatherTable::call(0, 0, {2, 1}, "not ascending")}) {
    JobWithRawRank job(3);
    job.raw->send(bytes);
    CHECK(eventually([&] { return !job.channels[1]->abort_reason().empty(); }));
    CHECK(has(job.channels[1]->abort_reason(), "rank 2 ("));
    CHECK(has(job.channels[1]->abort_reason(), "malformed"));
  }
}

TEST_CASE("control channel: too few or too many messages of a call abort the job") {
  for (const std::uint32_t count : {0U, 1U, 3U}) {
    const Listener listener(0);
    ControlChannelDesc desc = desc_of(1, 2, listener.port());
    desc.port_count = 1;
    auto opening = std::async(std::launch::async, [&] { return ControlChannel::open(desc); });
    const RawPeer hub(listener);
    REQUIRE(hub.welcome(desc));
    const auto channel = opening.get();
    auto gathered = std::async(std::launch::async, [&] {
      return error_of([&] { static_cast<void>(channel->all_gather(5, all_of(2), "mine")); });
    });
    while (const auto received = hub.receive()) {
      if (received->type != FrameType::Gather) continue;
      FrameWriter result(FrameType::Gathered);
      result.u64(5).u64(0).u32(count);
      for (std::uint32_t i = 0; i < count; ++i) result.text("message");
      hub.send(*result.finish());
      break;
    }
    CHECK(has(gathered.get(), "rank 0 (node0, pid 7) sent a malformed message"));
  }
}

TEST_CASE("control channel: a rank has limits on its open calls, and must read its messages") {
  JobWithRawRank job(3);
  std::string fault;
  SUBCASE("calls") {
    for (std::uint64_t i = 0; i <= GatherTable::kMaxOpenCalls; ++i)
      job.raw->send(*GatherTable::call(99, i, {0, 2}, ""));
    fault = "has more than 1,024 open calls of all_gather";
  }
  SUBCASE("bytes") {
    for (std::uint64_t i = 0; i < 5; ++i)
      job.raw->send(*GatherTable::call(99, i, {0, 2}, std::string(15U << 20, 'x')));
    fault = "or more than 64 MiB in them";
  }
  SUBCASE("answers") {
    for (std::uint64_t i = 0; i < 12; ++i)
      job.raw->send(*GatherTable::call(99, i, {2}, std::string(15U << 20, 'x')));
    fault = "does not read what it is sent";
  }
  CHECK(eventually([&] { return !job.channels[1]->abort_reason().empty(); }));
  CHECK(has(job.channels[1]->abort_reason(), "rank 2 ("));
  CHECK(has(job.channels[1]->abort_reason(), fault));
}

TEST_CASE("control channel: calls that end make room for others") {
  const Channels channels = open_all(2);
  for (std::uint64_t group = 0; group < GatherTable::kMaxOpenCalls + 10; ++group) {
    in_each_rank(2, [&](std::uint32_t rank) {
      CHECK(channels[rank]->all_gather(group, all_of(2), "m").size() == 2);
      channels[rank]->end_group(group);
    });
  }
}

TEST_CASE("control channel: the end of rank 0 aborts the other ranks with its name") {
  const std::uint16_t port = free_port();
  // A hub that welcomes rank 1 and ends.
  const Listener hub(port);
  ControlChannelDesc desc = desc_of(1, 2, port);
  auto opening = std::async(std::launch::async, [&] { return ControlChannel::open(desc); });
  CHECK(RawPeer(hub).welcome(desc));
  std::string text;
  try {
    const auto channel = opening.get();
    text = error_of([&] { static_cast<void>(channel->all_gather(0, all_of(2), "")); });
  } catch (const Error& error) {
    text = error.what();  // the end came before open() returned
  }
  CHECK(has(text, "rank 0 (node0, pid 7) ended without leaving the job"));
}

TEST_CASE("control channel: after the limit, an error names the ranks that did not call") {
  const std::uint16_t port = free_port();
  Channels channels(4);
  in_each_rank(4, [&](std::uint32_t rank) {
    ControlChannelDesc desc = desc_of(rank, 4, port);
    desc.gather_limit = 50ms;
    channels[rank] = ControlChannel::open(desc);
  });
  in_each_rank(2, [&](std::uint32_t rank) {
    const std::string text =
        error_of([&] { static_cast<void>(channels[rank]->all_gather(3, all_of(4), "")); });
    CHECK(!has(text, "rank 0 ("));
    CHECK(!has(text, "rank 1 ("));
    CHECK(has(text, "rank 2 ("));
    CHECK(has(text, "rank 3 ("));
    CHECK(has(text, "50 ms"));
  });
  // The call has failed for all, and the next one of the group succeeds.
  CHECK(has(error_of([&] { static_cast<void>(channels[2]->all_gather(3, all_of(4), "")); }),
            "rank 3 ("));
  CHECK(has(error_of([&] { static_cast<void>(channels[3]->all_gather(3, all_of(4), "")); }),
            "rank 3 ("));
  CHECK(channels[0]->abort_reason().empty());
  in_each_rank(4, [&](std::uint32_t rank) {
    CHECK(channels[rank]->all_gather(3, all_of(4), "again").size() == 4);
  });
}

TEST_CASE("control channel: calls that need a rank which has left fail at once") {
  Channels channels = open_all(4);
  auto blocked = std::async(std::launch::async, [&] {
    return error_of([&] { static_cast<void>(channels[0]->all_gather(0, all_of(4), "")); });
  });
  // Its message is sent before the goodbye, so the others get it.
  in_each_rank(2, [&](std::uint32_t i) {
    const std::uint32_t rank = 2 + i;
    CHECK(channels[rank]->all_gather(1, std::vector{2U, 3U}, std::to_string(rank)) ==
          std::vector<std::string>{"2", "3"});
    if (rank == 3) channels[3].reset();
  });
  CHECK(has(blocked.get(), "rank 3 ("));
  const std::string text =
      error_of([&] { static_cast<void>(channels[1]->all_gather(2, all_of(4), "")); });
  CHECK(has(text, "rank 3 ("));
  CHECK(has(text, "has left the job"));
  CHECK(channels[1]->abort_reason().empty());
  CHECK(eventually([&] { return !channels[1]->progress().at(3).is_connected; }));
  in_each_rank(3, [&](std::uint32_t rank) {
    CHECK(channels[rank]->all_gather(4, all_of(3), "").size() == 3);
  });
  // Rank 0 relays the messages, so the others need it.
  channels[0]->leave();
  CHECK(has(error_of([&] { static_cast<void>(channels[0]->all_gather(5, all_of(3), "")); }),
            "rank 0 ("));
  CHECK(has(error_of([&] {
              static_cast<void>(channels[1]->all_gather(5, std::vector{1U, 2U}, ""));
            }),
            "rank 0 ("));
  CHECK(channels[1]->abort_reason().empty());
}

TEST_CASE("control channel: the last messages arrive though all ranks leave at once") {
  for (int i = 0; i < 20; ++i) {
    Channels channels = open_all(3);
    in_each_rank(3, [&](std::uint32_t rank) {
      CHECK(channels[rank]->all_gather(0, all_of(3), std::string(10'000, 'x')).size() == 3);
      channels[rank].reset();
    });
  }
}

TEST_CASE("control channel: leaving does not wait for a rank that is stopped") {
  JobWithRawRank job(3);
  const auto before = Clock::now();
  job.channels[0].reset();  // the raw rank does not close its connection
  CHECK(Clock::now() - before < 5s);
}

TEST_CASE("control channel: every rank knows the reports of all") {
  const Channels channels = open_all(3);
  in_each_rank(3, [&](std::uint32_t rank) {
    channels[rank]->report_progress("graph " + std::to_string(rank));
  });
  for (const auto& channel : channels) {
    CHECK(eventually([&] {
      const auto progress = channel->progress();
      for (std::uint32_t rank = 0; rank < 3; ++rank)
        if (progress.at(rank).report != "graph " + std::to_string(rank)) return false;
      return true;
    }));
    for (const auto& one : channel->progress()) {
      CHECK(one.is_connected);
      CHECK(has(one.name, "pid " + std::to_string(::getpid())));
    }
    CHECK(channel->progress().at(channel->rank()).age == 0ns);
  }
  const std::string longest(channels[2]->max_report_bytes(), 'r');
  channels[2]->report_progress(longest);
  CHECK(eventually([&] { return channels[1]->progress().at(2).report == longest; }));
  CHECK(has(
      error_of([&] { channels[2]->report_progress(longest + "r"); }, ErrorCode::InvalidArgument),
      "is too long; the limit is " + std::to_string(longest.size())));
}

TEST_CASE("control channel: the last report of a rank is known to all who know that it has left") {
  for (const std::uint32_t leaving : {0U, 2U}) {
    CAPTURE(leaving);
    Channels channels = open_all(3);
    channels[leaving]->report_progress("last");
    channels[leaving].reset();
    for (const auto& channel : channels) {
      if (!channel) continue;
      CHECK(eventually([&] { return !channel->progress().at(leaving).is_connected; }));
      CHECK(channel->progress().at(leaving).report == "last");
    }
  }
}

TEST_CASE(
    "control channel: the other ranks exchange clocks with rank 0, which shares theirs here") {
  const std::int64_t before = detail::steady_now();
  const Channels channels = open_all(3);
  CHECK(channels[0]->job_id() != 0);
  CHECK(open_all(2)[1]->job_id() != channels[0]->job_id());
  for (const std::uint32_t rank : {1U, 2U}) {
    CHECK(channels[rank]->job_id() == channels[0]->job_id());
    std::vector<detail::RankAgreement::ClockExchange> all;
    CHECK(eventually([&] {
      for (const auto& one : channels[rank]->take_clock_exchanges()) all.push_back(one);
      return all.size() >= 20;  // more than the first ones, so the heartbeat brings some too
    }));
    for (const detail::RankAgreement::ClockExchange& one : all) {
      CHECK(one.rank == 0);
      CHECK(before < one.sent);
      CHECK(one.sent <= one.other);
      CHECK(one.other <= one.received);
    }
  }
  CHECK(channels[0]->take_clock_exchanges().empty());
}

TEST_CASE("control channel: the age of a rank that sends nothing grows on all ranks") {
  JobWithRawRank job(3);
  CHECK(eventually([&] { return job.channels[1]->progress().at(2).age > 100ms; }));
  CHECK(eventually([&] { return job.channels[0]->progress().at(2).age > 100ms; }));
  CHECK(eventually([&] { return job.channels[0]->progress().at(1).age < 100ms; }));
  CHECK(eventually([&] { return job.channels[1]->progress().at(0).age < 100ms; }));
}

}  // namespace reprise::test
