import t from 'tap';
import { describeAll, describeMachine } from '../../src/diagrams/describe.ts';
import type { MachineDescription } from '../../src/diagrams/description.ts';
import { pictureOf } from '../../src/diagrams/diagram.ts';
import { explainLines } from '../../src/diagrams/lines.ts';
import { toSvg } from '../../src/diagrams/svg.ts';
import { AWKWARD, lampMachine } from './lamp.ts';
import { pictures } from './pictures.ts';

type Element = { name: string; attributes: Map<string, string>; inside: (Element | string)[] };

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
const TOKEN = /<\/([\w-]+)>|<([\w-]+)((?: [\w:-]+="[^"<]*")*)>|([^<]+)/gy;

const decode = (text: string): string => {
  if (/&(?!(amp|lt|gt|quot);)|[<>]/.test(text)) throw new Error(`not escaped: ${text}`);
  return text.replace(/&(\w+);/g, (_, name) => ENTITIES[name] ?? '');
};

const attributesOf = (text: string): Map<string, string> => {
  const pairs = [...text.matchAll(/ ([\w:-]+)="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, decode(value)] as const,
  );
  const attributes = new Map(pairs);
  if (attributes.size !== pairs.length) throw new Error(`an attribute stands twice: ${text}`);
  return attributes;
};

/** Parses XML strictly: every tag closed in order, every attribute quoted, every text escaped. */
const parse = (text: string): Element => {
  const root: Element = { name: '', attributes: new Map(), inside: [] };
  const open = [root];
  let position = 0;
  while (position < text.length) {
    TOKEN.lastIndex = position;
    const token = TOKEN.exec(text);
    if (!token) throw new Error(`not well-formed: ${text.slice(position, position + 80)}`);
    const [whole, closing, opening, attributes = '', content] = token;
    position += whole.length;
    if (closing !== undefined && open.pop()?.name !== closing) throw new Error(`${closing} is not open`);
    if (opening !== undefined) {
      const element = { name: opening, attributes: attributesOf(attributes), inside: [] };
      open.at(-1)?.inside.push(element);
      open.push(element);
    }
    if (content !== undefined) open.at(-1)?.inside.push(decode(content));
  }
  const [svg, ...others] = root.inside;
  if (open.length !== 1 || typeof svg !== 'object' || others.length) throw new Error('not one element');
  return svg;
};

const elements = (root: Element): Element[] => [
  root,
  ...root.inside.flatMap((inner) => (typeof inner === 'string' ? [] : elements(inner))),
];
const textsIn = (root: Element, name: string): string[] =>
  elements(root)
    .filter((element) => element.name === name)
    .map(({ inside }) => inside.join(''));

const named = (root: Element, name: string): Element[] =>
  elements(root).filter((element) => element.name === name);

/** States and arrows. */
const placedIn = (root: Element): Element[] =>
  named(root, 'g').filter(({ attributes }) => attributes.has('data-state') || attributes.has('data-from'));

type Box = { x: number; y: number; width: number; height: number };
const boxOf = ({ attributes }: Element): Box => {
  const of = (name: string): number => Number(attributes.get(name) ?? Number.NaN);
  return { x: of('x'), y: of('y'), width: of('width'), height: of('height') };
};

/** The distances between the sides of a box and those of its container: left, top, right, bottom. */
const margins = (inner: Box, outer: Box): number[] =>
  [
    inner.x - outer.x,
    inner.y - outer.y,
    outer.x + outer.width - inner.x - inner.width,
    outer.y + outer.height - inner.y - inner.height,
  ].map((margin) => Number(margin.toFixed(6)));

/** Whether the lines are below each other in a box, with none on its edge. */
const stands = (lines: readonly Element[], box: Box): boolean => {
  const bases = lines.map((line) => boxOf(line).y - box.y);
  const isBelow = (base: number, index: number): boolean => base >= (bases[index - 1] ?? 0) + 10;
  return (
    bases.every(isBelow) &&
    bases.every((base) => base < box.height) &&
    lines.every((line) => boxOf(line).x > box.x)
  );
};

const transitionsIn = (root: Element): string[] =>
  elements(root).flatMap(({ attributes }) => JSON.parse(attributes.get('data-transitions') ?? '[]'));

const lamp = describeMachine('lamp', lampMachine);
const runOf = (machines: readonly MachineDescription[]): MachineDescription =>
  machines.find(({ name }) => name === 'run') ?? lamp;

for (const { title, picture } of pictures) {
  const text = await toSvg(picture);
  const svg = parse(text);
  const all = elements(svg);
  const { machine, states, arrows } = picture;

  t.test(`${title} is one well-formed SVG document without external references`, async (t) => {
    t.equal(svg.name, 'svg');
    t.equal(svg.attributes.get('xmlns'), 'http://www.w3.org/2000/svg');
    t.notMatch(text.replace('http://www.w3.org/2000/svg', ''), /https?:|@import|@font-face|<script|<image/);
    t.notOk(
      all.some(({ attributes }) => [...attributes.values()].some((value) => /NaN|undefined/.test(value))),
    );
  });

  t.test(`every state of ${title} is drawn with its name and its description`, async (t) => {
    for (const { state, open } of states) {
      const { path, description } = state;
      const [drawn, ...more] = all.filter(({ attributes }) => attributes.get('data-state') === path);
      const head = open ? all.find(({ attributes }) => attributes.get('data-head') === path) : drawn;
      t.equal(more.length, 0, path);
      t.ok(head && textsIn(head, 'text').includes(path.slice(path.lastIndexOf('.') + 1)), path);
      t.ok(drawn && textsIn(drawn, 'title').join('').startsWith(description), path);
    }
  });

  t.test(`all of ${title} is drawn on a background of the size of the picture`, async (t) => {
    const [width, height] = [Number(svg.attributes.get('width')), Number(svg.attributes.get('height'))];
    t.equal(svg.attributes.get('viewBox'), `0 0 ${width} ${height}`);
    const paper = { x: 0, y: 0, width, height };
    t.strictSame(named(svg, 'rect').map(boxOf)[0], paper);
    const drawn = placedIn(svg).flatMap((group) => named(group, 'rect').map(boxOf));
    t.ok(drawn.length > states.length);
    for (const box of drawn)
      t.ok(
        margins(box, paper).every((margin) => margin >= 0),
        JSON.stringify(box),
      );
  });

  t.test(`the text of each state or arrow of ${title} is inside its box`, async (t) => {
    for (const group of placedIn(svg)) {
      const [box] = named(group, 'rect').map(boxOf);
      t.ok(box && stands(named(group, 'text'), box), textsIn(group, 'text').join());
    }
  });

  t.test(`final states of ${title} have a second outline, and open ones are paler`, async (t) => {
    for (const { state, open } of states) {
      const drawn = named(svg, 'g').filter(({ attributes }) => attributes.get('data-state') === state.path);
      const [outer, inner, ...more] = drawn.flatMap((group) => named(group, 'rect'));
      t.equal(more.length, 0);
      t.equal(inner !== undefined, state.type === 'final', state.path);
      if (outer && inner) t.strictSame(margins(boxOf(inner), boxOf(outer)), [3, 3, 3, 3]);
      t.equal(Number(outer?.attributes.get('fill-opacity')) < 1, open, state.path);
    }
  });

  t.test(`each start of ${title} is a dot with an arrow from its edge`, async (t) => {
    const top = svg.inside.filter((inner) => typeof inner === 'object');
    const dots = top.flatMap((dot, index) => (dot.name === 'circle' ? [{ dot, arrow: top[index + 1] }] : []));
    t.ok(dots.length > 0);
    for (const { dot, arrow } of dots) {
      const [cx = 0, cy = 0, r = 0] = ['cx', 'cy', 'r'].map((name) => Number(dot.attributes.get(name)));
      const [, x, y] = /^M(\S+) ([\d.]+)/.exec(arrow?.attributes.get('d') ?? '') ?? [];
      t.ok(Math.abs(Math.hypot(Number(x) - cx, Number(y) - cy) - r) < 0.1, `${x} ${y}`);
    }
  });

  t.test(`every arrow of ${title} is drawn once and has its full text`, async (t) => {
    for (const { from, to, lines } of arrows) {
      const drawn = all.filter(
        ({ attributes }) => attributes.get('data-from') === (from ?? '*') && attributes.get('data-to') === to,
      );
      t.same(
        drawn.map((arrow) => [transitionsIn(arrow), textsIn(arrow, 'title')]),
        [[lines.flatMap(({ transitions }) => transitions.map(({ id }) => id)), [explainLines(lines)]]],
        `${from} to ${to}`,
      );
    }
  });

  t.test(`every transition of ${title} is in the drawing once`, async (t) => {
    t.same(transitionsIn(svg).sort(), machine.transitions.map(({ id }) => id).sort());
  });
}

const classOf = (root: Element, name: string): string | undefined =>
  elements(root)
    .find((element) => element.name === name)
    ?.attributes.get('class');

const drawnStates = (root: Element): Map<string, Element> =>
  new Map(elements(root).map((group) => [group.attributes.get('data-state') ?? '', group]));

t.test('a state has the color of its status, which its inner states share', async (t) => {
  const run = runOf(describeAll());
  const drawn = drawnStates(parse(await toSvg(pictureOf(run))));
  const tintOf = (path: string): string | undefined => {
    const group = drawn.get(path);
    return group && classOf(group, 'rect');
  };
  t.equal(tintOf('created'), 'created');
  t.equal(tintOf('running'), 'running');
  t.equal(tintOf('running.retrying.pausing'), 'running');
  t.equal(tintOf('released'), 'plain');
  const waiting = run.states.filter(({ path }) => path.startsWith('waiting'));
  for (const { path } of waiting) t.equal(tintOf(path), 'waiting', path);
  t.ok(waiting.length > 0);
  t.equal(tintOf('ending'), 'done');
  const outcomes = ['completed', 'failed', 'blocked', 'cancelled'].map(tintOf);
  t.strictSame(outcomes, ['completed', 'failed', 'failed', 'cancelled'], 'an end has that of its outcome');
});

t.test('the picture has colors for light and for dark pages', async (t) => {
  const text = await toSvg(pictureOf(lamp));
  t.match(text, /@media \(prefers-color-scheme:dark\)/);
});

t.test(
  'a failing service and an elapsed delay have distinct strokes, which the legend explains',
  async (t) => {
    const svg = parse(await toSvg(pictureOf(lamp)));
    const strokeOf = (from: string, to: string): string | undefined => {
      const arrow = elements(svg).find(
        ({ attributes }) => attributes.get('data-from') === from && attributes.get('data-to') === to,
      );
      return arrow && classOf(arrow, 'path');
    };
    t.equal(strokeOf('on.light.full', 'broken'), 'arrow error');
    t.equal(strokeOf('off', 'broken'), 'arrow timer');
    t.equal(strokeOf('on.light.full', 'on.light.none'), 'arrow event');
    t.equal(strokeOf('off', 'on'), 'arrow event', 'a transition on an event differs from one after a delay');
    const legend = textsIn(svg, 'text').slice(-6);
    for (const entry of ['a service fails', 'a delay ends', 'leads to the state itself'])
      t.ok(legend.includes(entry), entry);
    const breaker = describeAll().find(({ name }) => name === 'tool-call') ?? lamp;
    t.notMatch(textsIn(parse(await toSvg(pictureOf(breaker))), 'text').join(), /a service fails/);
  },
);

t.test('no arrow crosses the name of a state that contains others', async (t) => {
  for (const { title, picture } of pictures) {
    const all = elements(parse(await toSvg(picture)));
    const last = all.findLastIndex(({ attributes }) => attributes.has('data-from'));
    const first = all.findIndex(({ attributes }) => attributes.has('data-head'));
    t.ok(first === -1 || first > last, title);
  }
});

t.test('marks a live state, or the folded one that contains it', async (t) => {
  const live = ['on.heat.warm'];
  const marked = async (folded: readonly string[]): Promise<(string | undefined)[]> =>
    elements(parse(await toSvg(pictureOf(lamp, new Set(folded)), live)))
      .filter(({ attributes }) => attributes.get('class') === 'live' && attributes.has('data-state'))
      .map(({ attributes }) => attributes.get('data-state'));
  t.same(await marked([]), ['on.heat.warm']);
  t.same(await marked(['on.heat']), ['on.heat']);
  t.same(await marked(['on']), ['on']);
});

t.test('a folded state shows the number of states that it hides', async (t) => {
  const drawn = drawnStates(parse(await toSvg(pictureOf(lamp, new Set(['on.heat'])))));
  const foldOf = (path: string): string | undefined => drawn.get(path)?.attributes.get('data-fold');
  t.same([foldOf('on.heat'), foldOf('on.light'), foldOf('off')], ['folded', 'open', undefined]);
  const heat = drawn.get('on.heat');
  t.ok(heat && textsIn(heat, 'text').includes('⊞ 2 states'));
});

t.test('shortens a long text, and shows all of it at the pointer', async (t) => {
  const long = `${AWKWARD} ${'again and '.repeat(20)}`;
  const transitions = lamp.transitions.map((transition) => ({ ...transition, actions: [long, long] }));
  const svg = parse(await toSvg(pictureOf({ ...lamp, transitions })));
  t.ok(textsIn(svg, 'text').some((text) => text.endsWith('…')));
  const labels = textsIn(svg, 'text').filter((text) => text !== lamp.description);
  t.ok(Math.max(...labels.map(({ length }) => length)) <= 60);
  t.ok(textsIn(svg, 'title').some((title) => title.includes(`${long}, ${long}`)));
});
