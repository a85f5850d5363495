// How to get the figures of "Break it" on the command line: the command, and the files that it reads.
import {element} from '../shared/dom.js';
import {save} from '../shared/export.js';
import {fitting, interventionOf} from '../shared/changes.js';
import {state} from './state.js';

const kUsualChunk = 512; // of `sluice eval`: a longer prompt would be cut

const quoted = (text) => (/^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const plain = (text) => text.replace(/[^\w.-]+/g, '-');

// Null where there is nothing to run: no change that is on, or tokens that no text gives.
export function commandFor(model, pass) {
  const changes = pass && model.tokenizer && !state.step ? fitting(model, state.changes, pass.count) : [];
  if (!changes.length || pass.count < 2) return null;
  const examples = changes.some((one) => one.kind === 'mean') ? `examples-${plain(model.id)}.jsonl` : null;
  const words = ['sluice eval', quoted(model.path), '--data prompt.txt', pass.count > kUsualChunk ? `--chunk ${pass.count}` : null,
    ...changes.map((one) => `--intervene "${interventionOf(one)}"`), examples ? `--calibration ${examples}` : null].filter(Boolean);
  const prompt = element('button', {type: 'button', class: 'quiet words', id: 'save-prompt', onclick: () => save('prompt.txt', new Blob([state.text], {type: 'text/plain'}))}, 'prompt.txt');
  return element('div', {class: 'command'}, 'The same surprise on the command line, or over a corpus with other data:', element('code', {id: 'command'}, words.join(' ')),
    element('p', {}, 'Save ', prompt, examples ? [' and the texts of the mean, ', element('a', {href: `/api/v1/examples?model=${encodeURIComponent(model.id)}`, download: examples, id: 'save-examples'}, examples),
      ': they are always the same for a model, cut to the length of the prompt, and not the text that is looked at.'] : '.'));
}
