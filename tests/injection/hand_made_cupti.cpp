#include "injection/hand_made_cupti.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "injection/hand_made_driver.hpp"

namespace reprise::test {
namespace {

HandMadeCupti* the_one = nullptr;

template <class Record>
Record record_of(const HandMadeRecord& made) {
  Record record = {};
  record.kind = made.kind;
  record.graphNodeId = made.node;
  record.correlationId = made.correlation;
  record.streamId = made.stream;
  record.start = made.started;
  record.end = made.ended;
  if constexpr (requires { record.gridX; }) record.name = made.kernel;
  return record;
}

// Returns the record's size; 0: it does not fit.
template <class Record>
std::size_t put(const HandMadeRecord& made, std::uint8_t* at, std::size_t room) {
  if (room < sizeof(Record)) return 0;
  const auto record = record_of<Record>(made);
  std::memcpy(at, &record, sizeof(Record));
  return sizeof(Record);
}

std::size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
    default: return sizeof(CUpti_ActivityKernel10);
  }
}

std::size_t put_any(const HandMadeRecord& made, std::uint8_t* at, std::size_t room) {
  switch (made.kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY: return put<CUpti_ActivityMemcpy6>(made, at, room);
    case CUPTI_ACTIVITY_KIND_MEMSET: return put<CUpti_ActivityMemset4>(made, at, room);
    default: return put<CUpti_ActivityKernel10>(made, at, room);
  }
}

CUptiResult CUPTIAPI next_record(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  auto* const at = reinterpret_cast<std::uint8_t*>(*record);
  std::uint8_t* const next = at == nullptr ? buffer : at + size_of((*record)->kind);
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

}  // namespace

HandMadeCupti::HandMadeCupti() {
  REQUIRE(the_one == nullptr);
  the_one = this;
  library_.result_string = [](CUptiResult, const char** text) {
    return *text = "it says no", CUPTI_SUCCESS;
  };
  library_.subscribe = [](CUpti_SubscriberHandle* handle, CUpti_CallbackFunc call, void* of) {
    const std::lock_guard lock(the_one->mutex_);
    if (the_one->subscription != CUPTI_SUCCESS) return the_one->subscription;
    *handle = reinterpret_cast<CUpti_SubscriberHandle>(the_one);
    the_one->subscriber_ = call;
    the_one->of_subscriber_ = of;
    return CUPTI_SUCCESS;
  };
  library_.enable_callback = [](std::uint32_t enable, CUpti_SubscriberHandle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    const std::lock_guard lock(the_one->mutex_);
    enable != 0 ? static_cast<void>(the_one->wanted_.emplace(domain, id))
                : static_cast<void>(the_one->wanted_.erase({domain, id}));
    return CUPTI_SUCCESS;
  };
  library_.register_buffers = [](CUpti_BuffersCallbackRequestFunc request,
                                 CUpti_BuffersCallbackCompleteFunc complete) {
    const std::lock_guard lock(the_one->mutex_);
    the_one->request_ = request;
    the_one->complete_ = complete;
    return CUPTI_SUCCESS;
  };
  library_.register_clock = [](CUpti_TimestampCallbackFunc) { return CUPTI_SUCCESS; };
  library_.enable = [](CUpti_ActivityKind kind) {
    const std::lock_guard lock(the_one->mutex_);
    return the_one->kinds_.insert(kind), CUPTI_SUCCESS;
  };
  library_.disable = [](CUpti_ActivityKind kind) {
    const std::lock_guard lock(the_one->mutex_);
    return the_one->kinds_.erase(kind), CUPTI_SUCCESS;
  };
  library_.flush_all = [](std::uint32_t) { return the_one->flush(), CUPTI_SUCCESS; };
  library_.next_record = &next_record;
  library_.dropped_records = [](CUcontext, std::uint32_t, std::size_t* count) {
    return *count = 0, CUPTI_SUCCESS;
  };
  library_.node_id = [](CUgraphNode node, std::uint64_t* id) {
    return *id = reinterpret_cast<HandMadeNode*>(node)->profiler_id, CUPTI_SUCCESS;
  };
  library_.exec_id = [](CUgraphExec exec, std::uint32_t* id) {
    return *id = the_one->exec_id(exec), CUPTI_SUCCESS;
  };
}

HandMadeCupti::~HandMadeCupti() { the_one = nullptr; }

void HandMadeCupti::set_exec_id(CUgraphExec exec, std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  exec_ids_[exec] = id;
}

std::uint32_t HandMadeCupti::exec_id(CUgraphExec exec) {
  const std::lock_guard lock(mutex_);
  const auto found = exec_ids_.find(exec);
  return found == exec_ids_.end() ? kHandMadeExecId : found->second;
}

void HandMadeCupti::call_back(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  CUpti_CallbackFunc call = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (wanted_.contains({domain, id})) call = subscriber_;
  }
  if (call != nullptr) call(of_subscriber_, domain, id, data);
}

void HandMadeCupti::add(const HandMadeRecord& record) {
  const std::lock_guard lock(mutex_);
  if (kinds_.contains(record.kind)) waiting_.push_back(record);
}

bool HandMadeCupti::records_kernels() {
  const std::lock_guard lock(mutex_);
  return kinds_.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

void HandMadeCupti::flush() {
  std::vector<HandMadeRecord> records;
  {
    const std::lock_guard lock(mutex_);
    records.swap(waiting_);
  }
  for (std::size_t next = 0; next < records.size();) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0, valid = 0;
    request_(&buffer, &size, &most);
    REQUIRE(buffer != nullptr);
    for (; next < records.size(); ++next) {
      const std::size_t bytes = put_any(records[next], buffer + valid, size - valid);
      if (bytes == 0) break;
      valid += bytes;
    }
    complete_(nullptr, 0, buffer, size, valid);
  }
}

}  // namespace reprise::test
