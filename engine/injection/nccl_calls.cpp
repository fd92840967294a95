#include "injection/nccl_calls.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>

namespace reprise::detail {
namespace {

using Kind = trace::CollectiveKind;

// Names and schemas of NCCL's nvtx.h.
constexpr std::uint64_t kFirstSchema = 1 << 24;

struct OperationCall {
  std::string_view name;
  std::uint64_t schema;
  Kind kind;
  std::size_t bytes;     // of the payload: the communicator, the size of the message, and others
  std::size_t peer = 0;  // offset of the root or the other rank; 0: none
};
constexpr OperationCall kOperations[] = {
    {"ncclAllGather", 4, Kind::AllGather, 16},
    {"ncclAllReduce", 5, Kind::AllReduce, 24},
    {"ncclBroadcast", 6, Kind::Broadcast, 24, 16},
    {"ncclReduceScatter", 7, Kind::ReduceScatter, 24},
    {"ncclReduce", 8, Kind::Reduce, 24, 16},
    {"ncclSend", 9, Kind::Send, 24, 16},
    {"ncclRecv", 10, Kind::Receive, 24, 16},
    {"ncclAlltoAll", 16, Kind::AllToAll, 16},
    {"ncclGather", 17, Kind::Group, 24, 16},
    {"ncclScatter", 18, Kind::Group, 24, 16},
};

struct CommunicatorCall {
  std::uint64_t schema;
  std::size_t ranks;  // offset of the number of ranks, the rank and the device
};
constexpr CommunicatorCall kCommunicators[] = {
    {0, 8},    // ncclCommInitRank
    {11, 8},   // ncclCommInitRankConfig
    {12, 8},   // ncclCommInitRankScalable
    {13, 16},  // ncclCommSplit
    {15, 8},   // ncclCommShrink
};

constexpr std::size_t kMaxPayload = 256;
constexpr std::uintptr_t kMaxDistance = 4096;

// Whether the payload and its description can be variables of one function, as NCCL's are. The
// descriptions of some calls have been overwritten when CUPTI passes them on (seen with NCCL 2.28.9
// and CUDA 13.0), and could point anywhere.
bool is_beside(const NvtxPayload& payload) {
  const auto a = reinterpret_cast<std::uintptr_t>(payload.data),
             b = reinterpret_cast<std::uintptr_t>(&payload);
  return (a < b ? b - a : a - b) < kMaxDistance;
}

template <class Value>
std::optional<Value> read(const NvtxPayload& payload, std::size_t offset) {
  if (payload.bytes > kMaxPayload || offset + sizeof(Value) > payload.bytes || !is_beside(payload))
    return std::nullopt;
  Value value;
  std::memcpy(&value, static_cast<const std::byte*>(payload.data) + offset, sizeof(Value));
  return value;
}

NcclOperation read_operation(const OperationCall& call, std::span<const NvtxPayload> payloads) {
  NcclOperation operation{.kind = call.kind};
  if (payloads.size() != 1 || payloads[0].schema != kFirstSchema + call.schema) return operation;
  const NvtxPayload& payload = payloads[0];
  // Before NCCL 2.25, payloads have no communicator.
  const std::size_t missing = payload.bytes < call.bytes ? 8 : 0;
  if (missing != 0 && payload.bytes + missing != call.bytes) return operation;
  if (missing == 0) operation.communicator = read<std::uint64_t>(payload, 0).value_or(0);
  operation.bytes = read<std::uint64_t>(payload, 8 - missing).value_or(0);
  if (call.peer != 0)
    operation.peer = read<std::uint32_t>(payload, call.peer - missing).value_or(trace::kNone);
  return operation;
}

std::optional<NcclCommunicator> read_communicator(std::span<const NvtxPayload> payloads) {
  if (payloads.size() != 1) return std::nullopt;
  const NvtxPayload& payload = payloads[0];
  for (const CommunicatorCall& call : kCommunicators) {
    if (payload.schema != kFirstSchema + call.schema) continue;
    const auto device = read<std::uint32_t>(payload, call.ranks + 8);
    if (!device) return std::nullopt;
    const NcclCommunicator made{*read<std::uint64_t>(payload, 0), *device,
                                *read<std::uint32_t>(payload, call.ranks),
                                *read<std::uint32_t>(payload, call.ranks + 4)};
    if (made.id != 0 && made.rank < made.ranks) return made;
  }
  return std::nullopt;
}

bool is_nccl_name(std::string_view name) {
  return name.size() > 4 && name.starts_with("nccl") &&
         std::isupper(static_cast<unsigned char>(name[4])) != 0;
}

// The kind of an operation that has a kernel of its own.
std::optional<Kind> kind_of_kernel(std::string_view kernel) {
  for (const OperationCall& call : kOperations)
    if (call.name.substr(4) == kernel) return call.kind;
  return std::nullopt;
}

bool has_own_kernel(Kind kind) { return kind < Kind::AllToAll; }

}  // namespace

void NcclCalls::push(std::uint64_t domain, std::string_view name,
                     std::span<const NvtxPayload> payloads) {
  if (domain != domain_ || domain == 0) {
    if (domain == 0 || !open_.empty() || !is_nccl_name(name)) return;
    domain_ = domain;
  }
  const auto operation = std::find_if(std::begin(kOperations), std::end(kOperations),
                                      [&](const OperationCall& call) { return call.name == name; });
  Call call = Call::Other;
  if (operation != std::end(kOperations)) {
    call = Call::Operation;
    // Calls within an operation are part of it.
    if (operation_depth_++ == 0) {
      operations_.push_back(read_operation(*operation, payloads));
      shared_.reset();
    }
  } else if (name == "ncclGroupStart") {
    call = Call::GroupStart;
    ++group_depth_;
  } else if (name == "ncclGroupEnd" || name == "ncclGroupSimulateEnd") {
    call = Call::GroupEnd;
  }
  open_.push_back(call);
}

std::optional<NcclCommunicator> NcclCalls::pop(std::uint64_t domain,
                                               std::span<const NvtxPayload> payloads) {
  if (domain != domain_ || open_.empty()) return std::nullopt;
  const Call call = open_.back();
  open_.pop_back();
  switch (call) {
    case Call::Operation: --operation_depth_; break;
    case Call::GroupEnd: group_depth_ -= group_depth_ == 0 ? 0 : 1; break;
    case Call::GroupStart: return std::nullopt;
    case Call::Other: return read_communicator(payloads);
  }
  complete();
  return std::nullopt;
}

void NcclCalls::complete() {
  if (operation_depth_ != 0 || group_depth_ != 0) return;
  operations_.clear();
  shared_.reset();
}

std::shared_ptr<const NcclOperations> NcclCalls::operations() {
  if (operations_.empty()) return nullptr;
  if (!shared_) shared_ = std::make_shared<const NcclOperations>(operations_);
  return shared_;
}

trace::Collective nccl_collective(std::string_view kernel, const NcclOperations* launched) {
  const std::optional<Kind> kind = kind_of_kernel(kernel);
  trace::Collective collective;
  collective.kind = kind.value_or(Kind::Group);
  if (launched == nullptr) return collective;
  // NCCL launches the operations of a communicator in as few kernels as it can, each named by one
  // of them, and those of each communicator by themselves.
  const auto is_named = [&](const NcclOperation& one) {
    return kind ? one.kind == *kind : !has_own_kernel(one.kind);
  };
  const NcclOperation* named = nullptr;
  bool has_one_communicator = true;
  for (const NcclOperation& one : *launched) {
    if (!is_named(one)) continue;
    has_one_communicator &= named == nullptr || one.communicator == named->communicator;
    named = &one;
  }
  if (named == nullptr || !has_one_communicator) return collective;
  collective.communicator = named->communicator;
  std::size_t count = 0;
  for (const NcclOperation& one : *launched) {
    if (one.communicator != named->communicator) continue;
    ++count;
    collective.bytes += one.bytes;
  }
  collective.kind = count == 1 ? named->kind : Kind::Group;
  if (count == 1) collective.peer = named->peer;
  return collective;
}

}  // namespace reprise::detail
