import t, { type Test } from 'tap';
import { createLegs } from '../../../src/protocols/openai/legs.ts';
import { announceLeg } from '../../../src/protocols/openai/open-leg.ts';
import { Activation } from '../../../src/schema/activation.ts';
import type { RunRecord } from '../../../src/schema/run-state.ts';
import { storeFor } from '../../store/open.ts';
import { run } from '../../store/records.ts';

/** Reads of stored legs by the commits of runs. */

const activation = Activation.parse({
  intent: { agent_id: 'default', thread_id: 't1', kind: { kind: 'new_intent' } },
  options: {},
  trace: { origin: 'user', adapter: 'openai', run_mode: 'foreground' },
});

const started = async (t: Test) => {
  const store = await storeFor(t);
  const { responses } = store;
  let reads = 0;
  const legs = createLegs({
    store: {
      ...store,
      responses: {
        ...responses,
        ofRun(...about) {
          reads += 1;
          return responses.ofRun(...about);
        },
      },
    },
    clock: { now: () => 1_765_000_400_000 },
    log: { warn: () => t.fail('no leg fails') },
    legEnded() {},
  });
  const batch = store.batch({ scope: 's', thread_id: 't1' });
  return {
    write: (after: RunRecord, before: RunRecord | undefined) =>
      legs.onRunWritten('s', { after, before, batch, at: 0, seq: 1 }),
    begin: (record: RunRecord) =>
      legs.begin(batch, 's', {
        run: record,
        isFirst: true,
        row: { from_seq: 0, echo: { model: 'default' }, inputs: [] },
      }),
    find: (record: RunRecord) => responses.ofRun('s', record),
    reads: () => reads,
    commit: () => store.commit(batch),
  };
};

const records = (): [RunRecord, RunRecord, RunRecord] => {
  const first = run('r1', { activation });
  return [first, { ...first, steps: 1 }, { ...first, steps: 2 }];
};

t.test('reads no stored legs for a run that this process has started without one', async (t) => {
  const { write, reads } = await started(t);
  const [first, second, third] = records();
  write(first, undefined);
  write(second, first);
  write(third, second);
  t.equal(reads(), 0);
});

t.test('reads the stored legs of a run of an earlier process once', async (t) => {
  const { write, reads } = await started(t);
  const [first, second, third] = records();
  write(second, first);
  t.equal(reads(), 1);
  write(third, second);
  t.equal(reads(), 1);
});

t.test('writes the leg of a response that begins in the commit of its run', async (t) => {
  const { write, begin, find, reads, commit } = await started(t);
  const [first, second] = records();
  write(first, undefined);
  const leg = begin(first);
  announceLeg(leg);
  write(second, first);
  await commit();
  t.match(find(first), [{ leg: 1, next: 2 }]);
  t.equal(reads(), 0);
});
