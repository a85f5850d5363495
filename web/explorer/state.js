// What the page shows, all of it in the URL: back, forward, reload and a sent link give the same page.
import {readers, shortened} from './link_readers.js';

// Kept short in the URL by leaving out what is as usual.
const usual = {
  text: '', // the prompt
  more: [], // ids generated after it
  step: 0, // how many of those are looked at together with the prompt
  model: '',
  beside: '', // '' nothing, '=' the same model without its changes, or the id of another model
  view: 'attention', // attention, gates, break, next, lens
  shade: 'gate', // of the token strip: gate, surprise, received, given
  grid: 'attention', // what the small maps show: attention, gates
  layer: 0,
  head: -1, // -1: the mean over heads
  locked: [], // positions
  scale: 'linear',
  first: true, // whether the first token's column counts
  changes: [], // see changes.js
  temperature: 0.8,
  topK: 0,
  topP: 1,
  seed: 1,
  length: 48,
};

const letters = {text: 't', more: 'g', step: 'n', model: 'm', beside: 'b', view: 'v', shade: 'c', grid: 'k', layer: 'l', head: 'h',
  locked: 'p', scale: 's', first: 'f', changes: 'x', temperature: 'T', topK: 'K', topP: 'P', seed: 'S', length: 'L'};

// What a link says and cannot be taken as it is, in words, for the page to tell.
export const misread = [];

const writers = {
  more: (ids) => ids.join('.'), locked: (places) => places.join('.'), first: (on) => (on ? '1' : '0'),
  changes: (changes) => changes.map((change) => [change.on ? 1 : 0, change.scope, change.layer, change.head, change.position,
    change.kind, change.amount].join('_')).join('~'),
};

export const state = {...usual};
const listeners = [];
let lastPush = {keys: '', time: 0};

// Called with the set of names that changed.
export function subscribe(listener) {
  listeners.push(listener);
}

function announce(names) {
  const changed = new Set(names);
  for (const listener of listeners) listener(changed);
}

function written(of = state) {
  const words = new URLSearchParams();
  for (const [name, letter] of Object.entries(letters)) {
    const value = (writers[name] ?? String)(of[name]);
    // A prompt that was emptied is written, too: a link without one asks for an example. So is the model: which is the first differs
    // from server to server.
    if (name === 'text' || name === 'model' || value !== (writers[name] ?? String)(usual[name])) words.set(letter, value);
  }
  return '#' + words.toString();
}

// What differs from `other` by its written form.
function differing(other) {
  return Object.keys(usual).filter((name) => {
    const write = writers[name] ?? String;
    return write(state[name]) !== write(other[name]);
  });
}

// A step is in the history when it is shown: who goes back at once must not go back two. What only follows a moving slider or
// a held key is written at this pace, in milliseconds, because browsers ignore more than 200 writes in ten seconds.
const kWriteEvery = 100;

let later = 0; // the timer of a URL that is not written yet

function replaceNow() {
  clearTimeout(later);
  later = 0;
  history.replaceState(null, '', written());
}

function write(how, before) {
  if (how === 'replaceState') {
    later ||= setTimeout(replaceNow, kWriteEvery);
    return;
  }
  if (later) {
    clearTimeout(later);
    later = 0;
    history.replaceState(null, '', written(before));
  }
  history.pushState(null, '', written());
}

// Another walk of the same control within a second, like a drag or a held key, is the same step of the history. Who presses a tab or
// chooses a model goes somewhere else, however fast.
const kSameStep = 1000;
const destinations = ['view', 'model', 'beside'];

// `how`: 'push' makes a step to go back to, 'replace' does not.
export function change(values, how = 'push') {
  const before = {...state};
  if (how === 'push') misread.length = 0; // the reader has moved on from the link
  Object.assign(state, values);
  const changed = differing(before);
  if (!changed.length) return;
  const keys = changed.join();
  const now = performance.now();
  const same = keys === lastPush.keys && !changed.some((name) => destinations.includes(name)) && now - lastPush.time < kSameStep;
  write(how === 'push' && !same ? 'pushState' : 'replaceState', before);
  lastPush = {keys, time: now};
  announce(changed);
}

const linked = () => new URLSearchParams(location.hash.slice(1));

export const linkHasText = () => linked().has(letters.text);

function read() {
  const words = linked();
  misread.length = 0;
  const say = (what) => misread.push(what);
  const before = {...state};
  for (const [name, letter] of Object.entries(letters)) {
    const text = words.get(letter);
    state[name] = (text === null ? undefined : readers[name](text, say)) ?? usual[name];
  }
  const known = Object.values(letters);
  for (const word of new Set(words.keys())) if (!known.includes(word)) say(`“${shortened(word)}” means nothing here`);
  return differing(before);
}

// Reads the URL now and whenever the reader goes back or forward.
export function begin() {
  read();
  addEventListener('pagehide', () => later && replaceNow());
  addEventListener('popstate', () => {
    clearTimeout(later); // of the step that the reader goes back from
    later = 0;
    lastPush = {keys: '', time: 0};
    const changed = read();
    if (changed.length) announce(changed);
  });
}
