#include "base/atomic_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
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

using namespace reprise::detail;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = "/tmp/reprise_atomic_XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path file() const { return path_ / "file"; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

// Limits the size of files; a larger write fails with EFBIG.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{bytes, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

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
    CHECK(contents_of(folder.file()) == "old");
    file.commit();
  }
  CHECK(contents_of(folder.file()) == "new bytes");
  CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: without commit the destination is unchanged") {
  const Folder folder;
  std::ofstream(folder.file()) << "old";
  { AtomicFile(folder.file()).write("half"); }
  CHECK(contents_of(folder.file()) == "old");
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
  CHECK(contents_of(folder.file()) == "one");
  CHECK(::write(descriptor, " two", 4) == 4);
  ::close(descriptor);
  CHECK(contents_of(folder.file()) == "one two");
  CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: a library can write the temporary file by name") {
  const Folder folder;
  AtomicFile file(folder.file());
  std::ofstream(file.temporary()) << "by name";
  file.commit();
  CHECK(contents_of(folder.file()) == "by name");
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
  const std::string contents = contents_of(folder.file());
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

TEST_CASE("atomic file: folders and devices are rejected") {
  const Folder folder;
  for (const std::filesystem::path& path : {folder.path(), std::filesystem::path("/dev/null")}) {
    const auto error = error_of([&] { write_file_atomically(path, "text"); });
    REQUIRE(error.has_value());
    CHECK(std::string(error->what()).find("not a regular file") != std::string::npos);
  }
  CHECK(std::filesystem::is_character_file("/dev/null"));
  CHECK(folder.entries() == 0);
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
  CHECK(contents_of(folder.file()) == "old");
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
  CHECK(contents_of(victim) == "precious");
  CHECK(contents_of(folder.file()) == "new");
  CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE("atomic file: the destination keeps its permissions") {
  const Folder folder;
  std::ofstream(folder.file()) << "old";
  std::filesystem::permissions(
      folder.file(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  write_file_atomically(folder.file(), "new");
  CHECK(contents_of(folder.file()) == "new");
  CHECK(std::filesystem::status(folder.file()).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}
