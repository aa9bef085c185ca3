import t from 'tap';
import { settle, turn } from '../http/serve.ts';
import { LONG } from '../long.ts';
import fc from '../random.ts';
import { event } from '../store/records.ts';
import { createReader, startFeed, type TestReader } from './reader.ts';

/** Each reader receives its log for any order of commits, announcements, stalls and drains. */

/** FEED_RUNS raises the number of sequences. */
const RUNS = Number(process.env.FEED_RUNS ?? (LONG ? 2000 : 60));

const step = fc.oneof(
  fc.record({
    do: fc.constant('commit' as const),
    count: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 500, max: 1100 })),
    run_id: fc.constantFrom(undefined, 'r1', 'r2'),
  }),
  fc.record({ do: fc.constant('tell' as const), which: fc.nat(4) }),
  fc.record({ do: fc.constant('follow' as const), run: fc.boolean(), fromStart: fc.boolean() }),
  fc.record({ do: fc.constant('stall' as const), which: fc.nat(4) }),
  fc.record({ do: fc.constant('drain' as const), which: fc.nat(4) }),
  fc.record({ do: fc.constant('close' as const), which: fc.nat(4) }),
  fc.record({ do: fc.constant('turn' as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

type Watch = { reader: TestReader; run: boolean; after: number; closed: boolean };

t.test('sends every event after its start to a reader once and in order', async (t) => {
  const { feed, store, commit } = await startFeed(t);
  let rounds = 0;

  const play = async (steps: readonly Step[]): Promise<void> => {
    rounds += 1;
    const scope = `scope ${rounds}`;
    const logged: { id: string; run_id: string | undefined }[] = [];
    const untold: (() => void)[] = [];
    const watches: Watch[] = [];

    const acts: { [Name in Step['do']]: (step: Extract<Step, { do: Name }>) => Promise<void> | void } = {
      async commit({ count, run_id }) {
        const events = Array.from({ length: count }, (_, index) =>
          event(`e${logged.length + index}`, run_id),
        );
        logged.push(...events.map(({ event_id }) => ({ id: event_id, run_id })));
        untold.push(await commit(events, { scope }));
      },
      tell: ({ which }) => untold.splice(which, 1)[0]?.(),
      follow({ run, fromStart }) {
        const by = run ? { run_id: 'r1' } : { thread_id: 't1' };
        const first = fromStart ? feed.list(scope, by, undefined, 1).items[0] : undefined;
        const reader = createReader();
        feed.follow(scope, by, first?.cursors_by_scope[0]?.cursor ?? feed.end(scope, by), reader);
        const start = first ? Number(first.event_id.slice(1)) + 1 : store.events.last(scope, 't1');
        watches.push({ reader, run, after: start, closed: false });
      },
      stall({ which }) {
        const watch = watches[which];
        if (watch) watch.reader.stalled = true;
      },
      drain: ({ which }) => watches[which]?.reader.drain(),
      close({ which }) {
        const watch = watches[which];
        if (!watch || watch.closed) return;
        watch.closed = true;
        watch.reader.close();
      },
      turn,
    };
    // The table has one act for the name of each step.
    for (const step of steps) await (acts[step.do] as (step: Step) => Promise<void> | void)(step);
    while (untold.length > 0) untold.pop()?.();
    for (const { reader } of watches) reader.drain();
    await settle();
    await settle();

    for (const { reader, run, after, closed } of watches) {
      const all = logged.slice(after).filter(({ run_id }) => !run || run_id === 'r1');
      const expected = all.map(({ id }) => id).slice(0, closed ? reader.seen().length : undefined);
      if (reader.seen().join() !== expected.join()) {
        throw new Error(
          `saw ${reader.seen().length} of ${expected.length}: ${reader.seen().join().slice(0, 200)}`,
        );
      }
    }
  };

  const scenario = fc.array(step, { minLength: 5, maxLength: 40 });
  await fc.assert(fc.asyncProperty(scenario, play), { numRuns: RUNS });
  t.ok(rounds >= RUNS);
});
