// What Boost.Beast and Boost.Asio contain besides templates, compiled once for the server and its
// tests.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
