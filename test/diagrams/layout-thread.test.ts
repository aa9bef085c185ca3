import t from 'tap';
import { machines } from '../../machines/index.ts';
import { chartLevels } from '../../src/diagrams/chart.ts';
import { describeMachine } from '../../src/diagrams/describe.ts';
import { layoutInThread } from '../../src/diagrams/layout-thread.ts';

/** Machines of other programs, laid out in a separate thread. */

const PATIENCE_MS = 60_000;

t.test('a chart is the same wherever it is laid out', async (t) => {
  const dispatch = describeMachine('dispatch', machines.dispatch);
  const there = await layoutInThread((engine) => chartLevels(dispatch, engine), PATIENCE_MS);
  t.strictSame(there, await chartLevels(dispatch));
});

t.test('stops a layout that takes too long, and reports why a layout fails', async (t) => {
  await t.rejects(
    layoutInThread(() => new Promise(() => {}), 50),
    /longer than 0\.05 seconds/,
  );
  const lost = { id: 'root', children: [], edges: [{ id: 'e', sources: ['a'], targets: ['b'] }] };
  await t.rejects(
    layoutInThread((engine) => engine(lost), PATIENCE_MS),
    /a/,
  );
});
