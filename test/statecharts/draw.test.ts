import t from 'tap';
import { machines } from '../../machines/index.ts';
import { Invalid, NotFound } from '../../src/schema/outcome.ts';
import { MachineDescription } from '../../src/statecharts/description.ts';
import { drawMachines } from '../../src/statecharts/draw.ts';
import { laidOutAnew } from './kept-layouts.ts';

t.test('without a name every machine is drawn, in the order of the catalogue', async (t) => {
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

t.test('SVG is SVG', async (t) => {
  t.match(await drawMachines({ format: 'svg', machine: 'dispatch' }), [{ text: /^<svg / }]);
});

t.test('the same machine gives the same text', async (t) => {
  for (const format of ['mermaid', 'json', 'svg'] as const) {
    const draw = () => drawMachines({ format, machine: 'run' });
    t.same(await laidOutAnew(draw), await draw());
  }
});

t.test('an unknown machine is refused with the names of those that exist', async (t) => {
  await t.rejects(drawMachines({ format: 'svg', machine: 'toaster' }), NotFound);
  await t.rejects(drawMachines({ format: 'svg', machine: 'toaster' }), {
    message: `unknown machine 'toaster': one of ${Object.keys(machines).join(', ')}`,
  });
});

t.test('an unknown format is refused with the names of those that exist', async (t) => {
  // What a command line or a query hands over is not checked by the compiler.
  const format = 'png' as 'svg';
  await t.rejects(drawMachines({ format }), Invalid);
  await t.rejects(drawMachines({ format }), {
    message: "unknown format 'png': one of mermaid, json, svg",
  });
});

t.test('a large machine folds unless somebody says what folds', async (t) => {
  const draw = async (fold?: Parameters<typeof drawMachines>[0]['fold']) =>
    (await drawMachines({ format: 'svg', machine: 'run', fold }))[0]?.text ?? '';
  t.match(await draw(), 'data-fold="folded"');
  t.notMatch(await draw('nothing'), 'data-fold="folded"');
  t.match(await draw({ states: ['waiting'] }), /data-state="waiting" data-fold="folded"/);
  t.match(await draw({ depth: 1 }), /data-state="running" data-fold="folded"/);
});

t.test('states are folded or marked in a picture of one machine only', async (t) => {
  const states = ['running'];
  await t.rejects(drawMachines({ format: 'svg', fold: { states } }), Invalid);
  await t.rejects(drawMachines({ format: 'svg', live: states }), Invalid);
  await t.rejects(drawMachines({ format: 'json', machine: 'run', fold: { depth: 1 } }), Invalid);
  await t.rejects(drawMachines({ format: 'json', machine: 'run', live: states }), Invalid);
  await t.rejects(drawMachines({ format: 'svg', machine: 'run', live: ['asleep'] }), NotFound);
  await t.rejects(drawMachines({ format: 'svg', machine: 'run', fold: { states: ['asleep'] } }), NotFound);
});

t.test('a live state is marked in every kind of picture', async (t) => {
  const look = { machine: 'run', live: ['running.inferring'], fold: { depth: 1 } } as const;
  t.match(await drawMachines({ ...look, format: 'svg' }), [
    { text: /data-state="running"[^>]*class="live"/ },
  ]);
  t.match(await drawMachines({ ...look, format: 'mermaid' }), [{ text: /^ {2}class run__running live$/m }]);
});
