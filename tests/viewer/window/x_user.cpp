#include "viewer/window/x_user.hpp"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XTest.h>

#include <set>
#include <stdexcept>

namespace reprise::test {

namespace {

Display* of(void* display) { return static_cast<Display*>(display); }

std::string title_of(Display* display, Window window) {
  XTextProperty text{};
  if (!XGetWMName(display, window, &text) || !text.value) return {};
  std::string title(reinterpret_cast<const char*>(text.value));
  XFree(text.value);
  return title;
}

// Ignores errors about windows that were closed meanwhile.
int ignore_error(Display*, XErrorEvent*) { return 0; }

}  // namespace

XUser::XUser(const std::string& display) : display_(XOpenDisplay(display.c_str())) {
  int event = 0, error = 0, major = 0, minor = 0;
  if (!display_) throw std::runtime_error("the display " + display + " does not answer");
  if (!XTestQueryExtension(of(display_), &event, &error, &major, &minor))
    throw std::runtime_error("the display has no XTEST");
}

XUser::~XUser() { XCloseDisplay(of(display_)); }

void XUser::focus(XWindow window) {
  XRaiseWindow(of(display_), window);
  XSetInputFocus(of(display_), window, RevertToParent, CurrentTime);
  XSync(of(display_), False);
}

void XUser::resize(XWindow window, int width, int height) {
  XResizeWindow(of(display_), window, static_cast<unsigned>(width), static_cast<unsigned>(height));
  XSync(of(display_), False);
}

void XUser::ask_to_close(XWindow window) {
  XEvent event{};
  event.xclient.type = ClientMessage;
  event.xclient.window = window;
  event.xclient.message_type = XInternAtom(of(display_), "WM_PROTOCOLS", False);
  event.xclient.format = 32;
  event.xclient.data.l[0] = static_cast<long>(XInternAtom(of(display_), "WM_DELETE_WINDOW", False));
  XSendEvent(of(display_), window, False, NoEventMask, &event);
  XSync(of(display_), False);
}

XWindow XUser::wait_for_window(const std::string& title_part) {
  Display* display = of(display_);
  const Window root = DefaultRootWindow(display);
  const XErrorHandler before = XSetErrorHandler(ignore_error);
  XSelectInput(display, root, SubstructureNotifyMask);
  XWindow found = 0;
  while (!found) {
    Window of_root = 0, parent = 0, *children = nullptr;
    unsigned count = 0;
    XQueryTree(display, root, &of_root, &parent, &children, &count);
    for (unsigned i = 0; i < count && !found; ++i) {
      XWindowAttributes attributes{};
      const bool visible = XGetWindowAttributes(display, children[i], &attributes) &&
                           attributes.map_state == IsViewable;
      XSelectInput(display, children[i], PropertyChangeMask);
      if (visible && title_of(display, children[i]).find(title_part) != std::string::npos)
        found = children[i];
    }
    if (children) XFree(children);
    if (found) break;
    XEvent event;
    XNextEvent(display, &event);  // a new window or title
  }
  XSelectInput(display, root, NoEventMask);
  XSync(display, True);
  XSetErrorHandler(before);
  return found;
}

std::size_t XUser::colours(XWindow window) {
  XWindowAttributes size{};
  XGetWindowAttributes(of(display_), window, &size);
  XImage* image = XGetImage(of(display_), window, 0, 0, static_cast<unsigned>(size.width),
                            static_cast<unsigned>(size.height), AllPlanes, ZPixmap);
  if (!image) return 0;
  std::set<unsigned long> found;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) found.insert(XGetPixel(image, x, y));
  }
  XDestroyImage(image);
  return found.size();
}

void XUser::move(XWindow window, int x, int y) {
  Window child = 0;
  int root_x = 0, root_y = 0;
  XTranslateCoordinates(of(display_), window, DefaultRootWindow(of(display_)), x, y, &root_x,
                        &root_y, &child);
  XTestFakeMotionEvent(of(display_), -1, root_x, root_y, CurrentTime);
  XSync(of(display_), False);
}

void XUser::press(unsigned button) {
  XTestFakeButtonEvent(of(display_), button, True, CurrentTime);
  XSync(of(display_), False);
}

void XUser::release(unsigned button) {
  XTestFakeButtonEvent(of(display_), button, False, CurrentTime);
  XSync(of(display_), False);
}

void XUser::key_down(unsigned long keysym) {
  XTestFakeKeyEvent(of(display_), XKeysymToKeycode(of(display_), keysym), True, CurrentTime);
  XSync(of(display_), False);
}

void XUser::key_up(unsigned long keysym) {
  XTestFakeKeyEvent(of(display_), XKeysymToKeycode(of(display_), keysym), False, CurrentTime);
  XSync(of(display_), False);
}

}  // namespace reprise::test
