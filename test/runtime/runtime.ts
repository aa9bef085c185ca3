import type { Test } from 'tap';
import { createIds } from '../../src/composition/ids.ts';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { createRegistry } from '../../src/configuration/registry.ts';
import { type ActorName, nameOf } from '../../src/inspection/name.ts';
import type { Provider } from '../../src/models/model.ts';
import { createLog } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics/metrics.ts';
import { createObserver } from '../../src/observability/observer.ts';
import { nativeProtocol } from '../../src/protocols/native/encoder.ts';
import { createRuntime, type Submission } from '../../src/runtime/index.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { Unavailable } from '../../src/schema/outcome.ts';
import { type SettingsInput, settingsFrom } from '../../src/settings/index.ts';
import { openStore } from '../../src/store/index.ts';
import { createCatalogue } from '../../src/tools/catalogue.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { plainRoutes } from '../configuration/routes.ts';
import { type Deferred, defer, settle } from '../http/serve.ts';
import { NO_TRANSPORT } from '../models/create-provider.ts';
import { unwritable } from '../store/unwritable.ts';
import { NO_SUB_AGENTS } from '../tools/sub-agents.ts';

/** The runtime on a real store, without HTTP. The test makes commits fail as they do on a full disk. */

export const FULL = 'the disk is full';

type Options = {
  provider?: Provider;
  settings?: SettingsInput;
  tools?: readonly Tool[];
  now?: () => number;
  /** A clock that is never set; without it, `now` is not set either. */
  monotonic?: () => number;
  /** The data directory of an earlier process; default: a new one. */
  dir?: string;
  /** Called with the event log; may throw. */
  appended?: () => void;
  /** Receives the errors from the log. */
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
    log: errors
      ? { ...silent, info() {}, warn() {}, error: (_: string, fields = {}) => errors.push(fields) }
      : silent,
    resolve,
    worker: ids.uuid(),
  });
  let ended: Promise<void> | undefined;
  /** Stops gracefully. */
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
    /** Common properties of the inputs in these tests. */
    input: (text: string): Omit<Submission, 'mode'> => ({
      named: true,
      agent: resolve('a'),
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      origin: 'user',
      adapter: 'internal',
    }),
    submit,
    /** The number of failed commits. */
    refusals: () => refusals,
    /** Lets this many commits succeed, and fails later ones. */
    allow: (commits: number) => {
      left = commits;
    },
    /**
     * Fails the commit with this number, counted from 1, and those queued behind it: only once, or every commit until
     * the store is restored.
     */
    failAt: (number: number, how: 'once' | 'from then on') => {
      untilFailure = number;
      failsOnce = how === 'once';
    },
    restore: async () => {
      untilFailure = Number.POSITIVE_INFINITY;
      // A failing commit also fails those queued behind it, and those of the same tick.
      await Promise.all(failing);
      await settle();
      await real.check();
      for (const listener of whenRestored) listener();
    },
    /** The event types that machines have received. */
    met: (): string[] => [...met].sort(),
    /** The live machines of this name. */
    machines: (name: ActorName['machine']): string[] =>
      [...live].flatMap(({ machine, id }) => (machine === name ? [id] : [])),
    /** Delays the commit with this number, counted from 1, and those after it. Resolves when it is requested. */
    holdCommit: (number: number): Promise<void> => {
      untilHeld = number;
      reached = defer();
      return reached.promise;
    },
    isHeld: () => held !== undefined,
    /** Releases the delayed commits. */
    goOn: () => {
      untilHeld = Number.POSITIVE_INFINITY;
      held?.resolve();
      held = undefined;
    },
  };
};
