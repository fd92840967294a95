#include "injection/nccl_calls.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>

namespace reprise::test {
namespace {

using detail::NcclCalls;
using detail::NcclCommunicator;
using detail::NcclOperation;
using detail::NcclOperations;
using detail::NvtxPayload;
using Kind = trace::CollectiveKind;

constexpr std::uint64_t kDomain = 0xd0, kSchemas = 1 << 24, kCommunicator = 0xc0ffee;

// A payload with the layout of NCCL's structures.
struct Payload {
  Payload(std::uint64_t id, std::initializer_list<std::uint64_t> content)
      : one{kSchemas + id, content.size() * 8, words} {
    std::copy(content.begin(), content.end(), words);
  }
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;
  [[nodiscard]] std::span<const NvtxPayload> span() const { return {&one, 1}; }
  std::uint64_t words[8] = {};
  NvtxPayload one;
};

Payload all_reduce(std::uint64_t communicator = kCommunicator, std::uint64_t bytes = 64) {
  return {5, {communicator, bytes, 0}};
}
Payload send(std::uint64_t peer) { return {9, {kCommunicator, 100, peer}}; }
Payload receive(std::uint64_t peer) { return {10, {kCommunicator, 200, peer}}; }

class Program {
 public:
  void push(std::string_view name) { calls.push(kDomain, name, {}); }
  void push(std::string_view name, const Payload& payload) {
    calls.push(kDomain, name, payload.span());
  }
  void call(std::string_view name, const Payload& payload) {
    push(name, payload);
    pop();
  }
  void call(std::string_view name) {
    push(name);
    pop();
  }
  void pop() { static_cast<void>(calls.pop(kDomain)); }
  NcclOperations launched() {
    const auto operations = calls.operations();
    return operations ? *operations : NcclOperations{};
  }
  NcclCalls calls;
};

// The operation that a call with this payload describes.
NcclOperation read(std::string_view name, std::span<const NvtxPayload> payloads) {
  NcclCalls calls;
  calls.push(kDomain, name, payloads);
  const auto operations = calls.operations();
  REQUIRE(operations);
  REQUIRE(operations->size() == 1);
  return operations->front();
}
NcclOperation read(std::string_view name, const Payload& payload) {
  return read(name, payload.span());
}

}  // namespace

TEST_CASE("nccl calls: payloads tell kind, communicator, bytes and root or peer") {
  CHECK(read("ncclAllReduce", all_reduce()) == NcclOperation{Kind::AllReduce, kCommunicator, 64});
  CHECK(read("ncclAllGather", {4, {kCommunicator, 8}}) ==
        NcclOperation{Kind::AllGather, kCommunicator, 8});
  CHECK(read("ncclBroadcast", {6, {kCommunicator, 8, 3}}) ==
        NcclOperation{Kind::Broadcast, kCommunicator, 8, 3});
  CHECK(read("ncclReduceScatter", {7, {kCommunicator, 8, 1}}) ==
        NcclOperation{Kind::ReduceScatter, kCommunicator, 8});
  CHECK(read("ncclReduce", {8, {kCommunicator, 8, 2}}) ==
        NcclOperation{Kind::Reduce, kCommunicator, 8, 2});
  CHECK(read("ncclSend", send(1)) == NcclOperation{Kind::Send, kCommunicator, 100, 1});
  CHECK(read("ncclRecv", receive(0)) == NcclOperation{Kind::Receive, kCommunicator, 200, 0});
  CHECK(read("ncclAlltoAll", {16, {kCommunicator, 8}}) ==
        NcclOperation{Kind::AllToAll, kCommunicator, 8});
  CHECK(read("ncclGather", {17, {kCommunicator, 8, 1}}) ==
        NcclOperation{Kind::Group, kCommunicator, 8, 1});
  CHECK(read("ncclScatter", {18, {kCommunicator, 8, 1}}) ==
        NcclOperation{Kind::Group, kCommunicator, 8, 1});
}

TEST_CASE("nccl calls: payloads before NCCL 2.25 have no communicator") {
  CHECK(read("ncclAllGather", {4, {8}}) == NcclOperation{Kind::AllGather, 0, 8});
  CHECK(read("ncclAllReduce", {5, {8, 1}}) == NcclOperation{Kind::AllReduce, 0, 8});
  CHECK(read("ncclReduce", {8, {8, 2}}) == NcclOperation{Kind::Reduce, 0, 8, 2});
  CHECK(read("ncclSend", {9, {8, 1}}) == NcclOperation{Kind::Send, 0, 8, 1});
}

TEST_CASE("nccl calls: of payloads of unknown layout only the name of the call is used") {
  const NcclOperation unknown{Kind::Send};
  CHECK(read("ncclSend", std::span<const NvtxPayload>()) == unknown);
  CHECK(read("ncclSend", all_reduce()) == unknown);  // the schema of another call
  CHECK(read("ncclSend", {0, {}}) == unknown);
  CHECK(read("ncclSend", {9, {}}) == unknown);
  NvtxPayload payload{kSchemas + 9, 24, nullptr};
  CHECK(read("ncclSend", {&payload, 1}) == unknown);
  payload.data = reinterpret_cast<const void*>(0x1000);  // not mapped
  CHECK(read("ncclSend", {&payload, 1}) == unknown);
  const std::uint64_t words[3] = {1, 2, 3};
  payload = {kSchemas + 9, std::numeric_limits<std::size_t>::max(), words};  // NVTX: unknown size
  CHECK(read("ncclSend", {&payload, 1}) == unknown);
  for (const std::size_t bytes : {0, 7, 8, 20}) {
    payload.bytes = bytes;
    CHECK(read("ncclSend", {&payload, 1}) == unknown);
  }
  payload.schema = 0;
  payload.bytes = 24;
  CHECK(read("ncclSend", {&payload, 1}) == unknown);
  const NvtxPayload two[2] = {send(1).one, send(1).one};  // to memory that is gone
  CHECK(read("ncclSend", two) == unknown);
}

TEST_CASE("nccl calls: an operation is launched within its call") {
  Program program;
  CHECK(program.calls.operations() == nullptr);
  program.push("ncclAllReduce", all_reduce());
  CHECK(program.launched() == NcclOperations{{Kind::AllReduce, kCommunicator, 64}});
  CHECK(program.calls.operations() == program.calls.operations());
  program.pop();
  CHECK(program.calls.operations() == nullptr);
  program.push("ncclSend", send(1));
  program.call("ncclGroupStart");
  program.push("ncclGroupEnd");
  CHECK(program.launched() == NcclOperations{{Kind::Send, kCommunicator, 100, 1}});
  program.pop();
  program.pop();
  CHECK(program.calls.operations() == nullptr);
}

TEST_CASE("nccl calls: the operations of a group are launched by its outermost end") {
  Program program;
  program.call("ncclGroupStart");
  program.call("ncclSend", send(1));
  program.call("ncclGroupStart");
  program.call("ncclRecv", receive(1));
  program.call("ncclGroupEnd");
  program.push("ncclGroupEnd");
  CHECK(program.launched() == NcclOperations{{Kind::Send, kCommunicator, 100, 1},
                                             {Kind::Receive, kCommunicator, 200, 1}});
  program.pop();
  CHECK(program.calls.operations() == nullptr);
  program.call("ncclGroupStart");
  program.call("ncclAllReduce", all_reduce());
  program.call("ncclGroupSimulateEnd");
  CHECK(program.calls.operations() == nullptr);
}

TEST_CASE("nccl calls: sends within an all_to_all are part of it") {
  Program program;
  program.push("ncclAlltoAll", {16, {kCommunicator, 8}});
  program.call("ncclGroupStart");
  program.call("ncclSend", send(0));
  program.call("ncclRecv", receive(0));
  program.push("ncclGroupEnd");
  CHECK(program.launched() == NcclOperations{{Kind::AllToAll, kCommunicator, 8}});
}

TEST_CASE("nccl calls: other ranges and unmatched ends have no effect") {
  Program program;
  program.pop();
  program.call("ncclGroupEnd");
  program.calls.push(0, "ncclAllReduce", all_reduce().span());  // the default domain
  program.calls.push(7, "all_reduce", {});
  CHECK(program.calls.operations() == nullptr);
  program.push("ncclAllReduce", all_reduce());
  program.push("ncclMemAlloc");
  program.calls.push(7, "layer", {});
  static_cast<void>(program.calls.pop(7));
  program.pop();
  CHECK(program.launched().size() == 1);
  program.pop();
  CHECK(program.calls.operations() == nullptr);
  // Another NCCL of the same process.
  program.calls.push(7, "ncclAllReduce", all_reduce().span());
  CHECK(program.launched().size() == 1);
}

TEST_CASE("nccl calls: the end of a call that creates a communicator describes it") {
  const auto created = [](const Payload& payload) {
    Program program;
    program.push("ncclCommInitRankConfig");
    return program.calls.pop(kDomain, payload.span());
  };
  const auto pair = [](std::uint64_t low, std::uint64_t high) { return low | (high << 32); };
  const NcclCommunicator expected{.id = kCommunicator, .device = 1, .ranks = 4, .rank = 3};
  for (const std::uint64_t schema : {0, 11, 12, 15})
    CHECK(created({schema, {kCommunicator, pair(4, 3), 1}}) == expected);
  CHECK(created({13, {kCommunicator, 0xabc, pair(4, 3), 1, 0}}) == expected);
  CHECK(!created({0, {0, pair(4, 3), 1}}));              // created later, by a group
  CHECK(!created({0, {kCommunicator, pair(3, 3), 1}}));  // no such rank
  CHECK(!created({0, {kCommunicator, pair(4, 3)}}));     // too short
  CHECK(!created({13, {kCommunicator, 0xabc, pair(4, 3)}}));
  CHECK(!created({14, {kCommunicator, pair(4, 3), 1}}));  // ncclCommFinalize
  NcclCalls calls;
  CHECK(!calls.pop(kDomain, Payload(0, {kCommunicator, pair(4, 3), 1}).span()));
}

TEST_CASE("nccl collective: a kernel executes the only operation of its communicator") {
  const auto collective = [](std::string_view kernel, const NcclOperations& launched) {
    return detail::nccl_collective(kernel, &launched);
  };
  const NcclOperation reduce{Kind::AllReduce, 1, 64}, gather{Kind::AllGather, 2, 8},
      sent{Kind::Send, 3, 100, 1}, received{Kind::Receive, 3, 200, 1},
      exchange{Kind::AllToAll, 4, 16};
  trace::Collective expected{.kind = Kind::Send, .peer = 1, .communicator = 3, .bytes = 100};
  CHECK(collective("SendRecv", {sent}) == expected);
  expected = {.kind = Kind::AllToAll, .communicator = 4, .bytes = 16};
  CHECK(collective("SendRecv", {exchange}) == expected);
  // Each communicator has kernels of its own.
  expected = {.kind = Kind::AllReduce, .communicator = 1, .bytes = 64};
  CHECK(collective("AllReduce", {reduce, gather, sent, received}) == expected);
  expected = {.kind = Kind::Group, .communicator = 3, .bytes = 300};
  CHECK(collective("SendRecv", {reduce, gather, sent, received}) == expected);
  // A kernel is named by one of its operations.
  const NcclOperation other{Kind::AllGather, 1, 8};
  expected = {.kind = Kind::Group, .communicator = 1, .bytes = 72};
  CHECK(collective("AllReduce", {reduce, other}) == expected);
}

TEST_CASE("nccl collective: without its operations the name of the kernel tells its kind") {
  const NcclOperations two{{Kind::AllReduce, 1, 64}, {Kind::AllReduce, 2, 64}}, none;
  for (const NcclOperations* launched : {&two, &none, static_cast<const NcclOperations*>(nullptr)})
    CHECK(detail::nccl_collective("AllReduce", launched) ==
          trace::Collective{.kind = Kind::AllReduce});
  CHECK(detail::nccl_collective("SendRecv", &two) == trace::Collective{.kind = Kind::Group});
  CHECK(detail::nccl_collective("Unknown", nullptr) == trace::Collective{.kind = Kind::Group});
  CHECK(detail::nccl_collective("ReduceScatter", nullptr).kind == Kind::ReduceScatter);
}

}  // namespace reprise::test
