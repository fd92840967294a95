// A library with debug information, whose call of a function native_lines_test.cpp looks up.
extern "C" __attribute__((noinline)) const void* reprise_return_address() {
  return __builtin_return_address(0);
}

extern "C" __attribute__((noinline)) const void* reprise_probe(int* line) {
  const void* const address = reprise_return_address();
  *line = __LINE__ - 1;
  return address;
}
