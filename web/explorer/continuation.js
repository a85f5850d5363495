// Continuations, token by token.
import {stream} from '../shared/api.js';
import {mainModel} from './session.js';

export const samplerOf = (state) => ({max_tokens: state.length, temperature: state.temperature, top_k: state.topK, top_p: state.topP, seed: state.seed});

// Calls arrived({id, text, probability, top}, index) for every token; resolves to {reason, ids, text}. Text that only
// becomes complete at the end goes to the last token.
export async function continueText(subject, sampler, arrived, signal) {
  let end = null;
  let index = 0;
  await stream('/api/v1/generate', {...subject, ...sampler}, {
    // A model without a tokenizer says numbers.
    token: (token) => token.id !== undefined && token.id !== null && arrived({...token, text: mainModel().tokenizer ? token.text : ` ${token.id}`}, index++),
    done: (data) => (end = data),
  }, signal);
  return end;
}
