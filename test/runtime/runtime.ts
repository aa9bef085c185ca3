import type { Test } from 'tap';
import { createIds } from '../../src/ids.ts';
import { type ActorName, nameOf } from '../../src/inspection/name.ts';
import type { Provider } from '../../src/models/model.ts';
import { nativeProtocol } from '../../src/protocols/native/encoder.ts';
import { NO_RECORDS } from '../../src/registry/records.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { createRuntime, type Submission } from '../../src/runtime/index.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { Unavailable } from '../../src/schema/outcome.ts';
import { type SettingsInput, settingsFrom } from '../../src/settings.ts';
import { openStore } from '../../src/store/index.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createObserver } from '../../src/telemetry/observer.ts';
import { createCatalogue } from '../../src/tools/catalogue.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { type Deferred, defer, settle } from '../http/serve.ts';
import { NO_TRANSPORT } from '../models/create-provider.ts';
import { plainRoutes } from '../registry/routes.ts';
import { unwritable } from '../store/unwritable.ts';
import { NO_SUB_AGENTS } from '../tools/sub-agents.ts';

/** The runtime on a real store, without HTTP. Commits fail when the test says so, as they do on a full disk. */

export const FULL = 'the disk is full';

type Options = {
  provider?: Provider;
  settings?: SettingsInput;
  tools?: readonly Tool[];
  now?: () => number;
  /** For a clock that is never set; without it, `now` is not set either. */
  monotonic?: () => number;
  /** Of an earlier process; without, a new one. */
  dir?: string;
  /** Listens to the event log, and may fail. */
  appended?: () => void;
  /** Gets what the log says of errors. */
  errors?: object[];
};

export type TestRuntime = Awaited<ReturnType<typeof startRuntime>>;

export const startRuntime = async (t: Test, options: Options = {}) => {
  const { provider, settings = {}, tools = [], dir = t.testdir(), appended = () => {}, errors } = options;
  const { now = Date.now, monotonic } = options;
  const silent = createLog({ level: 'silent' });
  const real = await openStore({ dir, durability: 'process' });
  const ids = createIds();
  let left = Number.POSITIVE_INFINITY;
  let refusals = 0;
  let untilHeld = Number.POSITIVE_INFINITY;
  let held: Deferred<void> | undefined;
  let reached: Deferred<void> = defer();
  let untilFailure = Number.POSITIVE_INFINITY;
  let failsOnce = true;
  const failing = new Set<Promise<unknown>>();
  const whenRestored = new Set<() => void>();
  const live = new Set<ActorName>();
  const met = new Set<string>();
  const isFull = (): boolean => untilFailure <= 0 && !failsOnce;
  const store = {
    ...real,
    get writable() {
      return real.writable && !isFull();
    },
    onRecovered: (listener: () => void) => {
      whenRestored.add(listener);
      const forget = real.onRecovered(() => {
        if (!isFull()) listener();
      });
      return () => {
        whenRestored.delete(listener);
        forget();
      };
    },
    commit: (...args: Parameters<typeof real.commit>) => {
      untilFailure -= 1;
      if (untilFailure === 0 || isFull()) {
        refusals += 1;
        const refused = real.commit(unwritable(args[0]), args[1]);
        const over: Promise<unknown> = refused.catch(() => {}).then(() => failing.delete(over));
        failing.add(over);
        return refused;
      }
      left -= 1;
      if (left < 0) {
        refusals += 1;
        return Promise.reject(new Unavailable(FULL));
      }
      untilHeld -= 1;
      if (untilHeld === 0) held = defer();
      if (!held) return real.commit(...args);
      reached.resolve();
      const { promise } = held;
      return real.commit(...args).then(() => promise);
    },
  };
  const { resolve } = createRegistry({
    records: {
      ...NO_RECORDS,
      providers: [{ id: 'scripted', adapter: 'scripted' }],
      models: [{ id: 'm', provider_id: provider?.id ?? 'scripted', upstream_model: 'm' }],
      agents: [AgentSpec.parse({ id: 'a', model_id: 'm' })],
    },
    providers: provider ? [provider] : [],
    catalogue: createCatalogue([...tools]),
    plugins: [],
    routes: plainRoutes,
    subAgents: NO_SUB_AGENTS,
    env: {},
    transport: NO_TRANSPORT,
    resolution_id: '1',
  });
  const runtime = createRuntime({
    store,
    events: { appended },
    actors: {
      began(actor, scope, of) {
        const name = nameOf(actor, scope, of);
        live.add(name);
        actor.system.inspect((seen) => {
          if (seen.type === '@xstate.event') met.add(seen.event.type);
        });
        return () => live.delete(name);
      },
    },
    clock: { now, ...(monotonic && { monotonic }) },
    ids,
    settings: settingsFrom(settings),
    observe: createObserver({ metrics: createMetrics(), stats: undefined }),
    log: errors ? { ...silent, info() {}, warn() {}, error: (line: object) => errors.push(line) } : silent,
    resolve,
    worker: ids.uuid(),
  });
  let ended: Promise<void> | undefined;
  /** As the process ends in good order. */
  const stop = (): Promise<void> => {
    ended ??= runtime.stop(0).then(() => real.close());
    return ended;
  };
  t.teardown(stop);
  const submit = (text: string, thread = 'T', mode: Submission['mode'] = 'foreground') => {
    let frames = '';
    let ended = () => {};
    const end = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const accepted = runtime.submit('default', thread, {
      mode,
      named: true,
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
    dir,
    store: real,
    runtime,
    stop,
    /** What every input of these tests has. */
    input: (text: string): Omit<Submission, 'mode'> => ({
      named: true,
      agent: resolve('a'),
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      origin: 'user',
      adapter: 'internal',
    }),
    submit,
    /** How many commits have failed. */
    refusals: () => refusals,
    /** So many commits succeed from now on, then they fail. */
    allow: (commits: number) => {
      left = commits;
    },
    /**
     * The commit with this number, from 1 on, fails in the store, with what waits behind it: and nothing else, or
     * everything from then on until the store is restored.
     */
    failAt: (number: number, how: 'once' | 'from then on') => {
      untilFailure = number;
      failsOnce = how === 'once';
    },
    restore: async () => {
      untilFailure = Number.POSITIVE_INFINITY;
      // What fails still takes with it what waits behind it, and what comes in the same turn.
      await Promise.all(failing);
      await settle();
      await real.check();
      for (const listener of whenRestored) listener();
    },
    /** The types of the events that machines have met. */
    met: (): string[] => [...met].sort(),
    /** The machines that have begun and are not gone. */
    machines: (name: ActorName['machine']): string[] =>
      [...live].flatMap(({ machine, id }) => (machine === name ? [id] : [])),
    /** The commit with this number, from 1 on, and those behind it are not answered. Resolves when it is asked for. */
    holdCommit: (number: number): Promise<void> => {
      untilHeld = number;
      reached = defer();
      return reached.promise;
    },
    isHeld: () => held !== undefined,
    /** They are answered. */
    goOn: () => {
      untilHeld = Number.POSITIVE_INFINITY;
      held?.resolve();
      held = undefined;
    },
  };
};
