// Reads and writes of whole buffers on a stream socket. Compiled once: an Asio operation is a
// template of its handler. Threads: those of the socket.
#pragma once

#include <functional>
#include <span>

#include "base/asio.hpp"

namespace reprise::trace {

namespace asio = detail::asio;
using detail::AcceptorOf;
using detail::Executor;
using detail::SocketOf;
using detail::SteadyTimer;
using detail::StreamSocket;
using detail::TcpResolver;

using IoHandler = std::function<void(const asio::error_code&)>;

// Calls `handler` when `bytes` is full, or with an error. The socket and the bytes outlive the
// operation.
void async_read_all(StreamSocket& socket, asio::mutable_buffer bytes, IoHandler handler);
// Calls `handler` when all of `bytes` is written, or with an error. The socket and the bytes
// outlive the operation.
void async_write_all(StreamSocket& socket, std::span<const asio::const_buffer> bytes,
                     IoHandler handler);

}  // namespace reprise::trace
