// The whole effect of changed gates for a file: a table of everything that was compared, and a picture of what the page shows.
import {barChart, tableDrawing} from '../shared/charts.js';
import {palette} from '../shared/colors.js';
import {number, percent, signed, tokenName, tokenNames, visible} from '../shared/dom.js';
import {Drawing} from '../shared/drawing.js';

const columns = ['model', 'changes', 'what', 'layer', 'head', 'position', 'token', 'next_before', 'next_after', 'before', 'after', 'change'];

// One line per figure. `what` says which: the whole text (mean_kl, agreement, surprise, sink), by position (kl, token_surprise, flip),
// by next token (next), by head (head_sink). change is after - before; of kl it is the divergence itself.
export function effectTable(model, interventions, {a, b, difference}) {
  const row = (what, cells) => [model, interventions.join('; '), what, ...columns.slice(3).map((name) => cells[name] ?? null)];
  const both = (before, after) => ({before, after, change: before === null || after === null ? null : after - before});
  const named = ({id, token}) => token || (token === '' ? `#${id}` : id);
  const names = tokenNames(a);
  const token = (t) => names[t];
  return {columns, rows: [
    row('mean_kl', {change: difference.kl_mean}), row('agreement', {after: difference.agreement}), row('surprise', both(a.nll, b.nll)), row('sink', both(a.sink.mean, b.sink.mean)),
    ...difference.kl.map((kl, t) => row('kl', {position: t, token: token(t), change: kl})),
    ...a.surprise.map((before, t) => row('token_surprise', {position: t, token: token(t), ...both(before, b.surprise[t])})),
    ...difference.next.map((one) => row('next', {position: a.ids.length - 1, token: token(a.ids.length - 1), next_before: named(one), next_after: named(one), before: one.a, after: one.b, change: one.change})),
    ...difference.changed.map((one) => row('flip', {position: one.position, token: token(one.position), next_before: named(one.a), next_after: named(one.b), before: one.a.probability, after: one.b.probability})),
    ...a.layers.flatMap((layer, l) => (layer.attention?.sink ?? []).map((before, head) => row('head_sink', {layer: l, head, ...both(before, b.layers[l].attention.sink[head])}))),
  ]};
}

const kMostFlips = 40; // lines of a picture; the table has all

export function effectDrawing(result) {
  if (!result) throw new Error('There is no effect to save: switch a change on.');
  const {a, b, difference} = result;
  const flips = difference.changed;
  const left = flips.length > kMostFlips ? ` (the first ${kMostFlips} of ${flips.length})` : '';
  const parts = [
    tableDrawing('What it does', ['figure', 'before', 'after'], [['KL divergence, nats, mean', '', number(difference.kl_mean)], ['surprise, nats per token', number(a.nll), number(b.nll)],
      ['sink', percent(a.sink.mean), percent(b.sink.mean)], ['other likeliest token', '', `${flips.length} of ${a.ids.length}`]]),
    barChart({title: 'KL divergence after each token', categories: tokenNames(a), series: [{name: 'KL', values: difference.kl}], height: 180, note: 'KL divergence after each token, nats'}),
    tableDrawing('Next token before and after', ['token', 'before', 'after', 'change'],
      difference.next.map((row) => [tokenName(row), number(row.a, 4), number(row.b, 4), signed(row.change, 4)])),
    flips.length ? tableDrawing(`Where another token is the likeliest now${left}`, ['after', 'position', 'before', 'probability', 'now', 'probability'],
      flips.slice(0, kMostFlips).map((one) => [visible(tokenNames(a)[one.position]), one.position, tokenName(one.a), number(one.a.probability, 4), tokenName(one.b), number(one.b.probability, 4)])) : null,
  ].filter(Boolean);
  const whole = new Drawing(Math.max(...parts.map((part) => part.width)) + 32, parts.reduce((sum, part) => sum + part.height + 16, 32), 'The effect of changed gates');
  whole.text(28, 28, `${b.model}: ${b.interventions.join('; ')}`, {mono: true, fill: palette().faint});
  let y = 36;
  for (const part of parts) {
    whole.place(16, y, part);
    y += part.height + 16;
  }
  return whole;
}
