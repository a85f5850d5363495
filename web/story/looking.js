// Chapters one to three: what attention does, that its light cannot be switched off, and where the unneeded light goes.
import {debounced, element, number, percent, replace, visible} from '../shared/dom.js';
import {barChart, lineChart} from '../shared/charts.js';
import {svgElement} from '../shared/drawing.js';
import {drawing} from './drawings.js';
import {TokenRow, chartWidth, found, p, slider, tryIt, value} from './figures.js';
import {foreignLetters} from '../shared/nursery.js';
import {cast, explorerLink, isSink, kProseBytes, kSinkFactor, kStudyLetters, largestActivation, look, meanOf, reader, sharesByWork, sinkHead, textFor, whereDue} from './material.js';

const kLongest = 300; // characters of a sentence

export function attention() {
  const model = reader();
  const box = element('input', {type: 'text', 'aria-label': 'A sentence of yours', spellcheck: 'false'});
  const result = found();
  const link = element('a', {}, 'Open it in the explorer');
  let pass = null;
  let chosen = -1;
  const row = new TokenRow('Tokens by the attention they get from the chosen one', (t) => {
    chosen = t;
    draw();
  });

  // The layer in the middle has neither the raw letters nor the answer yet.
  const layer = () => Math.floor((model.layers - 1) / 2);

  async function draw() {
    const mine = pass;
    const map = await mine.attention(layer(), -1);
    if (mine !== pass) return;
    const from = chosen < 0 || chosen >= mine.count ? mine.count - 1 : chosen;
    const given = map.values.subarray(from * mine.count, (from + 1) * mine.count);
    row.draw(mine.tokens, given, {unit: 'attention', chosen: from, high: Math.max(...given)});
    const best = [...given.keys()].slice(0, from + 1).sort((a, b) => given[b] - given[a]).slice(0, 3);
    replace(result, ...limits(mine), p('To go on from “', value(visible(mine.tokens[from])), `”, layer ${layer()} of ${model.id} looks back, mostly at `,
      ...best.flatMap((t, i) => [i ? (i === best.length - 1 ? ' and ' : ', ') : '', '“', visible(mine.tokens[t]), '” (', value(percent(given[t])), ')']), '. That is the mean of its heads; each has a mind of its own.'));
    link.href = explorerLink({model: model.id, text: textRead(), layer: layer(), shade: 'given', locked: from});
    link.hidden = false;
  }

  const textRead = () => box.value.slice(0, kLongest);

  // What of the sentence the model does not read, or cannot know.
  const limits = ({count}) => [box.value.length > kLongest ? `Only the first ${kLongest} characters are read here.` : null,
    model.positions && count > model.positions ? `${model.id} was made for ${model.positions} tokens; these are ${count}.` : null,
    model.nursery && foreignLetters(box.value) ? `${model.id} knows letters from the nursery only; what it makes of other signs says nothing.` : null]
    .filter(Boolean).map((words) => element('p', {class: 'note'}, words));

  async function read() {
    if (box.value === '') {
      pass = null;
      link.hidden = true;
      row.draw([], [], {unit: 'attention'});
      return replace(result, element('p', {class: 'note'}, 'There is nothing to read. Write something above.'));
    }
    const text = textRead();
    const mine = await look(model, text);
    if (text !== textRead()) return; // something else was written meanwhile
    pass = mine;
    chosen = -1;
    await draw();
  }
  box.addEventListener('input', debounced(300, () => read().catch((error) => replace(result, p(error.message)))));

  return {
    id: 'attention', title: 'Attention in one sentence', needs: [],
    content: [
      p('A language model reads a text in small pieces, tokens. For every token each of its attention heads asks the same question: ', element('em', {}, 'which of the tokens before me matter now?'), ' The answer is a list of shares, and the head takes home the mixture of what those tokens have to say.'),
      drawing('attention'),
      tryIt(model.nursery ? `Write letters, the only thing that ${model.id} has ever read, then press a token to see where it looks.` : 'Write something, then press a token to see where it looks.', box, row.element, result, element('p', {class: 'more'}, link)),
    ],
    async start() {
      box.value = (await textFor(model)).text.slice(0, 160);
      await read();
    },
  };
}

// What the mean shares on the first token say: in rest, at work, and if all tokens were looked at alike.
export function restWords({idle, busy, uniform}) {
  const more = idle > busy + 0.05;
  if (busy > idle + 0.05) return 'That is the other way round than the story has it: in this model, this head looks at the first token rather when it works.';
  if (idle < uniform) return `So this head does not leave its unneeded light on the first token: that gets less than its equal share${more ? ', though more than at work' : ''}.`;
  return more ? 'So the first token is where this head leaves its light when nobody needs it.' : 'In this model the two hardly differ.';
}

export function spotlight() {
  const model = cast.plain;
  const result = found();
  const chart = element('figure', {class: 'chart'});
  const row = new TokenRow('Tokens by the attention they get', (t) => show(t));
  const walk = slider('Token', {high: 63, at: 20, moved: (t) => show(t)});
  let state = null; // {pass, map, text, head}

  function show(t) {
    if (!state) return;
    const {pass, map, text, head} = state;
    walk.input.value = t;
    walk.output.textContent = String(t);
    const given = map.values.subarray(t * pass.count, (t + 1) * pass.count);
    row.draw(pass.tokens, given, {unit: 'attention', chosen: t, underlined: whereDue(text.copies)});
    replace(chart, svgElement(barChart({title: `Where token ${t} looks`, categories: pass.tokens, series: [{name: 'attention', values: given}], top: 1, width: chartWidth(), height: 170})));
    const total = given.reduce((sum, one) => sum + one, 0);
    const {idle, busy: needed, uniform} = head;
    replace(result, p(`Head ${head.head} of layer ${head.layer}${text.copies ? ', whose light moves most between work and rest,' : ''} has `, value(percent(given[0])), ' of its light on the very first token here', t === 0 ? ', the only one that it can see' : '', '. The bars add up to ', value(number(total, 3), 'row-sum'), '. They always do.'),
      text.copies ? p('After tokens where nothing is to be copied, the first token gets ', value(percent(idle), 'idle'), ' on average; where a copy is due, ', value(percent(needed)), '. Looking at all tokens alike would leave ', value(percent(uniform), 'uniform'), ' there. ',
        restWords(head))
        : p(`${model.id} reads prose here, so we cannot say which tokens need no help.`));
  }

  return {
    id: 'spotlight', title: 'A spotlight without a switch', needs: ['plain'],
    content: [
      p('Shares of what? Of one. The shares of a head are made so that they add up to exactly one, for every token, whether there is something worth looking at or not. The spotlight can be turned, made wide or narrow. It cannot be switched off.'),
      drawing('spotlight'),
      p('To see what that does we need a text in which looking back is rarely useful. The nursery is such a text: letters follow each other by a simple rule, but after one of a few trigger letters (underlined) the letter before it comes once more. Only at a trigger does a head have work: it has to find that letter.'),
      tryIt('Walk through the tokens and watch the sum.', walk.element, row.element, chart, result),
    ],
    async start() {
      const text = await textFor(model);
      const pass = await look(model, text.text);
      // The head whose light moves most between work and rest; on prose, where that is not known, the one with the largest sink.
      const heads = text.copies ? await sharesByWork(model, pass, text.copies) : [];
      const head = heads.length ? heads.reduce((a, b) => (Math.abs(b.idle - b.busy) > Math.abs(a.idle - a.busy) ? b : a)) : sinkHead(pass);
      state = {pass, text, head, map: head.map ?? await pass.attention(head.layer, head.head)};
      walk.input.max = pass.count - 1;
      show(Math.min(20, pass.count - 1));
    },
  };
}

export function sink() {
  const model = cast.plain;
  const result = found();
  const sinks = element('figure', {class: 'chart'});
  const sizes = element('figure', {class: 'chart'});
  let index = 0;
  const nursery = Boolean(model?.nursery);
  const length = slider(nursery ? 'Letters' : 'Characters', {low: 8, high: nursery ? kStudyLetters : kProseBytes, at: nursery ? 63 : kProseBytes, moved: debounced(150, () => draw().catch(fail))});
  const another = element('button', {type: 'button', onclick: () => {
    index += 1;
    draw().catch(fail);
  }}, nursery ? 'Another sequence' : 'Another text');
  const fail = (error) => replace(result, p(error.message));

  async function draw() {
    const letters = Number(length.input.value);
    const whole = (await textFor(model, index, letters)).text;
    const text = nursery ? whole : Array.from(whole).slice(0, letters).join('');
    const pass = await look(model, text);
    result.dataset.text = text;
    const {sink: measured, layers} = pass.view;
    const mean = (list) => meanOf(list ?? []);
    replace(sinks, element('figcaption', {class: 'note'}, 'Attention on the first token, by layer'), svgElement(lineChart({title: 'Attention on the first token by layer', series: [{name: model.id, values: layers.map((layer) => mean(layer.attention?.sink))}],
      floor: {value: measured.floor, name: 'uniform attention'}, width: chartWidth(), height: 190})));
    replace(sizes, element('figcaption', {class: 'note'}, 'Largest number in the stream after each layer'), svgElement(barChart({title: 'Largest activation by layer', categories: layers.map((layer) => layer.layer), series: [{name: 'largest', values: layers.map((layer) => layer.activation.largest)}], width: chartWidth(), height: 160, note: 'layer'})));
    const most = largestActivation(pass);
    const at = most.position === 0;
    replace(result, p('The first token gets ', value(percent(measured.mean), 'sink'), ' of all attention. If every token looked everywhere alike it would get ', value(percent(measured.floor)), '. That is ', value(`${number(measured.mean / measured.floor, 1)} times`), ' as much: ',
      isSink(measured) ? `a sink by the rule of the nursery's study (${kSinkFactor} times or more).` : `less than the ${kSinkFactor} times that the nursery's study calls a sink. On this text ${model.id} does not show one.`),
    p('The largest number is ', value(number(most.largest, 1)), `, after layer ${most.layer}, ${number(most.largest / most.mean_absolute, 0)} times the mean size there, and it sits `, at ? (isSink(measured) ? 'on the first token: the two come together.' : 'on the first token, although there is no sink here.') : `at token ${most.position} “${visible(pass.tokens[most.position])}”, not on the first one.`));
  }

  return {
    id: 'sink', title: 'The sink, measured', needs: ['plain'],
    content: [
      p('So where does light go that nobody needs? In many models: onto the first token. Every later token can see it, and it says little, so it does the least harm. People call it an attention sink. To make it stand out the model often blows up a few numbers at that place far beyond the usual size.'),
      p('“Much attention” needs something to compare with. A token that looks at all others alike puts an equal share on each; the first token, which everybody sees, gets most of that. The dotted line is this share. It falls as the text gets longer, so the same head can be a sink on a long text and miss the rule on a short one.'),
      tryIt('Make the text longer or shorter, or take another.', [length.element, another], sinks, sizes, result),
    ],
    start: draw,
  };
}

