#include "base/atomic_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/file_limit.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

using namespace reprise::detail;
using namespace reprise::test;

namespace {

struct Folder : TemporaryFolder {
  [[nodiscard]] std::filesystem::path file() const { return path() / "file"; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path()), {}));
  }
};

template <class Function>
std::optional<FileError> error_of(const Function& function) {
  try {
    function();
  } catch (const FileError& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("atomic file: commit replaces the destination and removes the temporary file") {
  const Folder folder;
  std::ofstream(folder.file()) << "old";
  {
    AtomicFile file(folder.file());
    CHECK(file.path() == folder.file());
    CHECK(file.temporary().parent_path() == folder.path());
    file.write("new ");
    file.write(std::as_bytes(std::span("bytes", 5)));
    CHECK(text_of_file(folder.file()) == "old");
    file.commit();
  }
  CHECK(text_of_file(folder.file()) == "new bytes");
  CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: without commit the destination is unchanged") {
  const Folder folder;
  std::ofstream(folder.file()) << "old";
  { AtomicFile(folder.file()).write("half"); }
  CHECK(text_of_file(folder.file()) == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: contents larger than the buffer are complete") {
  const Folder folder;
  const std::string piece(700'000, 'x');
  AtomicFile file(folder.file());
  for (int i = 0; i < 5; ++i) file.write(piece);
  file.commit();
  CHECK(std::filesystem::file_size(folder.file()) == 3'500'000);
}

TEST_CASE("atomic file: a new file has the default permissions") {
  const Folder folder;
  write_file_atomically(folder.file(), "text");
  struct stat status {};
  REQUIRE(::stat(folder.file().c_str(), &status) == 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  CHECK((status.st_mode & 0777) == (0666 & ~mask));
}

TEST_CASE("atomic file: commit_open returns a descriptor at the end of the new file") {
  const Folder folder;
  AtomicFile file(folder.file());
  file.write("one");
  const int descriptor = file.commit_open();
  REQUIRE(descriptor >= 0);
  CHECK(text_of_file(folder.file()) == "one");
  CHECK(::write(descriptor, " two", 4) == 4);
  ::close(descriptor);
  CHECK(text_of_file(folder.file()) == "one two");
  CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: a library can write the temporary file by name") {
  const Folder folder;
  AtomicFile file(folder.file());
  std::ofstream(file.temporary()) << "by name";
  file.commit();
  CHECK(text_of_file(folder.file()) == "by name");
}

TEST_CASE("atomic file: concurrent writers of one path each write a complete file") {
  const Folder folder;
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'e'; ++c) {
    threads.emplace_back([&folder, c] {
      for (int i = 0; i < 20; ++i) write_file_atomically(folder.file(), std::string(10'000, c));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string contents = text_of_file(folder.file());
  CHECK(contents == std::string(10'000, contents.at(0)));
  CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: errors contain the destination, the reason and the code") {
  const Folder folder;
  const std::filesystem::path missing = folder.path() / "no" / "folder";
  const auto error = error_of([&] { write_file_atomically(missing, "text"); });
  REQUIRE(error.has_value());
  CHECK(error->what() == "cannot write " + missing.string() + ": " + std::strerror(ENOENT));
  CHECK(error->code() == std::errc::no_such_file_or_directory);
}

TEST_CASE("atomic file: folders and sockets are rejected") {
  const Folder folder;
  const std::filesystem::path socket = folder.path() / "socket";
  REQUIRE(::mknod(socket.c_str(), S_IFSOCK | 0600, 0) == 0);
  for (const std::filesystem::path& path : {folder.path(), socket}) {
    const auto error = error_of([&] { write_file_atomically(path, "text"); });
    REQUIRE(error.has_value());
    CHECK(error->code() == std::errc::invalid_argument);
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: a character device and a pipe receive the data and stay") {
  const Folder folder;
  write_file_atomically("/dev/null", "text");
  CHECK(std::filesystem::is_character_file("/dev/null"));
  REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
  const std::filesystem::path link = folder.path() / "link";
  std::filesystem::create_symlink("file", link);
  const int reader = ::open(folder.file().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  write_file_atomically(link, "text");
  char bytes[8] = {};
  CHECK(::read(reader, bytes, sizeof bytes) == 4);
  CHECK(std::string(bytes) == "text");
  ::close(reader);
  CHECK(std::filesystem::is_fifo(folder.file()));
  CHECK(std::filesystem::is_symlink(link));
  CHECK(folder.entries() == 2);
}

TEST_CASE("atomic file: an open descriptor receives the data at its position") {
  const Folder folder;
  const int file = ::open(folder.file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  REQUIRE(::write(file, "first ", 6) == 6);
  const std::filesystem::path link = folder.path() / "link";
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(file), link);
  write_file_atomically(link, "second ");
  REQUIRE(::write(file, "third", 5) == 5);
  ::close(file);
  CHECK(text_of_file(folder.file()) == "first second third");
  CHECK(std::filesystem::is_symlink(link));
  CHECK_FALSE(std::filesystem::exists(std::filesystem::symlink_status(folder.path() / "1")));
}

TEST_CASE("atomic file: a destination without a path or position has no temporary file") {
  AtomicFile file("/dev/null");
  const auto error = error_of([&] { static_cast<void>(file.temporary()); });
  REQUIRE(error.has_value());
  CHECK(std::string(error->what()).find("requires a regular file") != std::string::npos);
  CHECK(error_of([&] { static_cast<void>(file.commit_open()); }).has_value());
}

TEST_CASE("atomic file: links stay, and the file that they lead to is replaced") {
  const Folder folder;
  const std::filesystem::path inner = folder.path() / "inner", first = folder.path() / "first",
                              second = folder.path() / "second";
  std::filesystem::create_directory(inner);
  std::filesystem::create_symlink("inner/target", first);
  std::filesystem::create_symlink(first, second);
  const auto check = [&](const char* text) {
    CHECK(text_of_file(inner / "target") == text);
    CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(inner / "target")));
    CHECK(std::filesystem::read_symlink(first) == "inner/target");
    CHECK(std::filesystem::read_symlink(second) == first);
    CHECK(folder.entries() == 3);
  };
  write_file_atomically(second, "new");  // to a file that does not exist yet
  check("new");
  write_file_atomically(second, "newer");
  check("newer");
  { AtomicFile(second).write("half"); }
  check("newer");
}

TEST_CASE("atomic file: a link leads into another file system") {
  std::string other = "/dev/shm/reprise_atomic_XXXXXX";
  if (::mkdtemp(other.data()) == nullptr) return;
  const Folder folder;
  std::filesystem::create_symlink(other + "/target", folder.file());
  write_file_atomically(folder.file(), "text");
  CHECK(std::filesystem::is_symlink(folder.file()));
  CHECK(text_of_file(other + "/target") == "text");
  std::filesystem::remove_all(other);
}

TEST_CASE("atomic file: links without an end are errors that name the link") {
  const Folder folder;
  const std::filesystem::path loop = folder.path() / "loop";
  std::filesystem::create_symlink("loop", loop);
  auto error = error_of([&] { write_file_atomically(loop, "text"); });
  REQUIRE(error.has_value());
  CHECK(error->code() == std::errc::too_many_symbolic_link_levels);
  std::filesystem::create_symlink("missing/target", folder.file());
  error = error_of([&] { write_file_atomically(folder.file(), "text"); });
  REQUIRE(error.has_value());
  CHECK(error->code() == std::errc::no_such_file_or_directory);
  CHECK(error->what() == "cannot write " + folder.file().string() + ": " + std::strerror(ENOENT) +
                             " (it is a link to " + folder.path().string() + "/missing/target)");
  CHECK(folder.entries() == 2);
}

TEST_CASE("atomic file: links that other users put into a shared folder are not followed" *
          doctest::skip(::geteuid() != 0)) {
  const Folder folder;
  const std::filesystem::path target = folder.path() / "target", shared = folder.path() / "shared";
  std::ofstream(target) << "precious";
  std::filesystem::create_directory(shared);
  REQUIRE(::chmod(shared.c_str(), 01777) == 0);
  std::filesystem::create_symlink(target, shared / "link");
  REQUIRE(::lchown((shared / "link").c_str(), 65534, 65534) == 0);
  const auto error = error_of([&] { write_file_atomically(shared / "link", "text"); });
  REQUIRE(error.has_value());
  CHECK(error->code() == std::errc::permission_denied);
  CHECK(text_of_file(target) == "precious");
  REQUIRE(::lchown((shared / "link").c_str(), ::geteuid(), ::getegid()) == 0);
  write_file_atomically(shared / "link", "text");
  CHECK(text_of_file(target) == "text");
}

TEST_CASE("atomic file: nobody gets a permission that a source of the contents lacks") {
  const Folder folder;
  const gid_t own = ::getegid(), other = own + 1;
  const auto mode_after = [&](std::vector<FileAccess> sources) {
    write_file_atomically(folder.file(), "text", {.sources = std::move(sources)});
    return access_of(folder.file()).mode;
  };
  const mode_t mask = ::umask(022);
  CHECK(mode_after({{0600, own}}) == 0600);
  CHECK(mode_after({{0666, own}}) == 0600);  // the destination was private before
  std::filesystem::remove(folder.file());
  CHECK(mode_after({{0640, own}}) == 0640);
  std::filesystem::remove(folder.file());
  CHECK(mode_after({{0644, own}, {0664, own}}) == 0644);
  CHECK(mode_after({{0644, own}, {0600, own}}) == 0600);
  std::filesystem::remove(folder.file());
  CHECK(mode_after({{0640, other}}) == 0600);
  std::filesystem::remove(folder.file());
  CHECK(mode_after({{0604, other}}) == 0600);
  std::filesystem::remove(folder.file());
  CHECK(mode_after({{0444, other}}) == 0644);
  CHECK(mode_after({access_of(folder.path() / "no such file")}) == 0600);
  ::umask(mask);
}

TEST_CASE("atomic file: a write beyond the limit fails, and the destination is unchanged") {
  const Folder folder;
  std::ofstream(folder.file()) << "old";
  const auto error = error_of([&] {
    write_file_atomically(folder.file(), std::string(11, 'x'), {.max_bytes = 10, .limit = "ten"});
  });
  REQUIRE(error.has_value());
  CHECK(error->code() == std::errc::file_too_large);
  CHECK(std::string(error->what()).find("exceed 10 bytes, the limit of ten") != std::string::npos);
  CHECK(text_of_file(folder.file()) == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: a folder without write permission is an error" *
          doctest::skip(::geteuid() == 0)) {
  const Folder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0500) == 0);
  const auto error = error_of([&] { write_file_atomically(folder.file(), "text"); });
  REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
  REQUIRE(error.has_value());
  CHECK(error->code() == std::errc::permission_denied);
}

TEST_CASE("atomic file: on a full disk the destination is unchanged") {
  const Folder folder;
  std::ofstream(folder.file()) << "old";
  {
    const FileLimit full(1'000);
    const auto error =
        error_of([&] { write_file_atomically(folder.file(), std::string(2'000, 'x')); });
    REQUIRE(error.has_value());
    CHECK(error->code() == std::errc::file_too_large);
  }
  CHECK(text_of_file(folder.file()) == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: a link with the name of the temporary file is not followed") {
  const Folder folder;
  const std::filesystem::path victim = folder.path() / "victim";
  std::ofstream(victim) << "precious";
  // "file.PID-N.partial": the next one has the number N + 1.
  std::string temporary = AtomicFile(folder.file()).temporary().string();
  const std::size_t dash = temporary.rfind('-');
  const unsigned number = static_cast<unsigned>(std::stoul(temporary.substr(dash + 1)));
  const std::string link = temporary.substr(0, dash + 1) + std::to_string(number + 1) + ".partial";
  std::filesystem::create_symlink(victim, link);
  write_file_atomically(folder.file(), "new");
  CHECK(text_of_file(victim) == "precious");
  CHECK(text_of_file(folder.file()) == "new");
  CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE("atomic file: the destination keeps its permissions") {
  const Folder folder;
  std::ofstream(folder.file()) << "old";
  std::filesystem::permissions(
      folder.file(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  write_file_atomically(folder.file(), "new");
  CHECK(text_of_file(folder.file()) == "new");
  CHECK(std::filesystem::status(folder.file()).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}
