import { setMaxListeners } from 'node:events';
import t, { type Test } from 'tap';
import { when } from '../http/serve.ts';
import { createBroken } from './broken.ts';
import { settle } from './check.ts';
import { checkCounters, checkStreams } from './check-runs.ts';
import { checkInputs, checkThread } from './check-threads.ts';
import { type Client, createClient, textIn } from './client.ts';
import { type Gate, startGate } from './gate.ts';
import { createLedger, type Input, type Ledger } from './ledger.ts';
import { options } from './options.ts';
import { readThread, runsOf, type ThreadRecord } from './records.ts';
import { createService } from './service.ts';

/**
 * More threads are busy at once than the limit for idle actors (runtime.md 18.21), without any crash: every request
 * reaches the run of its thread, every stream ends, and the counters are exact.
 */

const { busyThreads } = options;

/** A stream that is still open after this time is considered hanging. */
const HANGS_MS = 30_000 + busyThreads * 200;

t.setTimeout(120_000 + busyThreads * 2000);

type Scene = {
  client: Client;
  gate: Gate;
  ledger: Ledger;
  threads: readonly string[];
  /** The ending of each run, by thread; settles when all streams have ended. */
  streams: Promise<(string | undefined)[]>;
  runIds: Map<string, string>;
};

let count = 0;

const said = (ledger: Ledger, thread: string, route: string): Input => {
  count += 1;
  const input: Input = {
    thread,
    mark: `[i${count}]`,
    route,
    outcome: 'open',
    status: undefined,
    run_id: undefined,
  };
  ledger.inputs.push(input);
  return input;
};

/** Opens one stream per thread, each on a run with this plan. */
const busy = async (prefix: string, plan: string, { client, gate }: Pick<Scene, 'client' | 'gate'>) => {
  const ledger = createLedger();
  const threads = Array.from({ length: busyThreads }, (_, index) => `${prefix}${index}`);
  const runIds = new Map<string, string>();
  const signal = AbortSignal.timeout(HANGS_MS);
  setMaxListeners(0, signal);
  const follow = async (thread: string): Promise<string | undefined> => {
    const input = said(ledger, thread, 'runs');
    const messages = [{ role: 'user', content: `${input.mark} ${plan}` }];
    let end: string | undefined;
    await client.follow({
      path: '/v1/runs',
      body: { agentId: 'planner', threadId: thread, messages },
      signal,
      head(status) {
        input.status = status;
        input.outcome = status === 200 ? 'acknowledged' : 'refused';
      },
      frame({ data }) {
        const run_id = textIn(data, 'run_id') ?? '';
        if (data.event_type === 'run_start') runIds.set(thread, run_id);
        if (data.event_type === 'run_finish') {
          end = textIn(data, 'termination', 'type');
          ledger.ends.push({ run_id, route: 'runs', type: end ?? '', reason: '' });
        }
        return true;
      },
    });
    return end;
  };
  const streams = Promise.all(threads.map(follow));
  return { client, gate, ledger, threads, streams, runIds };
};

const post = async (t: Test, { client }: Scene, path: string, body?: object): Promise<string | undefined> => {
  const answer = await client.ask('POST', path, body);
  if (answer?.status !== 202) t.fail(`POST ${path}: ${answer?.status} ${answer?.text}`);
  return textIn(answer?.body, 'accepted_run_id');
};

const sayTo = (t: Test, scene: Scene, mode: string): Promise<unknown> =>
  Promise.all(
    scene.threads.map(async (thread) => {
      const input = said(scene.ledger, thread, mode);
      const messages = [{ role: 'user', content: `${input.mark} talk 1` }];
      input.run_id = await post(t, scene, `/v1/threads/${thread}/messages`, { mode, messages });
      input.outcome = 'acknowledged';
    }),
  );

const check = async (t: Test, { client, ledger, threads }: Scene, runsOfEach: number): Promise<void> => {
  await settle(client);
  const broken = createBroken();
  const records = new Map<string, ThreadRecord>();
  for (const id of threads) records.set(id, await readThread(client, id));
  for (const record of records.values()) {
    checkThread(broken, record, 0);
    if (record.runs.length !== runsOfEach) t.fail(`${record.id} has ${record.runs.length} runs`);
  }
  checkInputs(broken, ledger, records);
  checkStreams(broken, ledger.ends, new Map((await runsOf(client)).map((run) => [run.run_id, run])));
  await checkCounters(broken, client, true);
  t.strictSame(broken.all(), []);
};

const allEnd = async (t: Test, scene: Scene, type: string): Promise<void> => {
  const ends = await scene.streams;
  const others = ends.flatMap((end, index) => (end === type ? [] : [`${scene.threads[index]}: ${end}`]));
  t.strictSame(others, [], `every stream ends with ${type}`);
};

t.test(`${busyThreads} busy threads`, async (t) => {
  const gate = await startGate(t);
  const service = await createService(t, {
    gate: gate.url,
    env: { SERVICE_MAX_CONCURRENT_REQUESTS: '1000', SERVICE_SHUTDOWN_TIMEOUT_MS: '0' },
  });
  await service.start();
  const room = { client: createClient(service.url), gate };
  const held = async (prefix: string): Promise<Scene> => {
    const scene = await busy(prefix, 'hold 2', room);
    const names = scene.ledger.inputs.map(({ mark }) => mark.slice(1, -1));
    await gate.until(busyThreads, new Set(names));
    // A run starts before it is durable, and its thread is not visible until then.
    await when(() => scene.runIds.size === busyThreads);
    return scene;
  };

  await t.test('cancelling each thread ends its run and its stream', async (t) => {
    const scene = await held('cancel-');
    await Promise.all(scene.threads.map((thread) => post(t, scene, `/v1/threads/${thread}/cancel`)));
    await allEnd(t, scene, 'cancelled');
    await check(t, scene, 1);
  });

  await t.test('interrupting each thread ends its run and its stream', async (t) => {
    const scene = await held('interrupt-');
    await Promise.all(scene.threads.map((thread) => post(t, scene, `/v1/threads/${thread}/interrupt`)));
    await allEnd(t, scene, 'cancelled');
    await check(t, scene, 1);
  });

  await t.test('interrupting input to each thread is executed in another run', async (t) => {
    const scene = await held('replace-');
    await sayTo(t, scene, 'interrupt_then_queue');
    await allEnd(t, scene, 'cancelled');
    await check(t, scene, 2);
  });

  await t.test('deciding for each thread continues its run', async (t) => {
    const scene = await busy('decide-', 'approve 2', room);
    await allEnd(t, scene, 'suspended');
    await Promise.all(
      scene.threads.map((thread, index) =>
        post(t, scene, `/v1/threads/${thread}/decision`, {
          toolCallId: `${scene.ledger.inputs[index]?.mark.slice(1, -1)}-0`,
          action: 'resume',
        }),
      ),
    );
    await check(t, scene, 1);
    t.equal(new Set(service.executed()).size, busyThreads, 'each call was executed');
    t.equal(service.executed().length, busyThreads, 'once');
  });

  // Both wait for the executing runs, so these are released; no run is held after that.
  await t.test('queued and steered input is executed once', async (t) => {
    const queued = await held('queue-');
    await sayTo(t, queued, 'queue');
    await sayTo(t, queued, 'steer');
    gate.open();
    await allEnd(t, queued, 'natural_end');
    await check(t, queued, 2);
    for (const [thread, run_id] of queued.runIds) {
      const steered = queued.ledger.inputs.find(
        (input) => input.thread === thread && input.route === 'steer',
      );
      if (steered?.run_id !== run_id) t.fail(`${thread}: steered into ${steered?.run_id}, not ${run_id}`);
    }
  });
  await service.stop();
});
