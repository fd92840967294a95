// The session with the server (protocol.hpp): connection, link, clipboard, files. Draws with Renderer and
// returns what Input collects.
'use strict';

const kChunk = 256 * 1024;        // bytes per message of an upload
const kUnconfirmed = 1024 * 1024; // bytes of an upload
const kSilence = 5000;            // ms without an answer before the connection is checked, and again before it is lost
const kRetries = [0.5, 1, 2, 4, 8];  // s

const element = id => document.getElementById(id);
const darkTheme = matchMedia('(prefers-color-scheme: dark)');
const canvas = element('view');

let socket = null;
let isWelcome = false;     // the session is open
let isRefused = false;     // no further attempt by itself
let session = '';          // id, to resume
let attempt = 0;
let retryTimer = 0;
let silenceTimer = 0;
let drawnFrame = 0, newFrame = 0;
let isDrawPending = false;
let renderer, input;
const uploads = new Map(), downloads = new Map();
let lastUpload = 0;

// --- the link: its fragment is the state of the view, and the token at first ---

let token = '';
try { token = sessionStorage.getItem('reprise-token') || ''; } catch { /* without storage, as in some frames */ }

function rememberToken(value) {
  token = value;
  try { sessionStorage.setItem('reprise-token', value); } catch { /* as above */ }
}

// Returns the state and removes a token from the address.
function readLink() {
  const state = new URLSearchParams(location.hash.slice(1)), given = state.get('token');
  if (given !== null) {
    rememberToken(given);
    state.delete('token');
    history.replaceState(null, '', location.pathname + location.search + (String(state) && `#${state}`));
  }
  return {state: Object.fromEntries(state), hasToken: given !== null};
}

addEventListener('popstate', () => {
  const {state, hasToken} = readLink();
  if (hasToken) connect(); else send({type: 'navigate', state});
});

// --- the connection ---

function send(message) {
  if (isWelcome) socket.send(JSON.stringify(message));
}

function connect() {
  clearTimeout(retryTimer);
  abandon();
  isWelcome = isRefused = false;
  const {state} = readLink();
  if (!token) {
    refuse('Which token?', 'The link of "reprise serve" ends with it. Open that link, or enter the token here.', true);
    return;
  }
  if (attempt === 0) show('Connecting', location.host);
  const address = new URL('session', location.href);  // beside the page, also below a path of a proxy
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  address.hash = '';
  socket = new WebSocket(address);
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => {
    newFrame = drawnFrame = 0;
    input.reset();
    const dark = darkTheme.matches;
    socket.send(JSON.stringify({type: 'hello', token, ...measure(), dark, state, resume: session}));
  };
  socket.onmessage = event => {
    stopSilence();
    try {
      if (typeof event.data === 'string') takeText(JSON.parse(event.data)); else takeBytes(event.data);
    } catch (error) {
      refuse('The picture cannot be drawn', error.message);
      socket.close();
    }
  };
  socket.onclose = lose;
}

// Closes the connection without its handlers.
function abandon() {
  if (!socket) return;
  socket.onclose = socket.onmessage = null;
  socket.close();
}

function stopSilence() {
  clearTimeout(silenceTimer);
  silenceTimer = 0;
}

function lose() {
  stopSilence();
  isWelcome = false;
  document.body.classList.add('lost');
  for (const transfer of [...uploads.values(), ...downloads.values()]) failTransfer(transfer, 'the connection was lost');
  if (isRefused) return;
  let left = kRetries[Math.min(attempt++, kRetries.length - 1)];
  const wait = () => {
    show(attempt > 1 || session ? 'Connection lost' : 'Connecting', `Retrying in ${Math.ceil(left)} s`, 'Retry now');
    retryTimer = setTimeout(left > 1 ? wait : connect, Math.min(left, 1) * 1000);
    left -= 1;
  };
  wait();
}

// A connection that a sleeping laptop or another network cut off stays open for the browser.
function expectAnswer() {
  if (silenceTimer || document.hidden) return;
  silenceTimer = setTimeout(() => {
    send({type: 'alive'});
    silenceTimer = setTimeout(() => {
      abandon();
      lose();
    }, kSilence);
  }, kSilence);
}

function show(headline, detail, button, asksToken = false) {
  element('status').hidden = !headline;
  element('headline').textContent = headline;
  element('detail').textContent = detail;
  element('again').hidden = !button;
  element('again').textContent = button;
  element('token-field').hidden = !asksToken;
  if (!asksToken) return;
  element('token').value = token;
  element('token').select();
}

function refuse(headline, detail, asksToken = false) {
  isRefused = true;
  document.body.classList.add('lost');
  show(headline, detail, asksToken ? 'Connect' : 'Retry', asksToken);
}

element('status').addEventListener('submit', event => {
  event.preventDefault();
  if (!element('token-field').hidden) rememberToken(element('token').value.trim().replace(/^.*token=/, ''));
  attempt = 0;
  connect();
});
addEventListener('online', () => isWelcome || isRefused || connect());
document.addEventListener('visibilitychange', () => document.hidden || isWelcome || isRefused || connect());

// --- messages of the server ---

const handlers = {
  welcome(message) {
    isWelcome = true;
    attempt = 0;
    session = message.session;
    document.body.classList.remove('lost');
    show('', '');
    if (document.activeElement === document.body) canvas.focus({preventScroll: true});
  },
  error({reason, text}) {
    refuse(isWelcome ? 'The server ended the session' : 'The server refuses the connection', text, reason === 'token');
  },
  cursor({shape}) { canvas.style.cursor = shape; },
  title({text}) { document.title = text; },
  copy({text}) { copy(text); },
  state({state, replace}) {
    const link = '#' + String(new URLSearchParams(state)).replaceAll('%2F', '/');
    if (link !== (location.hash || '#')) history[replace ? 'replaceState' : 'pushState'](null, '', link);
  },
  keyboard(message) {
    input.setKeyboard(message);
    element('keyboard').hidden = !message.wanted || !input.isTouch;
  },
  progress({id, received}) { uploads.get(id)?.confirm(received); },
  refused({id, text}) {
    if (uploads.has(id)) failTransfer(uploads.get(id), text);
  },
  download: startDownload,
  alive() {},
  picture({name}) {
    draw();
    canvas.toBlob(blob => save(blob, name));
  },
};

function takeText(message) {
  if (!Object.hasOwn(handlers, message.type)) throw new Error(`the server sent the unknown message "${message.type}"`);
  handlers[message.type](message);
}

function takeBytes(buffer) {
  const kind = new Uint8Array(buffer, 0, 1)[0];
  if (kind === 1) {
    newFrame = renderer.takeFrame(buffer);
    requestDraw();
  } else if (kind === 2) {
    renderer.takeTexture(buffer);
  } else if (kind === 3) {
    takeDownload(buffer);
  } else {
    throw new Error(`the server sent the unknown data ${kind}`);
  }
}

// --- picture ---

function draw() { renderer.draw(getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)); }

function requestDraw() {
  if (isDrawPending) return;
  isDrawPending = true;
  requestAnimationFrame(() => {
    isDrawPending = false;
    draw();
    if (newFrame !== drawnFrame) send({type: 'ack', frame: drawnFrame = newFrame});
  });
}

// The server draws at scales from 0.5 to 4; beyond, points of the viewer are not CSS pixels.
function measure() {
  const scale = Math.min(Math.max(devicePixelRatio, 0.5), 4);
  input.points = devicePixelRatio / scale;
  return {width: canvas.width / scale, height: canvas.height / scale, scale};
}

// The canvas has one pixel per pixel of the screen, so text is sharp at every zoom of the browser.
function fit(exact) {
  const fitted = (css, pixels) => {
    const rounded = Math.round(css * devicePixelRatio);
    return Math.abs(pixels - rounded) <= 1 ? pixels : rounded;  // not the screen's where a scale is emulated
  };
  const {width, height} = canvas.getBoundingClientRect();
  canvas.width = fitted(width, exact?.inlineSize);
  canvas.height = fitted(height, exact?.blockSize);
  draw();
  send({type: 'resize', ...measure()});
  if (!socket && !isRefused) connect();
}

function watchSize() {
  const observer = new ResizeObserver(([entry]) => fit(entry.devicePixelContentBoxSize?.[0]));
  try {
    observer.observe(canvas, {box: 'device-pixel-content-box'});
  } catch {  // Safari
    observer.observe(canvas);
  }
  const watchScale = () => matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', () => {
    fit();
    watchScale();
  }, {once: true});
  watchScale();
  // iOS does not make the page smaller for its keyboard.
  visualViewport?.addEventListener('resize', () => {
    if (visualViewport.scale === 1) canvas.style.height = `${visualViewport.height}px`;
  });
}

darkTheme.addEventListener('change', () => send({type: 'theme', dark: darkTheme.matches}));

// --- clipboard ---

function copy(text) {
  const byHand = () => {
    element('copied-text').value = text;
    if (!element('copied').open) element('copied').showModal();
    element('copied-text').select();
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).catch(byHand); else byHand();
}

element('copy').addEventListener('click', () => {
  element('copied-text').select();
  if (document.execCommand('copy')) element('copied').close();
});
element('close').addEventListener('click', () => element('copied').close());
element('copied').addEventListener('close', () => canvas.focus({preventScroll: true}));
element('keyboard').addEventListener('click', () => {
  element('text').blur();  // iOS shows its keyboard for a new focus only
  element('text').focus({preventScroll: true});
});

// --- files ---

function showTransfer(transfer, verb, name, bytes) {
  const box = element('transfer').content.firstElementChild.cloneNode(true), [text, button, bar] = box.children;
  text.textContent = `${verb} ${name}`;
  bar.max = Math.max(bytes, 1);
  button.addEventListener('click', () => {
    if (transfer.isOpen) send({type: 'cancel', id: transfer.id});
    endTransfer(transfer);
  });
  element('transfers').append(box);
  Object.assign(transfer, {isOpen: true, name, box, text, bar, button});
}

function closeTransfer(transfer) {
  transfer.isOpen = false;
  transfer.wake?.();
  for (const map of [uploads, downloads]) {
    if (map.get(transfer.id) === transfer) map.delete(transfer.id);
  }
}

function endTransfer(transfer) {
  closeTransfer(transfer);
  transfer.box.remove();
}

// The text stays until it is closed.
function failTransfer(transfer, text) {
  closeTransfer(transfer);
  transfer.text.textContent = `${transfer.name}: ${text}`;
  transfer.text.className = 'failed';
  transfer.bar.remove();
  transfer.button.textContent = 'Close';
}

async function upload(file) {
  const id = ++lastUpload, transfer = {id, confirmed: 0};
  transfer.confirm = received => {
    transfer.bar.value = transfer.confirmed = received;
    transfer.wake?.();
  };
  showTransfer(transfer, 'Sending', file.name, file.size);
  uploads.set(id, transfer);
  send({type: 'upload', id, name: file.name, bytes: file.size});
  const until = async isReady => {
    while (transfer.isOpen && !isReady()) await new Promise(wake => { transfer.wake = wake; });
  };
  for (let at = 0; at < file.size && transfer.isOpen; at += kChunk) {
    const part = await file.slice(at, at + kChunk).arrayBuffer().catch(error => {
      send({type: 'cancel', id});
      failTransfer(transfer, error.message);
    });
    await until(() => at + part.byteLength - transfer.confirmed <= kUnconfirmed);
    if (!transfer.isOpen) return 0;
    const message = new Uint8Array(5 + part.byteLength);
    message[0] = 1;
    new DataView(message.buffer).setUint32(1, id, true);
    message.set(new Uint8Array(part), 5);
    socket.send(message);
  }
  await until(() => transfer.confirmed >= file.size);
  if (!transfer.isOpen) return 0;
  endTransfer(transfer);
  return id;
}

// The files of `items`, and of dropped folders those directly inside.
async function filesOf(items) {
  const entries = [...items].map(item => item.webkitGetAsEntry?.()).filter(entry => entry);
  const fileOf = entry => new Promise((done, fail) => entry.file(done, fail));
  const files = [];
  for (const entry of entries) {
    if (entry.isFile) {
      files.push(await fileOf(entry));
      continue;
    }
    const reader = entry.createReader();
    for (;;) {
      const inside = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (inside.length === 0) break;
      for (const child of inside) if (child.isFile) files.push(await fileOf(child));
    }
  }
  return files;
}

function hasFiles(event) { return event.dataTransfer.types.includes('Files'); }

addEventListener('dragover', event => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = isWelcome ? 'copy' : 'none';
  element('drop').hidden = !isWelcome;
});
addEventListener('dragleave', event => event.relatedTarget || (element('drop').hidden = true));
addEventListener('drop', async event => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  element('drop').hidden = true;
  if (!isWelcome) return;
  const ids = [];
  for (const file of await filesOf(event.dataTransfer.items)) ids.push(await upload(file));
  if (ids.some(id => id)) send({type: 'uploaded', ids: ids.filter(id => id)});
});

function startDownload({id, name, bytes}) {
  const transfer = {id, bytes, received: 0, parts: []};
  showTransfer(transfer, 'Receiving', name, bytes);
  downloads.set(id, transfer);
  if (bytes === 0) saveDownload(transfer);
}

function takeDownload(buffer) {
  const transfer = downloads.get(new DataView(buffer).getUint32(1, true));
  if (!transfer) return;  // it was cancelled
  const part = new Uint8Array(buffer, 5);
  transfer.parts.push(part);
  transfer.bar.value = transfer.received += part.byteLength;
  if (transfer.received >= transfer.bytes) saveDownload(transfer);
}

function saveDownload(transfer) {
  endTransfer(transfer);
  save(new Blob(transfer.parts, {type: 'application/octet-stream'}), transfer.name);
}

function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// --- start ---

try {
  renderer = new Renderer(canvas);
  input = new Input(canvas, element('text'), events => {
    send({type: 'input', events});
    expectAnswer();
  }, text => send({type: 'paste', text}));
  canvas.addEventListener('webglcontextlost', event => event.preventDefault());
  canvas.addEventListener('webglcontextrestored', () => {
    renderer.start();
    connect();
  });
  watchSize();
} catch (error) {
  show('This browser cannot show the viewer',
       `It needs WebGL2 (${error.message}). Enable hardware acceleration, or use another browser.`);
}
