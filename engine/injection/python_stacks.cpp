#include "injection/python_stacks.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>

namespace reprise::detail {
namespace {

// How long the helper and a waiting thread poll before they sleep: nodes of a capture follow each
// other within this time, and waking a thread takes longer than reading a stack.
constexpr std::chrono::microseconds kHelperPolls{200}, kThreadPolls{30};

void pause_briefly() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

PythonStacks& PythonStacks::of_process() {
  static PythonStacks* const stacks = [] {
    const PythonCalls* const calls = PythonCalls::of_process().calls;
    static const PythonCalls kNone;
    auto* const made = new PythonStacks(calls == nullptr ? kNone : *calls);
    return made;
  }();
  return *stacks;
}

PythonStacks::PythonStacks(const PythonCalls& calls)
    : python_(calls), spins_(std::thread::hardware_concurrency() > 1) {}

bool PythonStacks::is_running() const {
  return python_.Py_IsInitialized != nullptr && python_.Py_IsInitialized() != 0 &&
         python_.Py_IsFinalizing() == 0;
}

const CallFrame* PythonStacks::read() noexcept {
  if (!is_running() || is_forked_.load(std::memory_order_relaxed)) return nullptr;
  const PythonCalls::State holder = python_.holder(),
                           thread =
                               holder != nullptr ? holder : python_.PyGILState_GetThisThreadState();
  // Other interpreters have objects and a GIL of their own.
  if (thread == nullptr ||
      python_.PyThreadState_GetInterpreter(thread) != python_.PyInterpreterState_Main())
    return nullptr;
  try {
    return holder != nullptr ? read_frames(thread) : ask(thread);
  } catch (...) {  // out of memory
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
}

// --- Threads that do not hold the GIL ---

const CallFrame* PythonStacks::ask(PythonCalls::State thread) {
  const Clock::time_point began = Clock::now();
  const Clock::duration waited(waited_.load(std::memory_order_relaxed));
  std::call_once(helper_once_, [this] { start_helper(); });
  Request request;
  request.thread = thread;
  if (!has_helper_ || waited > kWaits + (began - began_) / kWaitShare || !wait(request, began))
    dropped_.fetch_add(1, std::memory_order_relaxed);
  waited_.fetch_add((Clock::now() - began).count(), std::memory_order_relaxed);
  return request.stack;
}

// Returns whether the helper took the request.
bool PythonStacks::wait(Request& request, Clock::time_point began) {
  const auto is_done = [&] {
    return request.state.load(std::memory_order_acquire) == Request::State::Done;
  };
  {
    const std::lock_guard lock(mutex_);
    request.next = std::exchange(first_, &request);
    has_requests_.store(true, std::memory_order_release);
  }
  wake_.notify_one();
  while (spins_ && !is_done() && Clock::now() - began < kThreadPolls) pause_briefly();
  if (is_done()) return true;
  std::unique_lock lock(mutex_);
  if (done_.wait_until(lock, began + kWait, is_done)) return true;
  if (request.state.load(std::memory_order_relaxed) != Request::State::Waiting) {
    done_.wait(lock, is_done);  // the helper has the GIL and waits for nothing
    return true;
  }
  Request** link = &first_;
  while (*link != &request) link = &(*link)->next;
  *link = request.next;
  return false;
}

void PythonStacks::start_helper() {
  // The new thread inherits the signal mask. See start_background_thread(), which cannot be used:
  // Python may end this thread by pthread_exit(), which must unwind no frame of C++ with cleanups.
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
    sigdelset(&all, fault);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_t helper{};
  has_helper_ = ::pthread_create(&helper, nullptr, &run_helper, this) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!has_helper_) return;
  ::pthread_setname_np(helper, "reprise stacks");
  ::pthread_detach(helper);
  // A forked child is not observed, and has no helper.
  ::pthread_atfork(nullptr, nullptr, [] { of_process().is_forked_.store(true); });
}

void* PythonStacks::run_helper(void* self) {
  static_cast<PythonStacks*>(self)->help();
  return nullptr;
}

void PythonStacks::help() {
  for (;;) {
    wait_for_requests();
    if (!is_running()) {
      finish(claim());
      continue;
    }
    // While Python ends, this does not return. No lock is held here, and nobody joins this thread.
    // The first call is not undone, so that its state of this thread serves all later ones.
    if (python_.PyGILState_GetThisThreadState() == nullptr) {
      static_cast<void>(python_.PyGILState_Ensure());
      static_cast<void>(python_.PyEval_SaveThread());
    }
    const int before = python_.PyGILState_Ensure();
    Request* const first = claim();
    read_claimed(first);
    // Before the threads go on: they soon need the GIL themselves, and would sleep.
    python_.PyGILState_Release(before);
    finish(first);
  }
}

void PythonStacks::wait_for_requests() {
  const Clock::time_point until = Clock::now() + kHelperPolls;
  while (spins_ && !has_requests_.load(std::memory_order_acquire) && Clock::now() < until)
    pause_briefly();
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return first_ != nullptr; });
}

PythonStacks::Request* PythonStacks::claim() {
  const std::lock_guard lock(mutex_);
  has_requests_.store(false, std::memory_order_relaxed);
  for (Request* one = first_; one != nullptr; one = one->next)
    one->state.store(Request::State::Claimed, std::memory_order_relaxed);
  return std::exchange(first_, nullptr);
}

void PythonStacks::read_claimed(Request* first) {
  for (Request* one = first; one != nullptr; one = one->next) one->stack = read_frames(one->thread);
}

void PythonStacks::finish(Request* first) {
  while (first != nullptr) {
    Request& one = *std::exchange(first, first->next);
    one.state.store(Request::State::Done, std::memory_order_release);  // `one` may be gone now
  }
  const std::lock_guard lock(mutex_);  // no thread is between its check and its wait
  done_.notify_all();
}

// --- Under the GIL ---

const CallFrame* PythonStacks::read_frames(PythonCalls::State thread) noexcept {
  // Objects are allocated below: before 3.12 that may collect garbage, which runs any code.
  const bool collects = python_.PyGC_Disable != nullptr && python_.PyGC_Disable() != 0;
  std::size_t count = 0;
  PythonCalls::Object frame = python_.PyThreadState_GetFrame(thread);
  for (; frame != nullptr && count < kMaxFrames; ++count) {
    now_[count] = {frame, python_.PyFrame_GetCode(frame),
                   python_.PyFrame_GetLasti != nullptr ? python_.PyFrame_GetLasti(frame)
                                                       : python_.PyFrame_GetLineNumber(frame)};
    frame = python_.PyFrame_GetBack(frame);
  }
  if (frame != nullptr) python_.Py_DecRef(frame);
  const CallFrame* stack = nullptr;
  try {
    stack = intern(count);
  } catch (...) {  // out of memory
    last_.clear();
    dropped_.fetch_add(1, std::memory_order_relaxed);
  }
  for (std::size_t i = 0; i < count; ++i) {
    python_.Py_DecRef(now_[i].code);
    python_.Py_DecRef(now_[i].frame);
  }
  if (collects) python_.PyGC_Enable();
  return stack;
}

// Frames that equal those of the last stack, from the outermost on, are not looked up again.
const CallFrame* PythonStacks::intern(std::size_t count) {
  const CallFrame* stack = nullptr;
  std::size_t known = 0;
  bool is_known = true;
  for (std::size_t i = count; i-- != 0; ++known) {
    const Frame& frame = now_[i];
    is_known = is_known && known < last_.size() && last_[known].code == frame.code &&
               last_[known].position == frame.position && is_of(last_[known].reference, frame.code);
    if (is_known) {
      stack = last_[known].frame;
      continue;
    }
    last_.resize(known);
    Code* const code = find_code(frame.code);
    const CallFrame* const found =
        code == nullptr ? nullptr : frames_.find({stack, code->name, line_of(*code, frame), 0});
    if (found == nullptr) return nullptr;
    stack = found;
    last_.push_back({frame.code, frame.position, code->reference, stack});
  }
  last_.resize(count);
  return stack;
}

// Python searches a table of the code for a line, which takes longer than all else here.
std::uint32_t PythonStacks::line_of(Code& code, const Frame& frame) const {
  if (python_.PyFrame_GetLasti == nullptr)
    return static_cast<std::uint32_t>(std::max(frame.position, 0));
  const auto [at, is_new] = code.lines.try_emplace(frame.position);
  if (is_new)
    at->second =
        static_cast<std::uint32_t>(std::max(python_.PyFrame_GetLineNumber(frame.frame), 0));
  return at->second;
}

// Another code object may have the address of one that was freed.
bool PythonStacks::is_of(PythonCalls::Object reference, PythonCalls::Object code) const {
  if (python_.PyGC_Disable == nullptr) return reference == code;  // see find_code()
  if (python_.PyWeakref_GetRef == nullptr) return python_.PyWeakref_GetObject(reference) == code;
  PythonCalls::Object object = nullptr;
  if (python_.PyWeakref_GetRef(reference, &object) <= 0) return false;
  python_.Py_DecRef(object);
  return object == code;
}

PythonStacks::Code* PythonStacks::find_code(PythonCalls::Object code) {
  Code& known = codes_[code];
  if (known.reference != nullptr && is_of(known.reference, code)) return &known;
  PythonCalls::Object type = nullptr, value = nullptr, traceback = nullptr;
  python_.PyErr_Fetch(&type, &value, &traceback);  // of the thread, to keep it
  if (known.reference != nullptr) python_.Py_DecRef(std::exchange(known.reference, nullptr));
  known.lines.clear();
  if (python_.PyGC_Disable != nullptr) {
    known.reference = python_.PyWeakref_NewRef(code, nullptr);
  } else {  // 3.9: a weak reference might collect garbage, so the code is kept
    python_.Py_IncRef(code);
    known.reference = code;
  }
  const char* const function = python_.PyFrame_GetLasti != nullptr ? "co_qualname" : "co_name";
  CodeName name{text_of(code, function), text_of(code, "co_filename")};
  name.author = author_of(name.file);
  known.name = frames_.find(std::move(name));
  python_.PyErr_Restore(type, value, traceback);  // also clears an error of the above
  return known.reference == nullptr ? nullptr : &known;
}

// An attribute of the code; empty if it is no valid text.
std::string PythonStacks::text_of(PythonCalls::Object code, const char* name) const {
  const PythonCalls::Object attribute = python_.PyObject_GetAttrString(code, name);
  if (attribute == nullptr) return {};
  std::ptrdiff_t size = 0;
  const char* const text = python_.PyUnicode_AsUTF8AndSize(attribute, &size);
  std::string copy =
      text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(size));
  python_.Py_DecRef(attribute);
  return copy;
}

}  // namespace reprise::detail
