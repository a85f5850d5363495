// Talks to the server (docs/http.md): requests that can be given up, maps in binary, continuations as they come, and the
// place in the queue while one waits.

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

// Who we are in the server's queue. A page that is open twice is two clients, so that neither waits for the other's requests.
const client = 'page-' + Math.random().toString(36).slice(2, 12);
const headers = {'X-Sluice-Client': client};

async function refusal(response) {
  let message = `${response.status} ${response.statusText}`;
  try {
    message = (await response.json()).error.message ?? message;
  } catch {
    // not from our server, or cut off: the status has to do
  }
  return new ApiError(message, response.status);
}

async function answer(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError('The server does not answer. Is `sluice explore` still running?', 0);
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

const waiting = new Set();
let watch = 0;

// Announces, as long as something is under way, what the queue says of it.
function track(promise) {
  const entry = {};
  waiting.add(entry);
  if (!watch) watch = setTimeout(poll, 250);
  return promise.finally(() => {
    waiting.delete(entry);
    if (!waiting.size) {
      clearTimeout(watch);
      watch = 0;
      document.dispatchEvent(new CustomEvent('sluice:queue', {detail: null}));
    }
  });
}

async function poll() {
  let detail = {};
  try {
    detail = await (await answer('/api/v1/queue', {headers})).json();
  } catch {
    // the request that waits will say what is wrong
  }
  if (!waiting.size) return;
  document.dispatchEvent(new CustomEvent('sluice:queue', {detail}));
  watch = setTimeout(poll, 400);
}

export async function get(path, signal) {
  return (await answer(path, {signal, headers})).json();
}

function send(path, body, signal) {
  return answer(path, {method: 'POST', signal, headers: {...headers, 'Content-Type': 'application/json'}, body: JSON.stringify(body)});
}

export function post(path, body, signal) {
  return track(send(path, body, signal).then((response) => response.json()));
}

// By a table: a loop of calls over the 65,536 values of a layer's small maps is seen while they are scrolled.
function fromCodes(codes, {low, step}) {
  const values = Float32Array.from({length: 256}, (_, code) => low + code * step);
  const made = new Float32Array(codes.length);
  for (let i = 0; i < codes.length; ++i) made[i] = values[codes[i]];
  return made;
}

// The maps of an answer: [{layer, head, low, high, rows, columns, values: Float32Array}].
export function decodeMaps(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < 8 || view.getUint32(0, true) !== 0x314d4c53) throw new ApiError('A map has not arrived whole.', 0);
  const length = view.getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const each = header.rows * header.columns;
  const f32 = header.type === 'f32';
  return header.maps.map((map, m) => {
    const start = 8 + length + m * each * (f32 ? 4 : 1);
    const values = f32 ? new Float32Array(buffer, start, each) : fromCodes(new Uint8Array(buffer, start, each), map);
    return {...map, rows: header.rows, columns: header.columns, values};
  });
}

export function maps(path, body, signal) {
  return track(send(path, body, signal).then((response) => response.arrayBuffer()).then(decodeMaps));
}

// Calls events[name](data) for every server-sent event until the stream ends.
export async function stream(path, body, events, signal) {
  const response = await track(send(path, body, signal));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split('\n\n');
    text = parts.pop();
    for (const part of parts) deliver(part, events);
  }
}

function deliver(part, events) {
  const name = /^event: (.*)$/m.exec(part)?.[1] ?? 'message';
  const data = /^data: (.*)$/m.exec(part)?.[1];
  if (!data) return;
  const parsed = JSON.parse(data);
  if (name === 'error') throw new ApiError(parsed.error?.message ?? 'The continuation failed.', 500);
  events[name]?.(parsed);
}

export const about = () => get('/api/v1/about');

// The facts of a model that the page needs, in its own words. gate: the gate at g1, or null.
export async function models() {
  const {models: listed} = await get('/api/v1/models');
  return listed.map((model) => ({...model, gate: (model.gates ?? []).find((gate) => gate.position === 'g1') ?? null}));
}
