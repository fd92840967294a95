// The parts of Asio that are not templates, compiled once for the whole library.
#include "base/asio.hpp"

#define asio reprise_asio
#include <asio/impl/src.hpp>
#undef asio
