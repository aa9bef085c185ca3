import t from 'tap';
import { machines } from '../../machines/index.ts';
import { MachineDescription } from '../../src/diagrams/description.ts';
import { drawMachines } from '../../src/diagrams/draw.ts';
import { Invalid, NotFound } from '../../src/schema/outcome.ts';
import { laidOutAnew } from './kept-layouts.ts';

t.test('without a name every machine is drawn, in the order of the catalog', async (t) => {
  for (const format of ['mermaid', 'json', 'svg'] as const) {
    const drawn = await drawMachines({ format });
    t.same(
      drawn.map(({ name }) => name),
      Object.keys(machines),
      format,
    );
  }
});

t.test('with a name only that machine is drawn', async (t) => {
  const drawn = await drawMachines({ format: 'mermaid', machine: 'tool-call' });
  t.equal(drawn.length, 1);
  t.match(drawn, [{ name: 'tool-call', text: /stateDiagram-v2/ }]);
});

t.test('JSON is the description of the machine', async (t) => {
  for (const { name, text } of await drawMachines({ format: 'json' })) {
    t.equal(MachineDescription.parse(JSON.parse(text)).name, name);
  }
});

t.test('SVG output is SVG', async (t) => {
  t.match(await drawMachines({ format: 'svg', machine: 'dispatch' }), [{ text: /^<svg / }]);
});

t.test('the same machine gives the same text', async (t) => {
  for (const format of ['mermaid', 'json', 'svg'] as const) {
    const draw = () => drawMachines({ format, machine: 'run' });
    t.same(await laidOutAnew(draw), await draw());
  }
});

t.test('rejects an unknown machine, and lists the known ones', async (t) => {
  await t.rejects(drawMachines({ format: 'svg', machine: 'toaster' }), NotFound);
  await t.rejects(drawMachines({ format: 'svg', machine: 'toaster' }), {
    message: `unknown machine 'toaster': one of ${Object.keys(machines).join(', ')}`,
  });
});

t.test('rejects an unknown format, and lists the known ones', async (t) => {
  // The compiler does not check values from a command line or a query.
  const format = 'png' as 'svg';
  await t.rejects(drawMachines({ format }), Invalid);
  await t.rejects(drawMachines({ format }), {
    message: "unknown format 'png': one of mermaid, json, svg",
  });
});

t.test('a large machine folds unless folding is specified', async (t) => {
  const draw = async (fold?: Parameters<typeof drawMachines>[0]['fold']) =>
    (await drawMachines({ format: 'svg', machine: 'run', fold }))[0]?.text ?? '';
  t.match(await draw(), 'data-fold="folded"');
  t.notMatch(await draw('nothing'), 'data-fold="folded"');
  t.match(await draw({ states: ['waiting'] }), /data-state="waiting" data-fold="folded"/);
  t.match(await draw({ depth: 1 }), /data-state="running" data-fold="folded"/);
});

t.test('states can be folded or marked only in a picture of one machine', async (t) => {
  const states = ['running'];
  await t.rejects(drawMachines({ format: 'svg', fold: { states } }), Invalid);
  await t.rejects(drawMachines({ format: 'svg', live: states }), Invalid);
  await t.rejects(drawMachines({ format: 'json', machine: 'run', fold: { depth: 1 } }), Invalid);
  await t.rejects(drawMachines({ format: 'json', machine: 'run', live: states }), Invalid);
  await t.rejects(drawMachines({ format: 'svg', machine: 'run', live: ['asleep'] }), NotFound);
  await t.rejects(drawMachines({ format: 'svg', machine: 'run', fold: { states: ['asleep'] } }), NotFound);
});

t.test('marks a live state in every kind of picture', async (t) => {
  const look = { machine: 'run', live: ['running.inferring'], fold: { depth: 1 } } as const;
  t.match(await drawMachines({ ...look, format: 'svg' }), [
    { text: /data-state="running"[^>]*class="live"/ },
  ]);
  t.match(await drawMachines({ ...look, format: 'mermaid' }), [{ text: /^ {2}class run__running live$/m }]);
});
