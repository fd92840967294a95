// Texts on their way to a person. Names come from traces, sessions and other programs: a terminal
// must not obey them. Depends only on the operating system. Threads: any.
#pragma once

#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>

namespace reprise::detail {

// Replaces control characters (also those of C1 and those that reorder text) and invalid UTF-8 by
// '?'. A line break is one of them.
[[nodiscard]] std::string printable(std::string_view text);

// The same for a text of several lines: line breaks stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

// In double quotes on one line, with quotes and backslashes escaped; line breaks become \n, other
// control characters \\x1b.
[[nodiscard]] std::string quote_text(std::string_view text);

// Writes "reprise: " and the printable parts to stderr, as one message. Its further lines are
// indented: a name cannot pretend to be a message. Allocates nothing.
void print_message(std::initializer_list<std::string_view> parts) noexcept;
inline void print_message(std::string_view text) noexcept { print_message({text}); }

// The text of `failure`, which occurred while `doing` something with `object`: "reading " and
// "run.reprise". Needs no memory if none is left.
[[nodiscard]] std::string failure_text(const std::exception& failure, std::string_view doing,
                                       std::string_view object = {}) noexcept;

}  // namespace reprise::detail
