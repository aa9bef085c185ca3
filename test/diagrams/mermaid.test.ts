import t from 'tap';
import { describeMachine } from '../../src/diagrams/describe.ts';
import type { MachineDescription } from '../../src/diagrams/description.ts';
import { pictureOf } from '../../src/diagrams/diagram.ts';
import { toMermaid } from '../../src/diagrams/mermaid.ts';
import { lampMachine } from './lamp.ts';
import { pictures } from './pictures.ts';

/** The part of mermaid's grammar that is used. A line of any other form is an error. */
const FORMS = {
  open: /^state "([^"]*)" as (\w+) \{$/,
  state: /^state "([^"]*)" as (\w+)$/,
  close: /^\}$/,
  divider: /^--$/,
  arrow: /^(\[\*\]|\w+) --> (\[\*\]|\w+)(?: : ([^:]+))?$/,
  look: /^classDef \w+ [\w-]+:\w+$/,
  looks: /^class \w+(,\w+)* \w+$/,
};

type Read = {
  states: { id: string; label: string; parent: string | undefined }[];
  arrows: { from: string; to: string; parent: string | undefined; lines: string[] }[];
  dividers: number;
};

const ENTITIES: Record<string, string> = { quot: '"', lt: '<', gt: '>' };
const decode = (label: string): string =>
  label.replace(/#(\w+);/g, (_, name) => ENTITIES[name] ?? String.fromCharCode(Number(name)));

/** Mermaid replaces entities with text without these characters before it parses. */
const hideEntities = (line: string): string => line.replace(/#(\w+);/g, '«$1»');
const showEntities = (text: string): string => text.replace(/«(\w+)»/g, '#$1;');

const read = (text: string): Read => {
  const [, , , kind, ...body] = text.trimEnd().split('\n');
  if (kind !== 'stateDiagram-v2') throw new Error(`unexpected ${kind}`);
  const around: string[] = [];
  const found: Read = { states: [], arrows: [], dividers: 0 };
  for (const line of body.map((each) => hideEntities(each.trim()))) {
    const parent = around.at(-1);
    const [form, match] =
      Object.entries(FORMS)
        .map(([name, pattern]) => [name, line.match(pattern)] as const)
        .find(([, matched]) => matched) ?? [];
    const [, first = '', second = '', third = ''] = match ?? [];
    const label = form === 'arrow' ? third : first;
    if (/[#:;%"<>{}]/.test(label.replaceAll('<br/>', ''))) throw new Error(`unescaped: ${line}`);
    if (form === 'open' || form === 'state') {
      found.states.push({ id: second, label: decode(showEntities(first)), parent });
      if (form === 'open') around.push(second);
    } else if (form === 'arrow') {
      const lines = third.split('<br/>').map((each) => decode(showEntities(each)));
      found.arrows.push({ from: first, to: second, parent, lines });
    } else if (form === 'close') around.pop();
    else if (form === 'divider') found.dividers += 1;
    else if (form === 'look' || form === 'looks') continue;
    else throw new Error(`not understood: ${line}`);
  }
  if (around.length) throw new Error(`not closed: ${around}`);
  return found;
};

const idOf = (machine: MachineDescription, path: string): string =>
  [machine.id, ...path.split('.')].join('__').replace(/\W/g, '_');

const MARK = /any_state__\d+$/;

for (const { title, picture } of pictures) {
  const { machine } = picture;
  const { states, arrows } = read(toMermaid(picture));
  const origins = states.filter(({ id }) => MARK.test(id));
  const shown = picture.states.map(({ state }) => state);

  t.test(`every state of ${title} is drawn once, inside its parent state`, async (t) => {
    const drawn = states.filter(({ id }) => !MARK.test(id) && id !== idOf(machine, 'any-state'));
    t.same(
      drawn.map(({ id, parent }) => [id, parent]),
      shown.map(({ path, parent }) => [
        idOf(machine, path),
        parent === null ? undefined : idOf(machine, parent),
      ]),
    );
  });

  t.test(`every line of ${title} is drawn once, between its states or inside its state`, async (t) => {
    const said = ({ text, where }: { text: string; where: readonly string[] }): string =>
      where.length ? `${text} (in ${where.join(', ')})` : text;
    const labelled = picture.arrows.map(({ from, to, inward, lines }) => {
      const [first, ...others] = arrows.filter((arrow) => {
        const origin = origins.find(({ id }) => id === arrow.from);
        const place = origin ? origin.parent : arrow.from;
        return (
          arrow.to === idOf(machine, to) &&
          (origin !== undefined) === inward &&
          place === (from === null ? undefined : idOf(machine, from))
        );
      });
      t.same(others, [], `${from} to ${to} is drawn once`);
      const label = origins.find(({ id }) => id === first?.from)?.label.split('<br/>') ?? first?.lines;
      const every = inward ? ' (in every state)' : '';
      t.same(
        label,
        lines.map((line) => (line.where.length ? said(line) : `${said(line)}${every}`)),
      );
      return first;
    });
    t.equal(new Set(labelled).size, picture.arrows.length);
    for (const { state, activities } of picture.states) {
      const [, ...rest] =
        states.find(({ id }) => id === idOf(machine, state.path))?.label.split('<br/>') ?? [];
      t.same(
        rest.filter((line) => !line.startsWith('⊞')),
        activities.map(said),
        state.path,
      );
    }
  });

  t.test(`${title} shows its start and its end`, async (t) => {
    const open = picture.states.filter((each) => each.open).map(({ state }) => state);
    const begins = [machine, ...open].flatMap(({ initial }) => initial ?? []);
    t.same(
      arrows.filter(({ from }) => from === '[*]').map(({ to }) => to),
      begins.map((path) => idOf(machine, path)),
    );
    const ends = shown.filter(({ type }) => type === 'final');
    t.same(
      arrows.filter(({ to }) => to === '[*]').map(({ from }) => from),
      ends.map(({ path }) => idOf(machine, path)),
    );
  });

  t.test(`no arrow of ${title} ends at a state that is not drawn`, async (t) => {
    const known = new Set(['[*]', ...states.map(({ id }) => id)]);
    t.same(
      arrows.filter(({ from, to }) => !known.has(from) || !known.has(to)),
      [],
    );
  });
}

t.test('the regions of a parallel state are separated', async (t) => {
  t.equal(read(toMermaid(pictureOf(describeMachine('lamp', lampMachine)))).dividers, 1);
});
