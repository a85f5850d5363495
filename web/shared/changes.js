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

// Those that are switched on, for a model: none for one without gates, and none that names what it does not have.
export function interventionsFor(model, changes, tokens = Infinity) {
  if (!model?.gate) return [];
  return changes.filter((change) => change.on && fits(model, change) && (change.scope !== 'position' || change.position < tokens))
    .map(interventionOf);
}

function fits(model, change) {
  if (change.scope === 'layer' || change.scope === 'head') {
    if (change.layer >= model.layers || !model.gate.layers.includes(change.layer)) return false;
  }
  return change.scope !== 'head' || change.head < model.heads;
}

export function describe(change, tokens = []) {
  const place = {all: 'all gates', layer: `layer ${change.layer}`, head: `layer ${change.layer}, head ${change.head}`,
    position: `token ${change.position}${tokens[change.position] ? ` “${tokens[change.position]}”` : ''}`}[change.scope];
  const what = {open: 'open', closed: 'closed', mean: 'at their mean', constant: `at ${change.amount}`,
    scale: `× ${change.amount}`}[change.kind];
  return `${place} ${what}`;
}
