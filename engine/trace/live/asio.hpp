// Asio in a namespace of its own: an application that links the engine may contain an Asio of
// another version or configuration, and two definitions of one name would violate the
// one-definition rule. No other file includes Asio.
#pragma once

#define ASIO_STANDALONE 1
#define ASIO_NO_DEPRECATED 1
#define asio reprise_asio
#include <asio/buffer.hpp>
#include <asio/connect.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#undef asio

namespace reprise::trace {
namespace asio = ::reprise_asio;
}
