// Facts about this process for a trace: its identity, its threads and their clocks. Threads: any.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/rank_environment.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

// The session's clock: steady clock, ns; never 0.
[[nodiscard]] trace::Time trace_now() noexcept;

// The rank of this process; nullopt if no launcher started it, or its variables are malformed.
[[nodiscard]] std::optional<RankEnvironment> launched_environment();

[[nodiscard]] trace::Session describe_process(std::string_view application);
// The same moment on the steady clock and in UTC.
[[nodiscard]] trace::Clock read_clocks();

// CPU time of a thread that has not been joined, ns; 0: unknown.
[[nodiscard]] trace::Time thread_cpu_time(pthread_t thread) noexcept;

// The operating system's id of the calling thread.
[[nodiscard]] std::uint32_t thread_number() noexcept;
// The name of a thread; empty if it has ended.
[[nodiscard]] std::string thread_name(std::uint32_t number);

}  // namespace reprise::detail
