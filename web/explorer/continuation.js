// Continuations, token by token, and how they end.
import {stream} from '../shared/api.js';
import {element, percent, visible} from '../shared/dom.js';
import {aboutSeconds} from './prompt.js';
import {modelNamed} from './session.js';

export const samplerOf = (state) => ({max_tokens: state.length, temperature: state.temperature, top_k: state.topK, top_p: state.topP, seed: state.seed});

// What a token adds to the text. A model without a tokenizer says numbers; a token that a tokenizer lacks would look like nothing.
const textOf = ({id, token, text}, model) => (!model.tokenizer ? ` ${id}` : token === '' ? `#${id}` : text);

// Calls arrived({id, text, probability, top}, index) for every token, and waits(words) with the place in the queue; resolves to
// {reason, end, ids, text}. Text that only becomes complete at the end goes to the last token.
export async function continueText(subject, sampler, arrived, signal, waits = () => {}) {
  let end = null;
  let index = 0;
  await stream('/api/v1/generate', {...subject, ...sampler}, {
    queue: ({place, expected_s: seconds}) => waits(`Waiting, place ${place}${aboutSeconds(seconds)}.`),
    token: (token) => token.id !== undefined && token.id !== null && arrived({...token, text: textOf(token, modelNamed(subject.model))}, index++),
    done: (data) => (end = data),
  }, signal);
  if (!end) throw new Error('The continuation was cut off.');
  return end;
}

const named = (id, token) => `token ${id}${token ? ` “${visible(token)}”` : ''}`;

// A model that ends the text says nothing any more. Without a word an empty box would look broken.
export function endNote({end, ids}) {
  if (!end) return null;
  const what = `end-of-text ${named(end.id, end.token)}, ${percent(end.probability)}`;
  return element('span', {class: 'note ends'}, ids.length ? ` ■ ends here: ${what}` : `■ Ends at once, with no more words: the next token is the ${what}.`);
}

// For tables of what may come.
export const endsText = (model, id) => (model?.end_of_text?.includes(id) ? element('span', {class: 'note'}, ' ends the text') : null);
