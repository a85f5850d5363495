// A change of gates as the page has it, and as the server and the command line write it.

export const scopeNames = [['all', 'all gates'], ['layer', 'a layer'], ['head', 'a head'], ['position', 'a token']];
export const kindNames = [['open', 'open (1)'], ['closed', 'closed (0)'], ['mean', 'mean over examples'], ['constant', 'constant'],
  ['scale', 'scaled by']];

export const fresh = (layer, head) => ({on: true, scope: head >= 0 ? 'head' : 'layer', layer, head: Math.max(0, head), position: 0,
  kind: 'closed', amount: 0.5});

const written = {
  open: () => 'set=1', closed: () => 'set=0', mean: () => 'mean', constant: (amount) => `set=${amount}`, scale: (amount) => `scale=${amount}`,
};

// "layers.2.attn.gate set=0 heads=1", as `--intervene` takes it.
export function interventionOf(change) {
  const tap = change.scope === 'layer' || change.scope === 'head' ? `layers.${change.layer}.attn.gate` : 'attn.gate';
  const where = change.scope === 'head' ? ` heads=${change.head}` : change.scope === 'position' ? ` positions=${change.position}` : '';
  return `${tap} ${written[change.kind](change.amount)}${where}`;
}

// Why a change does nothing to a model, in words; null if it does something. tokens: of the prompt, if they are known.
export function misfit(model, change, tokens = Infinity) {
  if (!model?.gate) return `${model?.id ?? 'this model'} has no gate`;
  if (change.scope === 'layer' || change.scope === 'head') {
    if (change.layer >= model.layers) return `${model.id} has no layer ${change.layer}, the last is ${model.layers - 1}`;
    if (!model.gate.layers.includes(change.layer)) return `layer ${change.layer} of ${model.id} has no gate`;
  }
  if (change.scope === 'head' && change.head >= model.heads) return `${model.id} has no head ${change.head}, the last is ${model.heads - 1}`;
  if (change.scope === 'position' && change.position >= tokens) return `the prompt has no token ${change.position}, the last is ${tokens - 1}`;
  return null;
}

// Those that are switched on and fit a model.
export const fitting = (model, changes, tokens) => changes.filter((change) => change.on && !misfit(model, change, tokens));

export const interventionsFor = (model, changes, tokens) => fitting(model, changes, tokens).map(interventionOf);

// What a place is limited to; all gates are limited to nothing.
const limitsOf = ({scope, layer, head, position}) => ({...(scope === 'layer' || scope === 'head' ? {layer} : {}), ...(scope === 'head' ? {head} : {}),
  ...(scope === 'position' ? {position} : {})});

const covers = (wide, narrow) => Object.entries(wide).every(([name, at]) => narrow[name] === at);
const meets = (one, other) => Object.entries(one).every(([name, at]) => other[name] === undefined || other[name] === at);

// Changes apply in their order, and all but scaling forget what was there before: {by: index, whole}, or null.
export function overridden(model, changes, index, tokens) {
  const own = limitsOf(changes[index]);
  const later = changes.map((change, at) => ({change, at})).filter(({change, at}) => at > index && change.on && change.kind !== 'scale' && !misfit(model, change, tokens));
  const whole = later.find(({change}) => covers(limitsOf(change), own));
  const part = whole ?? later.find(({change}) => meets(limitsOf(change), own));
  return part ? {by: part.at, whole: part === whole} : null;
}

export function describe(change, tokens = []) {
  const place = {all: 'all gates', layer: `layer ${change.layer}`, head: `layer ${change.layer}, head ${change.head}`,
    position: `token ${change.position}${tokens[change.position] ? ` “${tokens[change.position]}”` : ''}`}[change.scope];
  const what = {open: 'open', closed: 'closed', mean: 'at their mean', constant: `at ${change.amount}`,
    scale: `× ${change.amount}`}[change.kind];
  return `${place} ${what}`;
}
