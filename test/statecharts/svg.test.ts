import t from 'tap';
import { describeAll, describeMachine } from '../../src/statecharts/describe.ts';
import { arrowsOf } from '../../src/statecharts/diagram.ts';
import { toSvg } from '../../src/statecharts/svg.ts';
import { lampMachine } from './lamp.ts';

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

/** Reads XML as strictly as XML wants it: every tag closed in order, every attribute quoted, every text escaped. */
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

for (const machine of [...describeAll(), describeMachine('lamp', lampMachine)]) {
  const text = await toSvg(machine);
  const svg = parse(text);
  const all = elements(svg);

  t.test(`${machine.name} is one well-formed SVG document with nothing from outside`, async (t) => {
    t.equal(svg.name, 'svg');
    t.equal(svg.attributes.get('xmlns'), 'http://www.w3.org/2000/svg');
    t.notMatch(text.replace('http://www.w3.org/2000/svg', ''), /https?:|@import|@font-face|<script|<image/);
    t.notOk(
      all.some(({ attributes }) => [...attributes.values()].some((value) => /NaN|undefined/.test(value))),
    );
  });

  t.test(`every state of ${machine.name} is drawn with its name and what it is for`, async (t) => {
    for (const { path, description } of machine.states) {
      const [drawn, ...more] = all.filter(({ attributes }) => attributes.get('data-state') === path);
      t.equal(more.length, 0, path);
      t.ok(drawn && textsIn(drawn, 'text').includes(path.slice(path.lastIndexOf('.') + 1)), path);
      t.ok(drawn && textsIn(drawn, 'title').join('').startsWith(description), path);
    }
  });

  t.test(`every arrow of ${machine.name} is drawn with all its lines and what they are for`, async (t) => {
    for (const { from, to, lines, descriptions } of arrowsOf(machine)) {
      const drawn = all.filter(
        ({ attributes }) => attributes.get('data-from') === (from ?? '*') && attributes.get('data-to') === to,
      );
      t.same(
        drawn.map((arrow) => [textsIn(arrow, 'text'), textsIn(arrow, 'title')]),
        [[lines, [descriptions.join('\n')]]],
        `${from} to ${to}`,
      );
    }
  });
}

t.test('a state is filled in the colour of its status, which the states inside it share', async (t) => {
  const run = describeAll().find(({ name }) => name === 'run');
  t.ok(run);
  if (!run) return;
  const drawn = elements(parse(await toSvg(run)));
  const tints = drawn
    .filter(({ attributes }) => attributes.has('data-state'))
    .map((group) => [
      group.attributes.get('data-state'),
      elements(group)
        .find(({ name }) => name === 'rect')
        ?.attributes.get('class'),
    ]);
  t.match(Object.fromEntries(tints), {
    created: 'created',
    running: 'running',
    'running.retrying.pausing': 'running',
    'waiting.forInput.parked': 'waiting',
    completed: 'done',
    released: 'plain',
  });
});

t.test('the picture has colours for light and for dark pages', async (t) => {
  const text = await toSvg(describeMachine('lamp', lampMachine));
  t.match(text, /@media \(prefers-color-scheme:dark\)/);
});
