// How control channels find each other, beside foreign and hostile programs.
#include "ranks/control_channel_fixture.hpp"

namespace reprise::test {

TEST_CASE("control channel: open() names the ranks that are missing") {
  const std::uint16_t port = free_port();
  in_each_rank(2, [&](std::uint32_t rank) {
    ControlChannelDesc desc = desc_of(rank, 4, port);
    desc.connect_limit = 300ms;
    const std::string text = error_of([&] { static_cast<void>(ControlChannel::open(desc)); });
    CHECK(has(text, "ranks 2, 3 did not connect to 127.0.0.1:" + std::to_string(port)));
    CHECK(has(text, "300 ms"));
  });
}

TEST_CASE("control channel: open() without rank 0 names its address and ports") {
  ControlChannelDesc desc = desc_of(1, 2, free_port());
  desc.connect_limit = 100ms;
  const std::string text = error_of([&] { static_cast<void>(ControlChannel::open(desc)); });
  CHECK(has(text, "127.0.0.1, port " + std::to_string(desc.port)));
}

TEST_CASE("control channel: open() rejects descriptions that cannot work") {
  const auto open = [](ControlChannelDesc desc) {
    return error_of([&] { static_cast<void>(ControlChannel::open(desc)); },
                    ErrorCode::InvalidArgument);
  };
  ControlChannelDesc desc = desc_of(1, 2, 20000);
  desc.address = "300.1.2.3 not a host";
  CHECK(has(open(desc), "300.1.2.3"));
  desc.address.clear();
  CHECK(has(open(desc), "MASTER_ADDR"));
  CHECK(has(open(desc_of(2, 2, 20000)), "rank 2"));
  CHECK(has(open(desc_of(1, 2, 0)), "port"));
  CHECK(has(open(desc_of(0, 2, 65530)), "port"));
  desc = desc_of(0, 2, 20000);
  desc.secret = std::string(4096, 's');
  CHECK(has(open(desc), "secret"));
}

TEST_CASE("control channel: rank 0 takes the next port if the first is taken") {
  const std::uint16_t port = free_port();
  const Listener silent(port);  // accepts and never answers
  REQUIRE(silent.listens());
  std::uint16_t used = 0;
  in_each_rank(2, [&](std::uint32_t rank) {
    ControlChannelDesc desc = desc_of(rank, 2, port);
    desc.greeting_limit = 100ms;
    desc.publish = [&](std::uint16_t published) { used = published; };
    const auto channel = ControlChannel::open(desc);
    CHECK(channel->all_gather(0, all_of(2), "").size() == 2);
  });
  CHECK(used > port);
  CHECK(used < port + 16);
}

TEST_CASE("control channel: the answers of another program do not stop a rank") {
  const std::uint16_t port = free_port();
  const Listener foreign(port);
  REQUIRE(foreign.listens());
  const auto hub = std::async(std::launch::async, [&] {
    const auto channel = ControlChannel::open(desc_of(0, 2, port));
    CHECK(channel->all_gather(0, all_of(2), "").size() == 2);
  });
  auto other = std::async(std::launch::async, [&] {
    ControlChannelDesc desc = desc_of(1, 2, port);
    const auto channel = ControlChannel::open(desc);
    CHECK(channel->all_gather(0, all_of(2), "").size() == 2);
  });
  foreign.exchange("HTTP/1.1 400 Bad Request\r\n\r\n");
  other.get();
}

TEST_CASE("control channel: a late rank 0 is waited for") {
  const std::uint16_t port = free_port();
  auto early =
      std::async(std::launch::async, [&] { return ControlChannel::open(desc_of(1, 2, port)); });
  CHECK(early.wait_for(100ms) == std::future_status::timeout);
  const auto hub = ControlChannel::open(desc_of(0, 2, port));
  CHECK(early.get()->rank() == 1);
}

TEST_CASE("control channel: two jobs with the same ports, and one of another size, stay apart") {
  const std::uint16_t port = free_port();
  in_each_rank(6, [&](std::uint32_t i) {
    ControlChannelDesc desc = desc_of(i % 2, 2, port);
    if (i >= 4) desc.size = 3;
    if (i < 2) desc.secret = "of another job";
    if (i >= 4) {  // its third rank does not exist
      desc.connect_limit = 1s;
      CHECK(has(error_of([&] { static_cast<void>(ControlChannel::open(desc)); }),
                "rank 2 did not connect"));
      return;
    }
    const auto channel = ControlChannel::open(desc);
    const auto got = channel->all_gather(0, all_of(2), desc.secret);
    CHECK(got == std::vector<std::string>{desc.secret, desc.secret});
  });
}

TEST_CASE("control channel: a second client of a rank is refused") {
  const std::uint16_t port = free_port();
  Channels channels(3);
  std::atomic<int> refused = 0;
  std::vector<std::future<void>> running;
  for (const std::uint32_t rank : {0U, 1U, 1U}) {
    running.push_back(std::async(std::launch::async, [&, rank] {
      try {
        auto channel = ControlChannel::open(desc_of(rank, 3, port));
        channels[rank] = std::move(channel);
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::InvalidArgument);
        CHECK(has(error.what(), "rank 1 ("));
        CHECK(has(error.what(), "is connected already"));
        ++refused;
      }
    }));
  }
  CHECK(eventually([&] { return refused == 1; }));
  channels[2] = ControlChannel::open(desc_of(2, 3, port));
  for (auto& one : running) one.get();
  in_each_rank(3, [&](std::uint32_t rank) {
    CHECK(channels[rank]->all_gather(0, all_of(3), "").size() == 3);
  });
}

TEST_CASE("control channel: hostile connections neither stop nor delay a job") {
  std::promise<std::uint16_t> published;
  ControlChannelDesc desc = desc_of(0, 2, 0);
  desc.greeting_limit = 200ms;
  desc.publish = [&](std::uint16_t port) { published.set_value(port); };
  auto hub = std::async(std::launch::async, [&] { return ControlChannel::open(desc); });
  const std::uint16_t port = published.get_future().get();
  RankHandshake handshake(kJobSecret, port, 1, 2);
  const std::string hello = *handshake.hello();

  SUBCASE("garbage is closed") {
    const std::uint64_t seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 50; ++i) {
      std::string bytes(8 + random() % 8000, '\0');
      for (char& b : bytes) b = static_cast<char>(random());
      bytes[7] = '\x7f';  // an oversized frame
      const RawPeer peer(port);
      peer.send(bytes);
      CHECK(peer.is_closed());
    }
  }
  SUBCASE("with any byte of a greeting changed, nobody can be welcome") {
    for (std::size_t at = 0; at < hello.size(); ++at) {
      CAPTURE(at);
      std::string bytes = hello;
      bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
      const RawPeer peer(port);
      peer.send(bytes);
      const auto challenge = peer.receive();  // if only the nonce is another
      if (challenge)
        CHECK_THROWS_AS(static_cast<void>(handshake.prove(challenge->body, "")), MalformedFrame);
    }
  }
  SUBCASE("with any byte of a proof changed, the connection is closed") {
    for (std::size_t at = 0; at < 8 + 4 + 32; ++at) {
      CAPTURE(at);
      RankHandshake own(kJobSecret, port, 1, 2);
      const RawPeer peer(port);
      peer.send(*own.hello());
      const auto challenge = peer.receive();
      REQUIRE(challenge);
      std::string bytes = *own.prove(challenge->body, "");
      bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
      peer.send(bytes);
      if (at >= 4 && at < 8) continue;  // a length: the rest never comes
      CHECK(peer.is_closed());
    }
  }
  SUBCASE("what another connection said proves nothing") {
    const RawPeer first(port), second(port);
    first.send(hello);
    second.send(hello);
    const auto challenge = first.receive(), other = second.receive();
    REQUIRE(challenge);
    REQUIRE(other);
    CHECK(challenge->body != other->body);
    const Frame proof = handshake.prove(challenge->body, "");
    second.send(*proof);
    CHECK(second.is_closed());
    // Nor does rank 0's own proof.
    FrameReader reader(challenge->body);
    static_cast<void>(reader.u64() + reader.u32() + reader.text().size());
    first.send(*FrameWriter(FrameType::Proof).text(reader.text()).text("").finish());
    CHECK(first.is_closed());
  }
  SUBCASE("a proof before a greeting, and frames of ranks, are closed") {
    for (const FrameType type : {FrameType::Proof, FrameType::Gather, FrameType::Goodbye}) {
      const RawPeer peer(port);
      peer.send(*FrameWriter(type).text(std::string(32, 'x')).text("").finish());
      CHECK(peer.is_closed());
    }
  }
  SUBCASE("frames over the limit of greetings are closed before they arrive") {
    for (const std::uint32_t length : {kMaxGreetingBytes + 1, kMaxFrameBytes, 0xffffffffU}) {
      const Frame head = FrameWriter(FrameType::Hello).u32(length).finish();
      const RawPeer peer(port);
      peer.send(head->substr(0, 4) + head->substr(8, 4));
      CHECK(peer.is_closed());
    }
  }
  SUBCASE("ranks of other secrets, sizes and numbers are not welcome") {
    ControlChannelDesc wrong = desc_of(1, 2, port);
    for (const char* secret : {"", "of this jo", "of this job ", "of that job"}) {
      wrong.secret = secret;
      CHECK(!RawPeer(port).join(wrong));
    }
    for (const auto& other : {desc_of(1, 3, port), desc_of(0, 2, port), desc_of(2, 2, port)})
      CHECK(!RawPeer(port).join(other));
  }
  SUBCASE("an incomplete greeting is closed after its limit") {
    const RawPeer silent(port), slow(port);
    slow.send(hello.substr(0, hello.size() - 1));
    CHECK(silent.is_closed());
    CHECK(slow.is_closed());
  }
  CHECK(hub.wait_for(0s) == std::future_status::timeout);
  ControlChannelDesc other = desc_of(1, 2, port);
  other.port_count = 1;
  const auto channel = ControlChannel::open(other);
  CHECK(hub.get()->size() == 2);
  // No port stays open.
  CHECK(eventually([&] { return !RawPeer(port).connected(); }));
}

TEST_CASE("control channel: silent programs on other ports do not delay a rank") {
  // As long as they are silent, every one of them costs a limit if they are asked one by one.
  const std::uint16_t port = free_port();
  std::vector<std::unique_ptr<Listener>> silent;
  for (std::uint16_t i = 0; i < 5; ++i)
    silent.push_back(std::make_unique<Listener>(static_cast<std::uint16_t>(port + i)));
  const auto start = Clock::now();
  in_each_rank(2, [&](std::uint32_t rank) {
    const auto channel = ControlChannel::open(desc_of(rank, 2, port));
    CHECK(channel->all_gather(0, all_of(2), "").size() == 2);
  });
  CHECK(Clock::now() - start < ControlChannelDesc{}.greeting_limit);
}

TEST_CASE("control channel: the secret is not sent, and a false rank 0 is not believed") {
  const Listener listener(0);
  ControlChannelDesc desc = desc_of(1, 2, listener.port());
  desc.port_count = 1;
  desc.connect_limit = 300ms;
  desc.secret = "correct horse battery staple";
  std::string sent;
  auto open = std::async(std::launch::async, [&] {
    return error_of([&] { static_cast<void>(ControlChannel::open(desc)); });
  });
  SUBCASE("it reads") {
    sent = listener.exchange({});
    CHECK(sent.size() > 32);
  }
  SUBCASE("it refuses the rank") {
    sent = listener.exchange(*FrameWriter(FrameType::Refused).text("go away").finish());
  }
  SUBCASE("it welcomes the rank") {
    sent =
        listener.exchange(*FrameWriter(FrameType::Welcome).text("rank 0").u64(1).u32(0).finish());
  }
  SUBCASE("it guesses a proof") {
    sent = listener.exchange(*FrameWriter(FrameType::Challenge)
                                  .u64(kControlMagic)
                                  .u32(kControlVersion)
                                  .text(std::string(32, 'n'))
                                  .text(std::string(32, 'p'))
                                  .finish());
  }
  CHECK(has(open.get(), "rank 0 did not answer within 300 ms"));
  CHECK(!has(sent, desc.secret));
}

TEST_CASE("control channel: a program on another port cannot pass on the proofs of a rank") {
  std::promise<std::uint16_t> published;
  ControlChannelDesc desc = desc_of(0, 2, 0);
  desc.publish = [&](std::uint16_t port) { published.set_value(port); };
  auto hub = std::async(std::launch::async, [&] { return ControlChannel::open(desc); });
  const std::uint16_t port = published.get_future().get();
  RankHandshake deceived(kJobSecret, static_cast<std::uint16_t>(port - 1), 1, 2);
  const RawPeer relay(port);
  relay.send(*deceived.hello());
  const auto challenge = relay.receive();
  REQUIRE(challenge);
  CHECK_THROWS_AS(static_cast<void>(deceived.prove(challenge->body, "")), MalformedFrame);
  ControlChannelDesc other = desc_of(1, 2, port);
  other.port_count = 1;
  const auto channel = ControlChannel::open(other);
  CHECK(hub.get()->size() == 2);
}

TEST_CASE("control channel: a flood of silent connections does not keep a rank out") {
  std::promise<std::uint16_t> published;
  ControlChannelDesc desc = desc_of(0, 2, 0);
  desc.greeting_limit = kHang;
  desc.publish = [&](std::uint16_t port) { published.set_value(port); };
  auto hub = std::async(std::launch::async, [&] { return ControlChannel::open(desc); });
  const std::uint16_t port = published.get_future().get();
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 200; ++i) peers.push_back(std::make_unique<RawPeer>(port));
  CHECK(peers.front()->is_closed());
  ControlChannelDesc other = desc_of(1, 2, port);
  other.port_count = 1;
  const auto channel = ControlChannel::open(other);
  CHECK(hub.get()->size() == 2);
  CHECK(peers.back()->is_closed());
}

TEST_CASE("control channel: rank 0 can have a name or an IPv6 address") {
  char host[256] = {};
  REQUIRE(::gethostname(host, sizeof(host) - 1) == 0);
  for (const std::string address :
       {"localhost", "::1", "127.0.0.2", static_cast<const char*>(host)}) {
    CAPTURE(address);
    const std::uint16_t port = free_port();
    try {
      in_each_rank(2, [&](std::uint32_t rank) {
        ControlChannelDesc desc = desc_of(rank, 2, port);
        desc.address = address;
        desc.connect_limit = 1s;
        const auto channel = ControlChannel::open(desc);
        CHECK(channel->all_gather(0, all_of(2), "").size() == 2);
      });
    } catch (const Error& error) {
      // A machine can lack IPv6 or an address of its own name.
      CHECK((address == "::1" || address == host));
      MESSAGE(address, ": ", error.what());
    }
  }
}

TEST_CASE("control channel: a forked child has no sockets of the channel") {
  JobWithRawRank job(3);
  // The raw rank's socket and those of other tests are not the channel's.
  const auto sockets = [] {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) {
      struct stat status {};
      if (::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode)) ++count;
    }
    return count;
  };
  const int before = sockets();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(sockets());
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  // Rank 0 has two sockets, and rank 1 has one.
  CHECK(WEXITSTATUS(status) == before - 3);
  const auto got = std::async(std::launch::async, [&] {
    CHECK(job.channels[1]->all_gather(0, all_of(2), "").size() == 2);
  });
  CHECK(job.channels[0]->all_gather(0, all_of(2), "").size() == 2);
}

TEST_CASE("control channel: sockets are closed on exec, and none is left at the end") {
  const auto sockets = [](bool only_inherited) {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) {
      struct stat status {};
      if (::fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
      if (!only_inherited || (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) ++count;
    }
    return count;
  };
  const int before = sockets(false), inherited = sockets(true);
  {
    const Channels channels = open_all(3);
    CHECK(sockets(false) == before + 4);
    CHECK(sockets(true) == inherited);
  }
  CHECK(sockets(false) == before);
}

}  // namespace reprise::test
