// Asio in a namespace of its own: an application that links the engine may contain an Asio of
// another version or configuration, and two definitions of one name would violate the
// one-definition rule. No other file includes Asio.
#pragma once

// Before Asio: its configuration reads macros of the standard library, and must be the same in all
// translation units.
#include <chrono>
#include <cstdlib>

#define ASIO_STANDALONE 1
#define ASIO_NO_DEPRECATED 1
#define ASIO_SEPARATE_COMPILATION 1  // asio.cpp
#define asio reprise_asio
#include <asio/basic_socket_acceptor.hpp>
#include <asio/basic_stream_socket.hpp>
#include <asio/basic_waitable_timer.hpp>
#include <asio/buffer.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/post.hpp>
#undef asio

namespace reprise::detail {
namespace asio = ::reprise_asio;

// Asio's objects on the executor of an io_context. Asio's defaults use any_io_executor, whose type
// erasure multiplies the code of every operation.
using Executor = asio::io_context::executor_type;
template <class Protocol>
using SocketOf = asio::basic_stream_socket<Protocol, Executor>;
template <class Protocol>
using AcceptorOf = asio::basic_socket_acceptor<Protocol, Executor>;
using StreamSocket = SocketOf<asio::generic::stream_protocol>;
using TcpResolver = asio::ip::basic_resolver<asio::ip::tcp, Executor>;
using SteadyTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>, Executor>;

}  // namespace reprise::detail
