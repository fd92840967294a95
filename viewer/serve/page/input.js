// Turns the events of the browser into input events of the protocol (protocol.hpp), in order and at most
// once per animation frame. Knows neither the session nor the renderer.
'use strict';

const kWheelPixels = 100;     // of one notch of a mouse wheel
const kWheelLines = 3;
const kZoomPerNotch = 1.18;   // of the views (canvas.cpp)
const kTouchSlop = 10;        // CSS pixels that a finger moves before it drags
const kLongPress = 500;       // ms
const kSecondTap = 300;       // ms between a tap and a touch that continues it as a drag of the left button
const kKinds = {mouse: 0, touch: 1, pen: 2};
const kIsMac = /Mac|iPhone|iPad/.test(navigator.platform);
// Keys with Ctrl that the viewer uses; others, such as zoom, reload and tabs, stay with the browser.
const kControlKeys = new Set(['KeyA', 'KeyB', 'KeyC', 'KeyF', 'KeyO', 'KeyP', 'KeyS', 'KeyV', 'KeyW', 'KeyX', 'KeyY', 'KeyZ',
  'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'Backspace', 'Delete', 'Enter']);
const kShiftedLetters = new Set(['KeyC', 'KeyZ']);
const kModifiers = /^(Control|Shift|Alt|Meta)(Left|Right)$/;

class Input {
  // `send` takes an array of events; `paste` the text of Ctrl+V, before its key events.
  constructor(canvas, field, send, paste) {
    Object.assign(this, {canvas, field, send, paste});
    this.events = [];
    this.points = 1;          // of the viewer per CSS pixel
    this.kind = -1;           // of the pointer; -1: not sent
    this.buttons = 0;
    this.held = new Set();    // codes of keys
    this.touches = new Map();
    this.gesture = '';        // of the touches: '', press, drag, pinch, done
    this.isWaiting = false;   // for the next animation frame
    this.composed = '';       // text of the input method that was sent
    for (const type of ['pointerdown', 'pointermove', 'pointerup', 'pointercancel'])
      canvas.addEventListener(type, event => this.#pointer(event));
    canvas.addEventListener('pointerleave', event => event.pointerType === 'mouse' && this.#push('l'));
    canvas.addEventListener('wheel', event => this.#wheel(event), {passive: false});
    canvas.addEventListener('contextmenu', event => event.preventDefault());
    canvas.addEventListener('mousedown', event => event.preventDefault());  // no scrolling by the middle button
    for (const target of [canvas, field]) {
      target.addEventListener('keydown', event => this.#keyDown(event));
      target.addEventListener('keyup', event => this.#key(codeOf(event), false));
    }
    field.addEventListener('input', event => this.#typed(event));
    field.addEventListener('compositionstart', () => field.classList.toggle('composing', !this.isTouch));
    field.addEventListener('compositionend', () => this.#composed());
    document.addEventListener('paste', event => this.#paste(event));
    addEventListener('blur', () => this.#focus(false));
    addEventListener('focus', () => this.#focus(true));
    this.#clear();
  }

  get isTouch() { return this.kind === 1; }
  get isControlHeld() { return this.held.has('ControlLeft') || this.held.has('ControlRight'); }

  // Where text is typed: in the hidden field (with the input method and the on-screen keyboard) or the canvas.
  setKeyboard({wanted, x, y, height}) {
    if (wanted) {
      const css = points => `${points / this.points}px`;
      Object.assign(this.field.style, {left: css(x), top: css(y), height: css(height)});
      if ([this.canvas, document.body].includes(document.activeElement)) this.field.focus({preventScroll: true});
    } else if (document.activeElement === this.field) {
      this.canvas.focus({preventScroll: true});
    }
  }

  #move(x, y) { this.#push('m', x * this.points, y * this.points); }

  #push(...event) {
    const last = this.events.at(-1);
    if (last && event[0] === 'm' && last[0] === 'm') this.events.pop();
    if (last && event[0] === 'w' && last[0] === 'w') {
      last[1] += event[1];
      last[2] += event[2];
    } else {
      this.events.push(event);
    }
    // The first event after a pause is sent at once, others with the next animation frame.
    if (!this.isWaiting) queueMicrotask(() => this.#flush());
  }

  #flush() {
    if (this.isWaiting || this.events.length === 0) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.#flush();
    });
    this.send(this.events.splice(0));
  }

  // Discards what was not sent, for a new connection, whose server knows no held key or button.
  reset() {
    this.events.length = 0;
    this.held.clear();
    this.buttons = 0;
    this.kind = -1;
  }

  #pointer(event) {
    if (kKinds[event.pointerType] !== this.kind) this.#push('d', this.kind = kKinds[event.pointerType] ?? 0);
    if (event.type === 'pointerdown') {
      if (document.activeElement !== this.field) this.canvas.focus({preventScroll: true});
      this.canvas.setPointerCapture(event.pointerId);
    }
    if (this.isTouch) {
      this.#touch(event);
      return;
    }
    this.#move(event.clientX, event.clientY);
    let buttons = event.type === 'pointercancel' ? 0 : event.buttons;
    if (kIsMac && event.ctrlKey && buttons === 1) buttons = 2;
    this.#press(buttons);
  }

  #press(buttons) {
    for (let button = 0; button < 3; ++button) {
      if ((buttons ^ this.buttons) >> button & 1) this.#push('b', button, (buttons >> button & 1) === 1);
    }
    this.buttons = buttons & 7;
  }

  #click(button) {
    this.#press(1 << button);
    this.#press(0);
  }

  // One finger: a tap is a click, a long press a right click, a drag pans as the right button does; on a
  // splitter, and right after a tap, it is a drag of the left button. Two fingers turn the wheel.
  #touch(event) {
    const {pointerId, clientX: x, clientY: y} = event, isEnd = event.type === 'pointerup' || event.type === 'pointercancel';
    if (event.type === 'pointerdown') {
      this.touches.set(pointerId, {x, y});
      clearTimeout(this.longPress);
      if (this.touches.size === 1) {
        this.gesture = 'press';
        this.start = {x, y, isSecond: event.timeStamp - this.tapTime < kSecondTap};
        this.#move(x, y);
        this.longPress = setTimeout(() => {
          this.gesture = 'done';
          this.#click(1);
        }, kLongPress);
      } else {
        this.#press(0);
        this.gesture = this.touches.size === 2 ? 'pinch' : 'done';
      }
      return;
    }
    const touch = this.touches.get(pointerId);
    if (!touch) return;
    const before = this.#spread();
    Object.assign(touch, {x, y});
    if (this.gesture === 'press' && Math.hypot(x - this.start.x, y - this.start.y) > kTouchSlop) {
      clearTimeout(this.longPress);
      this.gesture = 'drag';
      this.#press(this.start.isSecond || /resize/.test(this.canvas.style.cursor) ? 1 : 2);
    }
    if (this.gesture === 'drag') this.#move(x, y);
    if (this.gesture === 'pinch') {
      const after = this.#spread();
      this.#move(after.x, after.y);
      this.#push('w', 0, Math.log(after.distance / before.distance) / Math.log(kZoomPerNotch));
    }
    if (!isEnd) return;
    this.touches.delete(pointerId);
    clearTimeout(this.longPress);
    if (this.gesture === 'press' && event.type === 'pointerup') {
      this.#click(0);
      this.tapTime = event.timeStamp;
    }
    this.#press(0);
    this.gesture = this.touches.size > 0 ? 'done' : '';
  }

  #spread() {
    const [a, b = a] = this.touches.values();
    return {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, distance: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y))};
  }

  // With Ctrl held, the browser zooms. A pinch on a touch pad arrives with ctrlKey, but without the key.
  #wheel(event) {
    const isPinch = event.ctrlKey && !this.isControlHeld;
    if (event.ctrlKey && !isPinch) return;
    event.preventDefault();
    const unit = [kWheelPixels, kWheelLines, 1][event.deltaMode] / (isPinch ? 10 : 1);
    let x = -event.deltaX / unit, y = -event.deltaY / unit;
    if (event.shiftKey && y === 0) [x, y] = [0, x];  // Dear ImGui itself exchanges the axes
    this.#move(event.clientX, event.clientY);
    this.#push('w', x, y);
  }

  #keyDown(event) {
    if (event.isComposing || event.keyCode === 229) return;
    const code = codeOf(event), isLetter = [...event.key].length === 1;
    const isText = isLetter || event.key === 'Dead' || event.key === 'Compose';
    const isControl = (kIsMac ? event.metaKey || event.ctrlKey : event.ctrlKey) && !event.getModifierState('AltGraph');
    const isModifier = kModifiers.test(code);
    if (isControl ? !isControlKey(event, code) && !isModifier : isBrowsers(event, isModifier)) return;
    if (isControl && code === 'KeyV' || event.shiftKey && code === 'Insert') return;  // the paste event follows
    this.#key(code, true);
    if (isModifier || isText && !isControl && event.target === this.field) return;
    event.preventDefault();
    if (isLetter && !isControl) this.#push('t', event.key);
  }

  #key(code, isDown) {
    if (isDown) this.held.add(code);
    else if (!this.held.delete(code)) return;
    this.#push('k', code, isDown);
    // macOS reports no release of a key while Command is held.
    if (kIsMac && !isDown && code === 'ControlLeft') this.#releaseKeys();
  }

  #releaseKeys() {
    for (const code of [...this.held]) this.#key(code, false);
  }

  #focus(isFocused) {
    if (!isFocused) this.#releaseKeys();
    this.#push('f', isFocused);
  }

  // The field contains a blank before the caret: Backspace of an on-screen keyboard is no key event, it deletes that.
  #clear() {
    this.field.value = ' ';
    this.field.setSelectionRange(1, 1);
    this.composed = '';
  }

  #typed(event) {
    if (event.isComposing && !this.isTouch) return;
    this.#sendField();
    if (!event.isComposing) this.#clear();
  }

  #composed() {
    this.field.classList.remove('composing');
    this.#sendField();
    this.#clear();
  }

  // On-screen keyboards compose every word. What changed in it is sent as Backspace and text.
  #sendField() {
    const isDeleted = this.field.value === '';
    const text = this.field.value.replace(/^ /, ''), old = [...this.composed], now = [...text];
    let same = 0;
    while (same < old.length && old[same] === now[same]) ++same;
    for (let left = old.length - same + (isDeleted ? 1 : 0); left > 0; --left) this.#stroke('Backspace');
    if (same < now.length) this.#push('t', now.slice(same).join(''));
    this.composed = text;
  }

  #stroke(code) {
    this.#push('k', code, true);
    this.#push('k', code, false);
  }

  #paste(event) {
    if (event.target !== this.canvas && event.target !== this.field && event.target !== document.body) return;
    event.preventDefault();
    const text = event.clipboardData.getData('text/plain');
    if (!text) return;
    this.paste(text);
    const isHeld = this.isControlHeld;
    if (!isHeld) this.#push('k', 'ControlLeft', true);  // of the menu of the browser
    this.#stroke('KeyV');
    if (!isHeld) this.#push('k', 'ControlLeft', false);
  }
}

// On-screen keyboards have no codes. The Command key is Ctrl in the viewer.
function codeOf(event) {
  const code = event.code || event.key;
  return kIsMac && code.startsWith('Meta') ? 'ControlLeft' : code;
}

function isControlKey(event, code) {
  return kControlKeys.has(code) && !(event.shiftKey && code.startsWith('Key') && !kShiftedLetters.has(code));
}

function isBrowsers(event, isModifier) {
  const isAlt = event.altKey && !event.getModifierState('AltGraph');
  return !isModifier && (isAlt || event.metaKey || /^F(?!1$|3$)\d+$/.test(event.code));
}
