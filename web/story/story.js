// The story's frame: who plays, the chapters and their list; a chapter computes when it comes near the screen.
import {choice, element, find, replace} from '../shared/dom.js';
import {cast, fitting, gatherCast, partNames} from './material.js';
import {attention, sink, spotlight} from './looking.js';
import {dimmer, paint, pair} from './gating.js';
import {breaking, open} from './breaking.js';

// A chapter is a function that returns {id, title, needs: parts of the cast, changes: whether it changes a model, content, start}.
const chapters = [attention, spotlight, sink, paint, dimmer, pair, breaking, open];
const numbers = ['One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight'];

function missing(needs) {
  return needs.some((part) => !cast[part]);
}

const forbidden = (chapter) => chapter.changes && cast.readOnly;

function section(make, i) {
  const chapter = make();
  const body = forbidden(chapter) ? [...chapter.content.slice(0, 1), element('p', {class: 'found'}, 'This server was started with ', element('code', {}, '--read-only'), ': models are not changed here, so there is nothing to break. Start ',
    element('code', {}, 'sluice explore'), ' without it.')] : missing(chapter.needs) ? [...chapter.content.slice(0, 1), element('p', {class: 'found'}, 'This chapter needs a model that is not loaded: ',
    chapter.needs.includes('plain') && !cast.plain ? 'one without a gate. ' : 'one with a gate. ', 'Start with ', element('code', {}, 'sluice explore tests/golden/nursery/baseline tests/golden/nursery/headwise'), '.')] : chapter.content;
  const made = element('section', {class: 'chapter', id: chapter.id, 'aria-labelledby': `${chapter.id}-title`},
    element('h2', {id: `${chapter.id}-title`}, element('span', {}, `Chapter ${numbers[i].toLowerCase()}`), chapter.title), body);
  made.dataset.state = 'waiting';
  return {...chapter, element: made, ready: !missing(chapter.needs) && !forbidden(chapter)};
}

async function begin(chapter) {
  if (!chapter.ready || chapter.element.dataset.state !== 'waiting') return;
  chapter.element.dataset.state = 'computing';
  try {
    await chapter.start();
    chapter.element.dataset.state = 'done';
  } catch (error) {
    chapter.element.dataset.state = 'failed';
    // What still says that it computes never will.
    for (const place of chapter.element.querySelectorAll('.found')) if (place.querySelector('.computing')) replace(place);
    chapter.element.append(element('p', {class: 'trouble', role: 'alert'}, `This chapter cannot be computed. ${error.message}`));
  }
}

let watching = [];

function tell() {
  for (const observer of watching) observer.disconnect();
  const made = chapters.map(section);
  replace(find('chapters'), made.map((chapter) => chapter.element));
  replace(find('contents'), made.map((chapter, i) => element('li', {}, element('a', {href: `#${chapter.id}`}, `${i + 1}  ${chapter.title}`))));
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) begin(made.find((chapter) => chapter.element === entry.target));
  }, {rootMargin: '400px'});
  const reading = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) mark(entry.target.id);
  }, {rootMargin: '-30% 0px -60% 0px'});
  for (const chapter of made) {
    near.observe(chapter.element);
    reading.observe(chapter.element);
  }
  watching = [near, reading];
}

function mark(id) {
  for (const link of find('contents').querySelectorAll('a')) link.setAttribute('aria-current', String(link.hash === `#${id}`));
}

// Whoever has no gate cannot play one that has: only those that fit are offered.
function drawRoles() {
  replace(find('roles'), partNames.map(([part, name]) => {
    const able = fitting(part);
    if (!able.length) return element('p', {class: 'note', 'data-part': part}, name, element('br'), 'No such model is loaded.');
    return element('label', {'data-part': part}, name, choice(name, able.map((model) => [model.id, model.nursery ? `${model.id} (letters)` : model.id]), cast[part]?.id, (id) => {
      cast[part] = cast.all.find((model) => model.id === id);
      tell();
    }));
  }));
}

async function start() {
  try {
    await gatherCast();
  } catch (error) {
    find('trouble').textContent = error.message;
    find('trouble').hidden = false;
    return;
  }
  drawRoles();
  tell();
  // The chapters came after the page, so its address has to be followed again.
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  document.addEventListener('sluice:theme', tell);
}

start();
