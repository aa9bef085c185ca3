import t from 'tap';
import { describeMachine } from '../../src/diagrams/describe.ts';
import { explain, isLive, pictureOf, type Shown } from '../../src/diagrams/diagram.ts';
import type { Line } from '../../src/diagrams/lines.ts';
import { isInside } from '../../src/diagrams/nesting.ts';
import { AWKWARD, lampMachine } from './lamp.ts';
import { pictures } from './pictures.ts';

const lamp = describeMachine('lamp', lampMachine);
const whole = pictureOf(lamp);
const folded = pictureOf(lamp, new Set(['on']));

const texts = (lines: readonly Line[] | undefined): string[] => (lines ?? []).map(({ text }) => text);
const stateOf = (states: readonly Shown[], path: string): Shown => {
  const found = states.find(({ state }) => state.path === path);
  if (!found) throw new Error(`${path} is not drawn`);
  return found;
};

t.test('transitions between the same two states share an arrow, in their order', async (t) => {
  const arrow = whole.arrows.find(({ from, to }) => from === 'off' && to === 'on');
  t.same(texts(arrow?.lines), [`FLIP [level > 1] / glow, ${AWKWARD}`, 'after 250 ms']);
  t.same(
    arrow?.lines.map(({ kind }) => kind),
    ['event', 'timer'],
  );
});

t.test('omits the name of the only service of a state from its end and failure', async (t) => {
  const lines = whole.arrows.filter(({ from }) => from === 'on.light.full').flatMap((arrow) => arrow.lines);
  t.same(
    lines.map(({ text, kind }) => [text, kind]),
    [
      ['done', 'event'],
      ['error', 'error'],
    ],
  );
});

t.test('a state shows its own activities, and those that lead to no other state', async (t) => {
  const activities = Object.fromEntries(
    whole.states.map((shown) => [shown.state.path, texts(shown.activities)]),
  );
  t.same(activities.off, ['FLIP [bright] / warn', '↻ FLIP']);
  t.same(activities.on, ['entry / glow', `exit / ${AWKWARD}, warn`]);
  t.same(activities['on.light.full'], ['do / fade']);
  t.same(activities.broken, []);
});

t.test('a state has its description, and that of each event it accepts', async (t) => {
  t.equal(explain(stateOf(whole.states, 'off')), 'Dark.\nFLIP [bright] / warn: Not now.\nFLIP');
});

t.test('a transition that applies in every state leads from the machine', async (t) => {
  const [arrow] = whole.arrows.filter(({ from }) => from === null);
  t.match(arrow, { to: 'broken', inward: true });
  t.same(texts(arrow?.lines), ['BREAK']);
});

t.test('a folded state hides its inner states, and arrows end at its box', async (t) => {
  t.same(
    folded.states.map(({ state }) => state.path),
    ['off', 'on', 'broken'],
  );
  t.match(stateOf(folded.states, 'on'), { open: false, folded: true, hidden: { length: 6 } });
  t.same(
    folded.arrows.map(({ from, to }) => [from, to]),
    [
      [null, 'broken'],
      ['off', 'on'],
      ['off', 'broken'],
      ['on', 'off'],
      ['on', 'broken'],
    ],
  );
  t.match(explain(stateOf(folded.states, 'on')), /Inside: on\.light, .*\n.*done\.fade/s);
});

t.test('a folded state lists the first of many events, and the others in its explanation', async (t) => {
  const events = Array.from({ length: 9 }, (_, index) => `E${index}`);
  const transitions = events.map((event) => ({
    id: event,
    from: 'off',
    to: null,
    event,
    guard: null,
    actions: [event.toLowerCase()],
    description: '',
  }));
  const busy = pictureOf({ ...lamp, transitions }, new Set(['off']));
  const off = stateOf(busy.states, 'off');
  t.same(texts(off.activities).slice(-2), ['E4 / e4', '… 4 more']);
  t.match(explain(off), 'E8 / e8');
});

t.test('marks a live state, or the folded one that contains it', async (t) => {
  const marked = (states: readonly Shown[]): string[] =>
    states.filter((shown) => isLive(shown, ['on.heat.warm'])).map(({ state }) => state.path);
  t.same(marked(whole.states), ['on.heat.warm']);
  t.same(marked(folded.states), ['on']);
});

for (const { title, picture } of pictures) {
  const { machine, states, arrows, activities } = picture;

  t.test(`every transition of ${title} is in the picture once`, async (t) => {
    const drawn = [
      ...[...arrows.flatMap(({ lines }) => lines), ...activities].flatMap((line) => line.transitions),
      ...states.flatMap((shown) => [
        ...shown.activities.flatMap((line) => line.transitions),
        ...shown.inside,
      ]),
    ];
    t.same(drawn.map(({ id }) => id).sort(), machine.transitions.map(({ id }) => id).sort());
  });

  t.test(`every arrow of ${title} represents transitions between its two states`, async (t) => {
    const covers = (path: string | null, inner: string | null): boolean =>
      path === inner || (inner !== null && isInside(inner, path));
    for (const { from, to, lines } of arrows) {
      for (const { where, transitions } of lines) {
        for (const transition of transitions) {
          t.ok(covers(from, transition.from) && covers(to, transition.to), transition.id);
          const hidden = states.some(({ state, folded }) => folded && state.path === from);
          const said = where.some((name) => `.${transition.from}.`.includes(`.${name}.`));
          t.ok(said || hidden || where.length === 0, `${transition.id} is named in ${where}`);
        }
      }
    }
  });
}
