// NoThreads: while it exists, no thread of this process can start. The default stack becomes larger
// than the address space, so that pthread_create() fails as it does when memory or threads are
// short. Threads: one NoThreads at a time.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace reprise::test {

class NoThreads {
 public:
  NoThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t impossible;
    ::pthread_attr_init(&impossible);
    ::pthread_attr_setstacksize(&impossible, std::size_t{1} << 60);
    failed_ = ::pthread_setattr_default_np(&impossible) != 0;
    ::pthread_attr_destroy(&impossible);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
  ~NoThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  // False if threads can still start: a test that goes on would show nothing.
  [[nodiscard]] bool works() const noexcept { return !failed_; }

 private:
  pthread_attr_t before_;
  bool failed_ = false;
};

}  // namespace reprise::test
