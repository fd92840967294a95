#include "trace/live/stream_io.hpp"

#include <utility>
#include <vector>

#define asio reprise_asio
#include <asio/read.hpp>
#include <asio/write.hpp>
#undef asio

namespace reprise::trace {

void async_read_all(StreamSocket& socket, asio::mutable_buffer bytes, IoHandler handler) {
  asio::async_read(socket, bytes, [handler = std::move(handler)](const asio::error_code& error, std::size_t) { handler(error); });
}

void async_write_all(StreamSocket& socket, std::span<const asio::const_buffer> bytes, IoHandler handler) {
  asio::async_write(socket, std::vector(bytes.begin(), bytes.end()),
                    [handler = std::move(handler)](const asio::error_code& error, std::size_t) { handler(error); });
}

}  // namespace reprise::trace
