// Decodes the frames of the server (protocol.hpp: draw lists of Dear ImGui, as changes of the previous
// frame) and draws them with WebGL2. Knows nothing of the session. A malformed message is an exception.
'use strict';

// Values per vertex of the planes: position (2 x i32, in 1/64 CSS pixel), texture coordinate (2 x u16),
// colour (4 x u8).
const kVertexPlanes = [[Int32Array, 2], [Uint32Array, 1], [Uint32Array, 1]];
const kIndexPlanes = [[Uint16Array, 1]];

class Reader {
  constructor(buffer, at) {
    this.view = new DataView(buffer);
    this.at = at;
  }
  u8() { return this.view.getUint8(this.at++); }
  u16() { this.at += 2; return this.view.getUint16(this.at - 2, true); }
  u32() { this.at += 4; return this.view.getUint32(this.at - 4, true); }
  i32() { this.at += 4; return this.view.getInt32(this.at - 4, true); }
  f32() { this.at += 4; return this.view.getFloat32(this.at - 4, true); }
  // A copy: the values in the message are not aligned.
  array(Type, count) {
    const from = this.at;
    this.at += count * Type.BYTES_PER_ELEMENT;
    if (this.at > this.view.byteLength) throw new Error('a message of the server is too short');
    return new Type(this.view.buffer.slice(from, this.at));
  }
}

// `count` integers of 8 * `bytes` bits from planes of bytes: zigzag codes of the difference to the previous one.
function readDeltas(reader, count, bytes, result, width, offset) {
  const planes = Array.from({length: bytes}, () => reader.array(Uint8Array, count));
  for (let i = 0, value = 0; i < count; ++i) {
    let code = 0;
    for (let plane = 0; plane < bytes; ++plane) code |= planes[plane][i] << 8 * plane;
    result[i * width + offset] = value += code >>> 1 ^ -(code & 1);
  }
}

function readVertices(reader, count) {
  const positions = new Int32Array(count * 2);
  readDeltas(reader, count, 4, positions, 2, 0);
  readDeltas(reader, count, 4, positions, 2, 1);
  return [positions, reader.array(Uint32Array, count), reader.array(Uint32Array, count)];
}

function readIndices(reader, count) {
  const indices = new Uint16Array(count);
  readDeltas(reader, count, 2, indices, 1, 0);
  return [indices];
}

// Returns the planes that the patch at `reader` describes. Copied runs come from the planes `source`; the values
// of their first plane are moved by (dx, dy).
function applyPatch(reader, planes, readLiterals, source) {
  const count = reader.u32(), runs = [];
  let literals = 0;
  for (let left = reader.u32(); left > 0; --left) {
    const code = reader.u32(), run = {length: code & 0x7fffffff, isCopy: code >= 0x80000000};
    if (run.isCopy) Object.assign(run, {from: reader.u32(), move: [reader.i32(), reader.i32()]});
    else literals += run.length;
    runs.push(run);
  }
  const values = readLiterals(reader, literals);
  if (literals === count) return values;
  const results = planes.map(([Type, width]) => new Type(count * width));
  let at = 0, next = 0;
  for (const {length, isCopy, from, move} of runs) {
    results.forEach((result, plane) => {
      const width = planes[plane][1], start = isCopy ? from : next;
      result.set((isCopy ? source : values)[plane].subarray(start * width, (start + length) * width), at * width);
    });
    if (isCopy && (move[0] || move[1])) {
      const result = results[0], width = planes[0][1];
      for (let i = at * width; i < (at + length) * width; ++i) result[i] += move[i % width];
    }
    at += length;
    if (!isCopy) next += length;
  }
  if (at !== count) throw new Error('a patch of the server has a wrong length');
  return results;
}

const kVertexShader = `#version 300 es
uniform vec2 size;  // in 1/64 CSS pixel, as positions
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 colour;
out vec2 at;
out vec4 tint;
void main() {
  at = uv;
  tint = colour;
  gl_Position = vec4(position.x * 2.0 / size.x - 1.0, 1.0 - position.y * 2.0 / size.y, 0, 1);
}`;
const kFragmentShader = `#version 300 es
precision highp float;
uniform sampler2D image;
in vec2 at;
in vec4 tint;
out vec4 colour;
void main() { colour = vec4(tint.rgb, tint.a * texture(image, at).r); }`;

class Renderer {
  // Throws if the browser has no WebGL2.
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext('webgl2', {alpha: false, antialias: false, depth: false});
    if (!this.gl) throw new Error('there is no context for it');
    this.start();
  }

  // Also after a lost context: every GL object is made again.
  start() {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, kVertexShader], [gl.FRAGMENT_SHADER, kFragmentShader]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
      throw new Error('WebGL2: ' + gl.getProgramInfoLog(program));
    gl.useProgram(program);
    this.size = gl.getUniformLocation(program, 'size');
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    this.textures = new Map();
    this.lists = [];
    this.spare = [];  // buffers without a list
  }


  takeTexture(buffer) {
    const gl = this.gl, reader = new Reader(buffer, 1);
    if (reader.u8() !== 0) throw new Error('a texture of the server has an unknown format');
    reader.u16();
    const id = reader.u32(), width = reader.u32(), height = reader.u32();
    const pixels = reader.array(Uint8Array, width * height);
    if (!this.textures.has(id)) this.textures.set(id, gl.createTexture());
    gl.bindTexture(gl.TEXTURE_2D, this.textures.get(id));
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8, width, height, 0, gl.RED, gl.UNSIGNED_BYTE, pixels);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  }

  // Every frame has to be decoded, in order; only the last one before draw() is drawn. Returns its number.
  takeFrame(buffer) {
    const reader = new Reader(buffer, 2), count = reader.u16(), number = reader.u32();
    const frame = {width: reader.f32(), height: reader.f32(), scale: reader.f32()};
    const lists = [];
    while (lists.length < count) {
      const op = reader.u8(), from = (reader.u8(), reader.u16());
      const source = op === 1 ? null : this.lists[from];
      if (op > 2 || (op !== 1 && !source)) throw new Error('a frame of the server refers to an unknown list');
      if (op === 0) {
        lists.push(source);
        continue;
      }
      const vertices = applyPatch(reader, kVertexPlanes, readVertices, source && source.vertices);
      const indices = applyPatch(reader, kIndexPlanes, readIndices, source && source.indices);
      const commands = [];
      for (let left = reader.u32(); left > 0; --left) {
        commands.push({
          clip: [reader.f32(), reader.f32(), reader.f32(), reader.f32()],
          texture: reader.u32(), vertex: reader.u32(), index: reader.u32(), count: reader.u32(),
        });
      }
      lists.push({vertices, indices, commands, buffers: null});
    }
    const kept = new Set(lists);
    for (const list of this.lists) {
      if (list.buffers && !kept.has(list)) this.spare.push(list.buffers);
    }
    this.lists = lists;
    this.frame = frame;
    return number;
  }

  draw([red, green, blue]) {
    const gl = this.gl, frame = this.frame, canvas = this.canvas;
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(red / 255, green / 255, blue / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!frame) return;
    // A frame of another size than the canvas, after a resize, keeps its scale and the upper left corner.
    const width = Math.round(frame.width * frame.scale), height = Math.round(frame.height * frame.scale);
    gl.viewport(0, canvas.height - height, width, height);
    gl.uniform2f(this.size, frame.width * 64, frame.height * 64);
    gl.enable(gl.SCISSOR_TEST);
    for (const list of this.lists) {
      this.#bind(list);
      for (const {clip, texture, vertex, index, count} of list.commands) {
        const [left, top, right, bottom] = clip.map(edge => edge * frame.scale);
        if (right <= left || bottom <= top) continue;
        // Rounded as Dear ImGui's own OpenGL renderer does.
        gl.scissor(Math.trunc(left), Math.trunc(canvas.height - bottom), Math.trunc(right - left), Math.trunc(bottom - top));
        gl.bindTexture(gl.TEXTURE_2D, this.textures.get(texture) || null);
        this.#point(list.buffers, vertex);
        gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_SHORT, index * 2);
      }
    }
    gl.bindVertexArray(null);
  }

  #bind(list) {
    const gl = this.gl;
    if (list.buffers) {
      gl.bindVertexArray(list.buffers.array);
      return;
    }
    list.buffers = this.spare.pop() ||
        {array: gl.createVertexArray(), planes: kVertexPlanes.map(() => gl.createBuffer()), indices: gl.createBuffer()};
    gl.bindVertexArray(list.buffers.array);
    list.buffers.planes.forEach((buffer, plane) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, list.vertices[plane], gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(plane);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, list.buffers.indices);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, list.indices[0], gl.DYNAMIC_DRAW);
    list.buffers.vertex = -1;
  }

  // WebGL2 has no base vertex: the attributes start at the first vertex of the command.
  #point(buffers, vertex) {
    if (buffers.vertex === vertex) return;
    buffers.vertex = vertex;
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.planes[0]);
    gl.vertexAttribPointer(0, 2, gl.INT, false, 8, vertex * 8);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.planes[1]);
    gl.vertexAttribPointer(1, 2, gl.UNSIGNED_SHORT, true, 4, vertex * 4);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.planes[2]);
    gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, 4, vertex * 4);
  }
}
