// Who plays which part, and what they read: models of the nursery on sequences of its generator, others on prose.
import {about, get, models} from '../shared/api.js';
import {nurserySequence} from '../shared/nursery.js';
import {passOf} from '../shared/pass.js';

// A part, who can play it, and who plays it best. A model of the nursery knows letters, not prose.
const parts = {
  plain: {name: 'Without a gate', fits: (model) => !model.gate, best: (model) => model.nursery},
  gated: {name: 'With a gate', fits: (model) => model.gate, best: (model) => model.nursery},
  prosePlain: {name: 'Prose, without a gate', fits: (model) => !model.nursery && !model.gate},
  proseGated: {name: 'Prose, with a gate', fits: (model) => !model.nursery && model.gate},
};

export const fitting = (part) => cast.all.filter(parts[part].fits);

export const cast = {all: [], readOnly: false, plain: null, gated: null, prosePlain: null, proseGated: null};

export async function gatherCast() {
  const [listed, {read_only: readOnly}] = await Promise.all([models(), about()]);
  cast.all = listed.filter((model) => !model.error && model.tokenizer);
  cast.readOnly = readOnly;
  for (const [part, {best}] of Object.entries(parts)) {
    const able = fitting(part);
    cast[part] = able.find((model) => best?.(model)) ?? able[0] ?? null;
  }
}

export const partNames = Object.entries(parts).map(([part, {name}]) => [part, name]);

// Any model of prose will do for a chapter that needs one, else one of the nursery.
export const reader = () => cast.proseGated ?? cast.prosePlain ?? cast.gated ?? cast.plain;

const texts = new Map();

// As long as the sequences of the nursery's study, of which a token is not predicted.
export const kStudyLetters = 126;

// Where a copy is due: the tokens that have to predict one.
export const whereDue = (copies) => (copies ?? []).map((position) => position - 1);

// {text, copies, triggers}. copies: positions of letters that repeat an earlier one after a trigger; null where that is not
// known, with prose.
export async function textFor(model, index = 0, letters = 63) {
  const key = model.nursery ? `nursery ${index} ${letters}` : `prose ${index}`;
  if (!texts.has(key)) {
    const made = model.nursery ? await nurserySequence(index, letters) : {text: await prose(index), copies: null, triggers: null};
    texts.set(key, made);
  }
  return texts.get(key);
}

// Prompts of the factual kind, cut so that a small model's few positions suffice.
export const kProseBytes = 180;

async function prose(seed) {
  const {prompts} = await get(`/api/v1/prompts?seed=${seed}&bytes=${kProseBytes}`);
  return (prompts.find((prompt) => prompt.type === 'factual') ?? prompts[0]).text;
}

export const look = (model, text, interventions = []) => passOf(model, {model: model.id, prompt: text, interventions});

// The head whose queries put most on the first token, beyond the uniform share.
export function sinkHead(pass) {
  let best = {layer: 0, head: 0, sink: -1};
  for (const layer of pass.view.layers) {
    (layer.attention?.sink ?? []).forEach((sink, head) => {
      if (sink > best.sink) best = {layer: layer.layer, head, sink};
    });
  }
  return best;
}

// The head in which two models differ most in what they leave on the first token; null if their heads cannot be compared.
export function mostDifferentHead(a, b) {
  const sinks = (pass) => pass.view.layers.map((layer) => layer.attention?.sink ?? []);
  const [first, second] = [sinks(a), sinks(b)];
  if (first.length !== second.length || first.some((heads, layer) => heads.length !== second[layer].length)) return null;
  const all = first.flatMap((heads, layer) => heads.map((sink, head) => ({layer, head, a: sink, b: second[layer][head]})));
  return all.reduce((best, one) => (Math.abs(one.a - one.b) > Math.abs(best.a - best.b) ? one : best), all[0] ?? null);
}

// Mean share on the first token where a copy is due and elsewhere, of every head, and what looking at all tokens alike would put there
// elsewhere. The first few queries have little choice.
export async function sharesByWork(model, pass, copies) {
  const busy = new Set(whereDue(copies));
  const rows = [];
  for (let layer = 0; layer < model.layers; ++layer) {
    for (let head = 0; head < model.heads; ++head) {
      const map = await pass.attention(layer, head);
      const queries = (wanted) => [...Array(pass.count).keys()].slice(4).filter((query) => busy.has(query) === wanted);
      const at = (wanted) => meanOf(queries(wanted).map((query) => map.values[query * pass.count]));
      rows.push({layer, head, map, busy: at(true), idle: at(false), uniform: meanOf(queries(false).map((query) => 1 / (query + 1)))});
    }
  }
  return rows;
}

// Three times the uniform share is called a sink, as in the nursery's study.
export const kSinkFactor = 3;
export const isSink = (sink) => sink.mean >= kSinkFactor * sink.floor;

export const largestActivation = (pass) => pass.view.layers.map((layer) => ({layer: layer.layer, ...layer.activation}))
  .reduce((best, one) => (one.largest > best.largest ? one : best));

export const meanOf = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : NaN);

// A link that opens the explorer at what a chapter shows.
export function explorerLink(values) {
  const letters = {model: 'm', text: 't', beside: 'b', view: 'v', shade: 'c', layer: 'l', head: 'h', locked: 'p', changes: 'x'};
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) words.set(letters[name], String(value));
  return './#' + words.toString();
}
