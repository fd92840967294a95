#include "profile/host_span.hpp"

#include <new>
#include <utility>

#include "profile/process_info.hpp"
#include "profile/trace_session.hpp"

namespace reprise::detail {

namespace {

// The open spans of this thread, outermost first. May contain spans that another thread has closed.
thread_local std::vector<std::shared_ptr<std::atomic<bool>>> open_spans;

std::uint16_t push_open(const std::shared_ptr<std::atomic<bool>>& span) {
  while (!open_spans.empty() && !open_spans.back()->load(std::memory_order_acquire))
    open_spans.pop_back();
  open_spans.push_back(span);
  return static_cast<std::uint16_t>(open_spans.size() - 1);
}

}  // namespace

HostSpan::HostSpan(std::shared_ptr<TraceSession> session, std::string_view name)
    : session_(std::move(session)) {
  if (!session_) return;
  name_ = name;
  thread_ = thread_number();
  session_->name_thread(thread_);
  open_ = std::make_shared<std::atomic<bool>>(true);
  depth_ = push_open(open_);
  started_ = trace_now();
}

HostSpan::~HostSpan() {
  if (!session_) return;
  const trace::Time ended = trace_now();
  open_->store(false, std::memory_order_release);
  try {
    for (const Timed& part : parts_)
      push(part.name, static_cast<std::uint16_t>(depth_ + 1), part.started, part.ended);
    push(std::move(name_), depth_, started_, ended);
  } catch (const std::bad_alloc&) {
    session_->count_dropped();
  }
}

void HostSpan::push(std::string name, std::uint16_t depth, trace::Time started, trace::Time ended) {
  session_->push(trace::HostRange{thread_, depth, started, ended, std::move(name), graph_, 0});
}

HostSpan::Part HostSpan::part(const char* name) {
  if (!session_) return Part(nullptr);
  parts_.push_back({name, trace_now(), 0});
  return Part(this);
}

HostSpan::Part::~Part() {
  if (span_ != nullptr) span_->parts_.back().ended = trace_now();
}

}  // namespace reprise::detail
