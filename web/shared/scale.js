// From values to shares of the colour table: linear, logarithmic or up to the map's maximum, with the first token or not.

export const scales = [
  ['linear', 'Linear', 'From 0 to 1'],
  ['log', 'Log', 'Every shade darker is a factor: from 0.001 to 1'],
  ['maximum', 'Maximum', 'From 0 to the largest value of this map'],
];

const kLogFloor = 1e-3;

// The largest value, of a [rows, columns] map without its first column if that is to be left out.
export function largest(values, columns, withoutFirst) {
  let most = 0;
  for (let row = 0; row < values.length; row += columns) {
    for (let i = row + (withoutFirst ? 1 : 0), end = row + columns; i < end; ++i) if (values[i] > most) most = values[i];
  }
  return most;
}

// {share(value), low, high}: what becomes the palest and the darkest colour.
export function scaleOf(kind, most) {
  const top = most > 0 ? most : 1;
  if (kind === 'log') {
    // Anchored at 1, or at the maximum where values may exceed 1.
    const high = Math.max(1, top);
    const low = kLogFloor * high;
    const span = Math.log(high / low);
    return {low, high, share: (value) => (value > low ? Math.log(value / low) / span : 0)};
  }
  const high = kind === 'maximum' ? top : Math.max(1, most > 1.001 ? top : 1);
  return {low: 0, high, share: (value) => value / high};
}

// Sums of a causal [tokens, tokens] attention map: by key the mean over the queries that see it, by query the share that
// does not go to itself or the first token is what matters, so both the total and the first key's part are kept.
export function sumsOf(values, tokens, withoutFirst) {
  const received = new Float64Array(tokens);
  const given = new Float64Array(tokens);
  const first = new Float64Array(tokens);
  for (let query = 0; query < tokens; ++query) {
    const row = query * tokens;
    first[query] = values[row];
    for (let key = withoutFirst ? 1 : 0; key <= query; ++key) {
      received[key] += values[row + key];
      given[query] += values[row + key];
    }
  }
  for (let key = 0; key < tokens; ++key) received[key] /= tokens - key;
  return {received, given, first};
}
