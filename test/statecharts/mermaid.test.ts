import t from 'tap';
import { describeAll, describeMachine } from '../../src/statecharts/describe.ts';
import type { MachineDescription } from '../../src/statecharts/description.ts';
import { transitionLine } from '../../src/statecharts/diagram.ts';
import { toMermaid } from '../../src/statecharts/mermaid.ts';
import { lampMachine } from './lamp.ts';

/** The part of mermaid's grammar that is used; a line of any other form is not understood. */
const FORMS = {
  open: /^state "([^"]*)" as (\w+) \{$/,
  state: /^state "([^"]*)" as (\w+)$/,
  close: /^\}$/,
  divider: /^--$/,
  arrow: /^(\[\*\]|\w+) --> (\[\*\]|\w+)(?: : ([^:]+))?$/,
};

type Read = {
  states: { id: string; label: string; parent: string | undefined }[];
  arrows: { from: string; to: string; parent: string | undefined; lines: string[] }[];
  dividers: number;
};

const ENTITIES: Record<string, string> = { quot: '"', lt: '<', gt: '>' };
const decode = (label: string): string =>
  label.replace(/#(\w+);/g, (_, name) => ENTITIES[name] ?? String.fromCharCode(Number(name)));

/** Mermaid turns entities into something without these characters before it parses. */
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
    else throw new Error(`not understood: ${line}`);
  }
  if (around.length) throw new Error(`not closed: ${around}`);
  return found;
};

const idOf = (machine: MachineDescription, path: string): string =>
  [machine.id, ...path.split('.')].join('__').replace(/\W/g, '_');

for (const machine of [...describeAll(), describeMachine('lamp', lampMachine)]) {
  const { states, arrows } = read(toMermaid(machine));

  t.test(`every state of ${machine.name} is drawn once, inside the state around it`, async (t) => {
    const drawn = states.filter(({ id }) => id !== idOf(machine, 'any-state'));
    t.same(
      drawn.map(({ id, parent }) => [id, parent]),
      machine.states.map(({ path, parent }) => [
        idOf(machine, path),
        parent === null ? undefined : idOf(machine, parent),
      ]),
    );
  });

  t.test(
    `every transition of ${machine.name} is drawn between its states, or inside its state`,
    async (t) => {
      for (const transition of machine.transitions) {
        const line = transitionLine(transition);
        const from = idOf(machine, transition.from ?? 'any-state');
        if (transition.to === null) {
          const label = states.find(({ id }) => id === from)?.label ?? '';
          t.ok(label.split('<br/>').includes(line), transition.id);
          continue;
        }
        const to = idOf(machine, transition.to);
        t.ok(
          arrows.some((arrow) => arrow.from === from && arrow.to === to && arrow.lines.includes(line)),
          transition.id,
        );
      }
    },
  );

  t.test(`${machine.name} shows where it begins and where it ends`, async (t) => {
    const begins = [machine, ...machine.states].flatMap(({ initial }) => initial ?? []);
    t.same(
      arrows.filter(({ from }) => from === '[*]').map(({ to }) => to),
      begins.map((path) => idOf(machine, path)),
    );
    const ends = machine.states.filter(({ type }) => type === 'final');
    t.same(
      arrows.filter(({ to }) => to === '[*]').map(({ from }) => from),
      ends.map(({ path }) => idOf(machine, path)),
    );
  });

  t.test(`no arrow of ${machine.name} ends at a state that is not drawn`, async (t) => {
    const known = new Set(['[*]', ...states.map(({ id }) => id)]);
    t.same(
      arrows.filter(({ from, to }) => !known.has(from) || !known.has(to)),
      [],
    );
  });
}

t.test('the regions of a parallel state are told apart', async (t) => {
  t.equal(read(toMermaid(describeMachine('lamp', lampMachine))).dividers, 1);
});
