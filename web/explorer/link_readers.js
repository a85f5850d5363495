// What a link holds, which may be anything, as parts of the state. A reader gives undefined for what it cannot take, so that the usual
// is taken, and says so; nothing becomes something else in silence.

export const shortened = (text) => (text.length > 40 ? text.slice(0, 40) + '…' : text);

// What the page's own controls can set; a link can set no more.
export const ranges = {temperature: [0, 2], topP: [0.05, 1], topK: [0, 1000], seed: [0, 2147483647], length: [1, 512]};

const kMostLayers = 1000;
const kMostTokens = 1 << 20;

const isWhole = (text, low, high) => /^-?\d{1,12}$/.test(text) && Number(text) >= low && Number(text) <= high;
const isReal = (text, low, high) => /^-?\d+(\.\d+)?(e-?\d+)?$/.test(text) && Number(text) >= low && Number(text) <= high;

const whole = (name, low, high) => (text, say) => (isWhole(text, low, high) ? Number(text) : say(`the ${name} “${shortened(text)}” is no whole number from ${low} to ${high}`) && undefined);
const real = (name, low, high) => (text, say) => (isReal(text, low, high) ? Number(text) : say(`the ${name} “${shortened(text)}” is no number from ${low} to ${high}`) && undefined);

const kLongestList = 4096;

// Numbers with points between them; those that are none are left out.
const list = (name, high) => (text, say) => {
  const parts = text === '' ? [] : text.split('.');
  const wrong = parts.filter((part) => !isWhole(part, 0, high));
  if (wrong.length) say(`${wrong.slice(0, 3).map((part) => `“${shortened(part)}”`).join(', ')} ${wrong.length === 1 ? 'is no' : 'are no'} ${name}`);
  if (parts.length > kLongestList) say(`${parts.length} of ${name}, of which ${kLongestList} are taken`);
  return parts.slice(0, kLongestList).filter((part) => !wrong.includes(part)).map(Number);
};

const oneOf = (...words) => (text, say) => (words.includes(text) ? text : say(`“${shortened(text)}” is none of ${words.join(', ')}`) && undefined);

const kLongestText = 100000;

function readText(text, say) {
  if (text.length > kLongestText) say(`a prompt of ${text.length} characters, of which ${kLongestText} are taken`);
  return text.slice(0, kLongestText);
}

const readFirst = (text, say) => ({0: false, 1: true}[text] ?? (say(`“${shortened(text)}” is neither 0 nor 1`) && undefined));

const kMostChanges = 32;
const kParts = 7;
const scopes = ['all', 'layer', 'head', 'position'];
const kinds = ['open', 'closed', 'mean', 'constant', 'scale'];

// "1_head_0_1_0_scale_0.25"; null if it is none. Half a change would be another one.
function changeOf(text) {
  const parts = text.split('_');
  const [on, scope, layer, head, position, kind, amount] = parts;
  const good = parts.length === kParts && (on === '0' || on === '1') && scopes.includes(scope) && kinds.includes(kind) && isWhole(layer, 0, kMostLayers)
    && isWhole(head, 0, kMostLayers) && isWhole(position, 0, kMostTokens) && isReal(amount, -10, 10);
  return good ? {on: on === '1', scope, layer: Number(layer), head: Number(head), position: Number(position), kind, amount: Number(amount)} : null;
}

function readChanges(text, say) {
  const parts = text.split('~').filter(Boolean);
  if (parts.length > kMostChanges) say(`${parts.length} changes, of which ${kMostChanges} are taken`);
  return parts.slice(0, kMostChanges).flatMap((part) => {
    const change = changeOf(part);
    if (!change) say(`“${shortened(part)}” is no change of gates, and is left out`);
    return change ?? [];
  });
}

// By the names of the state: reader(text, say), where say(words) tells what is wrong and returns something true.
export const readers = {
  text: readText, more: list('token ids', kMostTokens), step: whole('step', 0, kLongestList), model: String, beside: String,
  view: oneOf('attention', 'gates', 'break', 'next', 'lens'), shade: oneOf('gate', 'surprise', 'received', 'given'),
  grid: oneOf('attention', 'gates'), layer: whole('layer', 0, kMostLayers), head: whole('head', -1, kMostLayers), locked: list('positions', kMostTokens),
  scale: oneOf('linear', 'log', 'maximum'), first: readFirst, changes: readChanges,
  temperature: real('temperature', ...ranges.temperature), topP: real('top-p', ...ranges.topP), topK: whole('top-k', ...ranges.topK),
  seed: whole('seed', ...ranges.seed), length: whole('number of tokens', ...ranges.length),
};
