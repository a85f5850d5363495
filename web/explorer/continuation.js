// Continuations, token by token, and how they end.
import {stream} from '../shared/api.js';
import {element, percent, visible} from '../shared/dom.js';
import {mainModel} from './session.js';

export const samplerOf = (state) => ({max_tokens: state.length, temperature: state.temperature, top_k: state.topK, top_p: state.topP, seed: state.seed});

// Calls arrived({id, text, probability, top}, index) for every token; resolves to {reason, end, ids, text}. Text that only
// becomes complete at the end goes to the last token.
export async function continueText(subject, sampler, arrived, signal) {
  let end = null;
  let index = 0;
  await stream('/api/v1/generate', {...subject, ...sampler}, {
    // A model without a tokenizer says numbers.
    token: (token) => token.id !== undefined && token.id !== null && arrived({...token, text: mainModel().tokenizer ? token.text : ` ${token.id}`}, index++),
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
