// One pass of a model over a prompt: what it said, and its maps, fetched when they are first wanted and kept. Large maps come as
// f32: what is shown in numbers, saved or added up is what the model computed.
import {maps, post} from './api.js';
import {tokenNames} from './dom.js';

// Maps of recent passes together stay below this; a map of 1,024 tokens has 4 MB.
const kKept = 256 * 1024 * 1024;
let kept = 0;
const order = []; // {pass, key, size}, oldest first

function remember(pass, key, size) {
  order.push({pass, key, size});
  kept += size;
  while (kept > kKept && order.length > 1) {
    const oldest = order.shift();
    oldest.pass.ready.delete(oldest.key);
    oldest.pass.asked.delete(oldest.key);
    kept -= oldest.size;
  }
}

export class Pass {
  constructor(model, subject, view) {
    Object.assign(this, {model, subject, view});
    this.ids = view.ids;
    this.tokens = tokenNames(view); // a tokenizer may know fewer tokens than its model
    this.count = view.ids.length;
    this.ready = new Map();
    this.asked = new Map();
    this.ending = new AbortController();
  }

  // What is there already, or undefined.
  has(key) {
    return this.ready.get(key);
  }

  fetch(key, path, body, take = (answer) => answer[0]) {
    if (this.asked.has(key)) return this.asked.get(key);
    const promise = maps(path, {...this.subject, ...body}, this.ending.signal).then((answer) => {
      const value = take(answer);
      this.ready.set(key, value);
      remember(this, key, [value].flat().reduce((sum, map) => sum + map.values.byteLength, 0));
      return value;
    });
    promise.catch(() => this.asked.delete(key)); // may be asked again
    this.asked.set(key, promise);
    return promise;
  }

  // Query × key; head -1: the mean over heads.
  attention(layer, head) {
    return this.fetch(attentionKey(layer, head), '/api/v1/map', {kind: 'attention', type: 'f32', layer, ...(head >= 0 ? {head} : {})},
      ([map]) => ({...map, causal: true}));
  }

  // Token × head.
  gates(layer) {
    return this.fetch(`gates ${layer}`, '/api/v1/map', {kind: 'gates', type: 'f32', layer, position: 'g1'});
  }

  // Token × channel of an elementwise gate.
  channels(layer, head) {
    return this.fetch(`channels ${layer} ${head}`, '/api/v1/map', {kind: 'channels', type: 'f32', layer, head, position: 'g1'});
  }

  // Small maps of a layer's heads, for the grid.
  small(kind, layer) {
    return this.fetch(`small ${kind} ${layer}`, '/api/v1/grid', {kind, layers: String(layer)},
      (list) => list.map((map) => ({...map, causal: kind === 'attention'})));
  }

  // Nobody looks at it any more: what is still under way is given up.
  end() {
    this.ending.abort();
    this.ending = new AbortController();
  }
}

export const attentionKey = (layer, head) => `attention ${layer} ${head}`;

const recent = new Map(); // by subject
const kRecent = 12;

// subject: {model, prompt or ids, interventions}.
export async function passOf(model, subject, signal) {
  const key = JSON.stringify(subject);
  if (recent.has(key)) {
    const pass = recent.get(key);
    recent.delete(key);
    recent.set(key, pass);
    return pass;
  }
  const pass = new Pass(model, subject, await post('/api/v1/view', subject, signal));
  // From here on by ids: a prompt need not be split into tokens again.
  pass.subject = {model: subject.model, ids: pass.ids, interventions: subject.interventions ?? []};
  recent.set(key, pass);
  if (recent.size > kRecent) recent.delete(recent.keys().next().value);
  return pass;
}
