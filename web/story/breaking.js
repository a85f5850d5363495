// Chapters seven and eight: what happens when the gates are held still, and what these models cannot tell.
import {element, modelSize, number, paced, percent, replace, signed} from '../shared/dom.js';
import {barChart} from '../shared/charts.js';
import {svgElement} from '../shared/drawing.js';
import {palette} from '../shared/colors.js';
import {post} from '../shared/api.js';
import {chartWidth, found, p, slider, tryIt, value} from './figures.js';
import {cast, explorerLink, isSink, kSinkFactor, kStudyLetters, largestActivation, look, meanOf, textFor} from './material.js';

// How much of what the model knew is gone, beside a blind guess.
function whatIsLost(lost, blind) {
  if (lost >= 1) return ['That wrecks it: it is worse off now than with a blind guess among all its tokens, ', value(number(blind, 2)), ' nats.'];
  const share = [value(percent(Math.max(0, lost)), 'lost'), ' of what it had gained over a blind guess'];
  if (lost > 0.5) return ['That wrecks it: it has lost ', ...share, '. It was never trained with gates that stand still, so this does not show that it needs them to move.'];
  if (lost > 0.03) return ['It has lost ', ...share, ': the gates mattered, and not just by being there.'];
  return lost > 0 ? ['It has lost ', ...share, ': at this value it hardly misses its moving gates.'] : ['It got no worse. At this value its gates might as well stand still on this text.'];
}

// Beside what the unbroken model gains there over a blind guess: it is surer of its copies, so it has more to lose.
function whoSuffers(was, is, {blind, wrecked}) {
  if (wrecked) return 'Everything suffers here, so the two tell little.';
  const lost = (one) => (is[one] - was[one]) / Math.max(1e-9, blind - was[one]);
  const [copies, others] = [lost('copies'), lost('others')];
  if (Math.max(copies, others) < 0.01) return 'Neither suffers.';
  const shares = `Of what it gains over a blind guess it loses ${percent(copies)} at copies and ${percent(others)} elsewhere. `;
  return shares + (copies > others + 0.01 ? 'Copies, which need attention, suffer more.' : others > copies + 0.01 ? 'What needs no attention suffers more.' : 'Both suffer alike.');
}

function whereLightGoes(before, after) {
  const by = after.mean - before.mean;
  if (Math.abs(by) < 0.02) return 'It hardly moves.';
  return `${by > 0 ? 'More' : 'Less'} light ends there when the dimmers stand still.`;
}

export function breaking() {
  const model = cast.gated;
  const result = found();
  const chart = element('figure', {class: 'chart'});
  const link = element('a', {}, 'Break more of it in the explorer');
  const fail = (error) => error.name !== 'AbortError' && replace(result, p(error.message));
  let under = null;

  // Mean surprise where a letter is a copy, and at all other tokens but the first.
  function surprises(view, copies) {
    const copied = new Set(copies ?? []);
    const at = (wanted) => meanOf(view.surprise.filter((one, t) => one !== null && copied.has(t) === wanted));
    return {copies: at(true), others: at(false)};
  }

  async function draw(amount) {
    under?.abort();
    const mine = (under = new AbortController());
    const text = await textFor(model);
    result.dataset.text = text.text;
    const a = {model: model.id, prompt: text.text, interventions: []};
    const {a: before, b: after, difference} = await post('/api/v1/compare', {a, b: {...a, interventions: [`attn.gate set=${amount}`]}}, mine.signal);
    const was = surprises(before, text.copies);
    const is = surprises(after, text.copies);
    const colors = palette();
    const names = text.copies ? ['copies', 'other\u00a0letters'] : ['all tokens'];
    const list = (one) => (text.copies ? [one.copies, one.others] : [one.others]);
    replace(chart, element('figcaption', {class: 'note'}, 'Surprise, nats per token: low is good'), svgElement(barChart({title: 'Surprise before and after', categories: names, width: chartWidth(), height: 190,
      series: [{name: 'its own gates', values: list(was), color: colors.accent}, {name: `all gates at ${amount.toFixed(2)}`, values: list(is), color: colors.second}]})));
    // A guess that knows nothing gives every token the same chance.
    const blind = Math.log(model.vocabulary);
    const lost = difference.nll / Math.max(1e-9, blind - before.nll);
    const wrecked = lost > 0.5;
    replace(result, p('With every gate at ', value(amount.toFixed(2)), ' the prediction moves by ', value(number(difference.kl_mean), 'kl'), ' nats and the surprise by ', value(signed(difference.nll)), ` per token, from ${number(before.nll, 2)} to ${number(after.nll, 2)}. `, value(percent(1 - difference.agreement)), ' of the likeliest tokens are others now. ', ...whatIsLost(lost, blind)),
      text.copies ? p('Copies go from ', value(number(was.copies, 2)), ' to ', value(number(is.copies, 2)), ' nats, the other letters from ', value(number(was.others, 2)), ' to ', value(number(is.others, 2)), '. ', whoSuffers(was, is, {blind, wrecked})) : null,
      p('The first token’s share goes from ', value(percent(before.sink.mean)), ' to ', value(percent(after.sink.mean)), ` (looking everywhere alike: ${percent(after.sink.floor)}). `, whereLightGoes(before.sink, after.sink), wrecked ? ' In a wrecked model that is no answer to what the gate is for.' : ''));
    link.href = explorerLink({model: model.id, text: text.text, view: 'break', changes: `1_all_0_0_0_constant_${amount}`});
  }

  const moved = paced(80, (amount) => draw(amount).catch(fail));
  const turn = slider('All gates at', {low: 0, high: 1, step: 0.01, at: 1, moved, show: (amount) => amount.toFixed(2)});
  return {
    id: 'break', title: 'Break it', needs: ['gated'], changes: true,
    content: [
      p('Does the model use its gates, or just carry them around? There is a simple way to find out. Take the dimmers out of its hands: hold all of them at one value, and ask what it would say now. At one, all light passes, as in a model without gates. At nothing, the heads fall silent.'),
      tryIt('Drag all dimmers at once.', turn.element, chart, result, element('p', {class: 'more'}, link)),
    ],
    start: () => draw(1),
  };
}

const kModels = 8; // so many are measured at the end; each is a pass

export function open() {
  const result = found();
  const table = element('div', {class: 'wide'});
  let index = 0;

  async function row(model) {
    const text = await textFor(model, index, kStudyLetters);
    const pass = await look(model, text.text);
    return {model, text: text.text, sink: pass.view.sink, largest: largestActivation(pass).largest, gate: pass.view.gates?.find((gate) => gate.position === 'g1') ?? null, nll: pass.view.nll, tokens: pass.count};
  }

  // The story in short, as far as these models tell it.
  function inShort(rows) {
    const times = (one) => value(`${number(one.sink.mean / one.sink.floor, 1)} times`);
    const [a, b] = [cast.plain, cast.gated].map((model) => rows.find((one) => one.model === model));
    const lower = a && b && b.sink.mean / b.sink.floor < a.sink.mean / a.sink.floor;
    const verdict = () => (!isSink(a.sink) ? 'The first has no sink on this text, so this pair cannot show what a gate does to one.'
      : !lower ? 'So in this pair the gate has taken nothing away.' : isSink(b.sink) ? 'So with the gate the sink is smaller, but still there.' : 'So the one without a gate has a sink, and the one with it less than a sink.');
    return [
      p(element('b', {}, 'A sink'), ` is a token that gets far more attention than it would if all were looked at alike (${kSinkFactor} times or more, by our rule), although there is little to learn from it. Usually it is the first one.`),
      a && b ? p(element('b', {}, 'What the gate does to it: '), 'a head that can be dimmed need not leave its light anywhere. ', value(a.model.id), ' gives its first token ', times(a), ' the uniform share, ', value(b.model.id), ', which has a gate, ', times(b), '. ', verdict()) : null,
    ];
  }

  async function draw() {
    const rows = [];
    for (const model of cast.all.slice(0, kModels)) rows.push(await row(model));
    result.dataset.text = rows.find((one) => one.model === cast.plain)?.text ?? '';
    replace(table, element('table', {class: 'numbers'}, element('caption', {class: 'unseen'}, 'All loaded models'), element('thead', {}, element('tr', {}, ['Model', 'size', 'first token', '× uniform', 'largest number', 'mean gate', 'surprise'].map((name) => element('th', {scope: 'col', class: name === 'size' ? 'roomy' : null}, name)))),
      element('tbody', {}, rows.map((one) => element('tr', {}, element('th', {scope: 'row'}, one.model.id), element('td', {class: 'roomy', title: one.model.parameters.toLocaleString('en')}, modelSize(one.model.parameters)), element('td', {}, percent(one.sink.mean)), element('td', {}, number(one.sink.mean / one.sink.floor, 1)), element('td', {}, number(one.largest, 1)),
        element('td', {}, one.gate ? number(one.gate.mean) : 'none'), element('td', {}, number(one.nll, 2)))))));
    const sinks = rows.filter((one) => isSink(one.sink)).map((one) => one.model.id);
    const none = rows.filter((one) => !isSink(one.sink)).map((one) => one.model.id);
    const named = (list, last = 'and') => list.map((id, i) => [i ? (i === list.length - 1 ? ` ${last} ` : ', ') : '', value(id)]).flat();
    const largest = rows.reduce((a, b) => (b.model.parameters > a.model.parameters ? b : a));
    replace(result, ...inShort(rows), sinks.length ? p(element('b', {}, 'Where we saw one: '), 'on this text in ', ...named(sinks), none.length ? [', and not in ', ...named(none, 'or')].flat() : '', '.') : p(element('b', {}, 'Where we saw one: '), 'on this text, in none of the loaded models.'),
      p('The largest of them has ', value(largest.model.parameters.toLocaleString('en')), ' parameters and read ', value(String(largest.tokens)), ' tokens here. What was found in far larger models need not show in these, and what shows in these need not hold there.'));
  }

  return {
    id: 'open', title: 'What is still open', needs: [],
    content: [
      p('A story is easily told; whether it is true of a given model is another matter. These are the models that are loaded, each on a text of its own kind. What they show is what they show on this text, from one training each.'),
      tryIt('Take other texts before you believe a number.', element('button', {type: 'button', onclick: () => {
        index += 1;
        draw().catch((error) => replace(result, p(error.message)));
      }}, 'Other texts'), table, result),
      element('ul', {class: 'questions'}, [
        'Is a smaller sink better, or only different? A model without one need not predict better.',
        'Is it the gate that takes the sink away, or something else that came with it? To know that, one trains both many times, with other seeds.',
        'Does it last? A gate that helps a short training may not matter after a long one.',
        'Do large numbers make a sink, or a sink large numbers? Here they were only seen together, or not.',
      ].map((text) => element('li', {}, text))),
      p('For answers with intervals rather than single texts: ', element('code', {}, 'sluice compare'), ' runs two models over many texts, ', element('code', {}, 'sluice sweep'), ' trains with many seeds.'),
    ],
    start: draw,
  };
}
