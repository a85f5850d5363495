// Sequences of the nursery that show something. The chain has places where one trigger follows another for ever, and
// stretches without any; those are passed over.
import {get} from './api.js';

const kFewest = 3; // copies
const kLargestShare = 0.3; // of all letters
const kLongestSearch = 60; // sequences; the last is taken if none is better

// Whether a text has anything that the nursery's sequences never have: they are letters behind a start symbol.
export const foreignLetters = (text) => /[^A-Za-z^]/.test(text);

const good = new Map(); // by length: {next: index to look at, found: sequences}

const shows = (sequence, letters) => sequence.copies.length >= Math.min(kFewest, letters / 16) && sequence.copies.length <= kLargestShare * letters;

// The n-th of those, from 0: {text, copies, triggers, index}.
export async function nurserySequence(n, letters) {
  if (!good.has(letters)) good.set(letters, {next: 0, found: []});
  const search = good.get(letters);
  for (let tries = 0; search.found.length <= n; ++tries) {
    const sequence = await get(`/api/v1/backcopy?index=${search.next++}&letters=${letters}`);
    if (shows(sequence, letters) || tries >= kLongestSearch) search.found.push(sequence);
  }
  return search.found[n];
}
