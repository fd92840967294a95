// What a trace says of this process and of its clock. Knows no engine object. Threads: any thread.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/records.hpp"

namespace reprise::detail {

// The session's clock: nanoseconds of the steady clock; never 0.
[[nodiscard]] trace::Time trace_now() noexcept;

[[nodiscard]] trace::Session describe_process(std::string_view application);
// One moment on the steady clock and in UTC.
[[nodiscard]] trace::Clock read_clocks();

// What a thread that is not joined yet has run, in ns; 0 where that is unknown.
[[nodiscard]] trace::Time time_run_by(pthread_t thread) noexcept;

// The calling thread's number, as the operating system counts.
[[nodiscard]] std::uint32_t thread_number() noexcept;
// Its name; empty where it is over.
[[nodiscard]] std::string thread_name(std::uint32_t number);

}  // namespace reprise::detail
