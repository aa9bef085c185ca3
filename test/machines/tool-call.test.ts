import t from 'tap';
import { toolCallMachine } from '../../machines/index.ts';
import { pathOf, untaken, walk } from './walk.ts';

const EVENTS = ['START', 'RETURN', 'SUSPEND', 'RESUME', 'SUCCEED', 'FAIL', 'CANCEL'].map((type) => ({
  type,
}));
const ENDS = ['cancelled', 'failed', 'succeeded'];

/** runtime.md 7.2. */
const TABLE = {
  new: ['cancelled', 'failed', 'running', 'succeeded', 'suspended'],
  running: ['cancelled', 'failed', 'returned', 'succeeded', 'suspended'],
  returned: ['cancelled', 'failed', 'succeeded'],
  suspended: ['cancelled', 'resuming'],
  resuming: ['cancelled', 'failed', 'running', 'succeeded', 'suspended'],
};

t.test('moves between states exactly as its table defines', async (t) => {
  const { edges } = await walk(toolCallMachine, { events: EVENTS });
  const moves = Object.fromEntries(
    Object.keys(TABLE).map((state) => [
      state,
      [
        ...new Set(
          edges
            .filter(({ from, taken }) => pathOf(from) === state && taken.length > 0)
            .map(({ to }) => pathOf(to)),
        ),
      ].sort(),
    ]),
  );
  t.same(moves, TABLE);
});

t.test('ignores an event that a state does not accept', async (t) => {
  const { edges } = await walk(toolCallMachine, { events: EVENTS });
  const ignored = edges.filter(({ taken }) => taken.length === 0);
  t.ok(ignored.length > 0);
  for (const { from, to } of ignored) t.equal(pathOf(to), pathOf(from));
});

t.test('never leaves a settled state', async (t) => {
  const { edges } = await walk(toolCallMachine, { events: EVENTS });
  const ended = edges.filter(({ to }) => to.status === 'done');
  t.same([...new Set(ended.map(({ to }) => pathOf(to)))].sort(), ENDS);
  for (const { late } of ended) t.same(late, []);
});

t.test('covers every transition of the machine', async (t) => {
  const walked = await walk(toolCallMachine, { events: EVENTS });
  t.same(untaken(walked.description, [walked]), []);
});
