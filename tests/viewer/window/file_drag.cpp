#include "viewer/window/file_drag.hpp"

#include <X11/Xatom.h>
#include <X11/Xlib.h>

#include <stdexcept>

namespace reprise::test {

namespace {

constexpr long kVersion = 5;

Display* of(void* display) { return static_cast<Display*>(display); }
Atom atom(void* display, const char* name) { return XInternAtom(of(display), name, False); }
long number(unsigned long id) { return static_cast<long>(id); }

}  // namespace

FileDrag::FileDrag(const std::string& display, XWindow target,
                   const std::vector<std::string>& paths)
    : display_(XOpenDisplay(display.c_str())), target_(target) {
  if (!display_) throw std::runtime_error("the display " + display + " does not answer");
  for (const std::string& path : paths) list_ += "file://" + path + "\r\n";
  source_ = XCreateSimpleWindow(of(display_), DefaultRootWindow(of(display_)), 0, 0, 1, 1, 0, 0, 0);
  XSetSelectionOwner(of(display_), atom(display_, "XdndSelection"), source_, CurrentTime);
  send("XdndEnter", kVersion << 24, number(atom(display_, "text/uri-list")), 0, 0);
  send("XdndPosition", 0, (60 << 16) | 60, CurrentTime, number(atom(display_, "XdndActionCopy")));
}

FileDrag::~FileDrag() { XCloseDisplay(of(display_)); }

void FileDrag::send(const char* type, long a, long b, long c, long d) {
  XEvent event{};
  event.xclient.type = ClientMessage;
  event.xclient.window = target_;
  event.xclient.message_type = atom(display_, type);
  event.xclient.format = 32;
  event.xclient.data.l[0] = number(source_);
  event.xclient.data.l[1] = a;
  event.xclient.data.l[2] = b;
  event.xclient.data.l[3] = c;
  event.xclient.data.l[4] = d;
  XSendEvent(of(display_), target_, False, NoEventMask, &event);
  XSync(of(display_), False);
}

void FileDrag::advance() {
  while (XPending(of(display_)) > 0) {
    XEvent event;
    XNextEvent(of(display_), &event);
    if (event.type == ClientMessage && event.xclient.message_type == atom(display_, "XdndStatus")) {
      const bool wanted = event.xclient.data.l[1] & 1;
      if (wanted) send("XdndDrop", 0, CurrentTime, 0, 0);
    } else if (event.type == ClientMessage &&
               event.xclient.message_type == atom(display_, "XdndFinished")) {
      finished_ = true;
    } else if (event.type == SelectionRequest) {
      const XSelectionRequestEvent& asked = event.xselectionrequest;
      XChangeProperty(of(display_), asked.requestor, asked.property, asked.target, 8,
                      PropModeReplace, reinterpret_cast<const unsigned char*>(list_.data()),
                      static_cast<int>(list_.size()));
      XEvent answer{};
      answer.xselection.type = SelectionNotify;
      answer.xselection.requestor = asked.requestor;
      answer.xselection.selection = asked.selection;
      answer.xselection.target = asked.target;
      answer.xselection.property = asked.property;
      answer.xselection.time = asked.time;
      XSendEvent(of(display_), asked.requestor, False, NoEventMask, &answer);
      XSync(of(display_), False);
    }
  }
}

}  // namespace reprise::test
