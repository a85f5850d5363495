// The explorer: puts the state, the panes and the views together.
import {counted, debounced, element, find, replace} from '../shared/dom.js';
import * as attention from './attention_view.js';
import * as gates from './gate_view.js';
import * as breaking from './break_view.js';
import * as next from './next_view.js';
import * as lens from './lens_view.js';
import {beginKeys} from './keys.js';
import {beginPrompt, firstPrompt, say} from './prompt.js';
import {beginStrip} from './strip.js';
import {changesOf, load, loadModels, mainModel, onPanes, session} from './session.js';
import {begin, change, linkHasText, state, subscribe} from './state.js';

// name: {label, module}. A module has build() → {content, split: false, true or 'broad'}, update(changed names) and end().
const views = {
  attention: ['Attention', attention], gates: ['Gates', gates], break: ['Break it', breaking], next: ['Next token', next], lens: ['Layers’ guesses', lens],
};
let open = null;

function drawTabs() {
  const on = changesOf(mainModel()).length;
  replace(find('tabs'), Object.entries(views).map(([name, [label]]) => element('button', {type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'view',
    'aria-selected': String(state.view === name), tabindex: state.view === name ? 0 : -1, onclick: () => change({view: name}),
    'aria-label': name === 'break' && on ? `${label}, ${counted(on, 'change')} on` : null}, label, name === 'break' && on ? element('span', {class: 'count'}, on) : null)));
  find('view').setAttribute('aria-label', views[state.view][0]);
  requestAnimationFrame(showTab);
}

// On a narrow screen the tabs have to be scrolled.
function showTab() {
  const tabs = find('tabs').getBoundingClientRect();
  const chosen = find(`tab-${state.view}`).getBoundingClientRect();
  if (chosen.left < tabs.left || chosen.right > tabs.right) find('tabs').scrollLeft += chosen.left - tabs.left - (tabs.width - chosen.width) / 2;
}

// Arrows move between tabs, as screen readers expect of a list of them.
function tabKeys(event) {
  const names = Object.keys(views);
  const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!by) return;
  event.preventDefault();
  event.stopPropagation(); // the tabs are drawn anew, so nobody further out can tell where it came from
  const name = names[(names.indexOf(state.view) + by + names.length) % names.length];
  change({view: name});
  find(`tab-${name}`).focus();
}

function drawView() {
  open?.end();
  open = null;
  const place = find('view');
  if (!session.panes.length) {
    place.classList.remove('split');
    replace(place);
    return;
  }
  open = views[state.view][1];
  const {content, split} = open.build();
  place.classList.toggle('split', Boolean(split));
  place.classList.toggle('broad', split === 'broad'); // the left part is the wider one
  replace(place, content);
  place.dataset.view = state.view;
}

// What makes another pass necessary.
const inputs = ['text', 'model', 'beside', 'changes', 'step'];
const others = ['text', 'model', 'beside', 'step']; // after which the panes are others, and views are built anew with them
const reload = debounced(20, load);

// Whoever sends the link sends the model along.
function nameModel() {
  if (!state.model) change({model: mainModel().id}, 'replace');
}

async function start() {
  begin();
  beginKeys();
  find('tabs').addEventListener('keydown', tabKeys);
  try {
    await loadModels();
  } catch (error) {
    say(error);
    return;
  }
  if (!session.models.some((model) => !model.error)) {
    say(new Error(session.models.length ? `No model can be read. ${session.models[0].error}` : 'No model is loaded. Start with: sluice explore MODEL'));
    return;
  }
  nameModel();
  beginPrompt();
  beginStrip();
  drawTabs();
  onPanes(rebuilt);
  subscribe((changed) => {
    if (['view', 'changes', 'model'].some((name) => changed.has(name))) drawTabs();
    if (changed.has('view')) drawView();
    else if (!others.some((name) => changed.has(name))) open?.update(changed);
    if (inputs.some((name) => changed.has(name))) reload();
  });
  document.addEventListener('sluice:theme', () => open?.update(new Set(['theme'])));
  // Another link may be opened in the tab that is there.
  addEventListener('popstate', () => {
    nameModel();
    if (!linkHasText()) firstPrompt().catch(say);
  });
  if (linkHasText()) load();
  else await firstPrompt().catch(say);
}

// A view that follows changes by itself is not torn down under a moving slider.
let shown = '';
function rebuilt() {
  const now = JSON.stringify([state.view, session.panes.map((pane) => [pane.name, pane.pass.ids]), state.beside]);
  if (state.view === 'break' && now === shown && open === breaking) return;
  shown = now;
  drawView();
}

start();
