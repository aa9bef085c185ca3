import t, { type Test } from 'tap';
import { createIds } from '../../src/ids.ts';
import { nativeProtocol } from '../../src/protocols/native/encoder.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { Unavailable } from '../../src/schema/outcome.ts';
import { settingsFrom } from '../../src/settings.ts';
import { openStore } from '../../src/store/index.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createCatalogue } from '../../src/tools/catalogue.ts';

/** A real store whose commits fail when the test says so, as they do on a full disk. */

const FULL = 'the disk is full';

const startRuntime = async (t: Test) => {
  const real = await openStore({ dir: t.testdir(), durability: 'process' });
  t.teardown(() => real.close());
  let left = Number.POSITIVE_INFINITY;
  const store = {
    ...real,
    commit: (...args: Parameters<typeof real.commit>) => {
      left -= 1;
      return left < 0 ? Promise.reject(new Unavailable(FULL)) : real.commit(...args);
    },
  };
  const { resolve } = createRegistry({
    records: {
      providers: [{ id: 'scripted', adapter: 'scripted' }],
      models: [{ id: 'm', provider_id: 'scripted', upstream_model: 'm' }],
      agents: [AgentSpec.parse({ id: 'a', model_id: 'm' })],
    },
    providers: [],
    catalogue: createCatalogue([]),
    env: {},
    resolution_id: '1',
  });
  const runtime = createRuntime({
    store,
    clock: { now: Date.now },
    ids: createIds(),
    settings: settingsFrom({}),
    observe: createMetrics(),
    log: createLog({ level: 'silent' }),
    resolve,
    worker: 'test',
  });
  const submit = (text: string) => {
    let frames = '';
    let ended = () => {};
    const end = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const accepted = runtime.submitForeground('default', 'T', {
      agent: resolve('a'),
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      origin: 'user',
      adapter: 'internal',
      attach: (channel) => {
        channel.attach(nativeProtocol, {
          write: (text) => {
            frames += text;
          },
          end: ended,
        });
      },
    });
    return { accepted, end, frames: () => frames };
  };
  return {
    store: real,
    submit,
    /** So many commits succeed from now on, then they fail. */
    allow: (commits: number) => {
      left = commits;
    },
  };
};

t.test('input whose commit fails is refused, nothing of it is seen, and the thread goes on', async (t) => {
  const { store, submit, allow } = await startRuntime(t);
  allow(0);
  const refused = submit('lost');
  await t.rejects(refused.accepted, { message: FULL });
  t.equal(refused.frames(), '', 'no reader sees a run that was not accepted');
  t.equal(store.threads.get('default', 'T'), undefined);

  allow(Number.POSITIVE_INFINITY);
  const next = submit('kept');
  await next.accepted;
  await next.end;
  t.match(next.frames(), 'Scripted response to: kept');
  t.strictSame(
    Array.from(store.messages.range('default', 'T', {}), ({ seq, message }) => [seq, message.role]),
    [
      [1, 'user'],
      [2, 'assistant'],
    ],
  );
});

t.test(
  'a run whose end cannot be written ends its stream with an error, and is taken up again',
  async (t) => {
    const { store, submit, allow } = await startRuntime(t);
    allow(1);
    const first = submit('first');
    const { run_id } = await first.accepted;
    await first.end;
    const finishes = first.frames().match(/"run_finish"/g) ?? [];
    t.equal(finishes.length, 1);
    t.match(first.frames(), /"run_finish".*"termination":\{"type":"error"/);
    t.equal(store.runs.get('default', run_id)?.status, 'running');

    allow(Number.POSITIVE_INFINITY);
    const second = submit('second');
    await second.accepted;
    await second.end;
    t.match(store.runs.get('default', run_id), { status: 'done', termination_reason: { type: 'cancelled' } });
    t.match(second.frames(), 'Scripted response to: second');
  },
);
