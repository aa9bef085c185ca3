import type { Test } from 'tap';
import { createIds } from '../../src/composition/ids.ts';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { createRegistry } from '../../src/configuration/registry.ts';
import { createLog } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics/metrics.ts';
import { createObserver } from '../../src/observability/observer.ts';
import { nativeProtocol } from '../../src/protocols/native/encoder.ts';
import { createRuntime, type Submission } from '../../src/runtime/index.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import type { Message } from '../../src/schema/message.ts';
import { textOf } from '../../src/schema/message.ts';
import type { Run } from '../../src/schema/run.ts';
import type { RunEvent, RunEventOf } from '../../src/schema/run-event.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import { openStore } from '../../src/store/index.ts';
import { createCatalogue } from '../../src/tools/catalogue.ts';
import type { RemoteAgent, RemoteOutcome, RemoteTask, RemoteTurn } from '../../src/tools/remote-agent.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { plainRoutes } from '../configuration/routes.ts';
import { type Deferred, defer } from '../http/serve.ts';
import { NO_TRANSPORT } from '../models/create-provider.ts';
import { NO_SUB_AGENTS } from '../tools/sub-agents.ts';

/**
 * The runtime on a real store, with an agent `far` that a test controls: it receives each turn and returns what the
 * remote service would.
 */

/** A turn that was requested and has not ended. */
export type Asked = {
  turn: RemoteTurn;
  /** Ends the turn. */
  comesTo(outcome: RemoteOutcome): void;
  fails(message: string): void;
};

export type Far = {
  remote: RemoteAgent;
  /** The next requested turn. */
  asked(): Promise<Asked>;
  /** All turns so far. */
  turns: RemoteTurn[];
  /** The ids of cancelled tasks; `signal` for those whose turn was aborted. */
  stopped: string[];
  /** The number of aborted turns. */
  left(): number;
};

export const createFar = (key = 'a2a:http://far.example'): Far => {
  const waiting: Asked[] = [];
  const hearing: Deferred<Asked>[] = [];
  const turns: RemoteTurn[] = [];
  const stopped: string[] = [];
  let left = 0;
  const remote: RemoteAgent = {
    key,
    converse(turn) {
      const end = defer<RemoteOutcome | Error>();
      turns.push(turn);
      const asked: Asked = {
        turn,
        comesTo: end.resolve,
        fails: (message) => end.resolve(new Error(message)),
      };
      turn.signal.addEventListener('abort', () => {
        stopped.push('signal');
        end.resolve({ status: 'cancelled', text: '', output: {} });
      });
      turn.leave?.addEventListener('abort', () => {
        left += 1;
        end.resolve(new Error('left'));
      });
      const hears = hearing.shift();
      if (hears) hears.resolve(asked);
      else waiting.push(asked);
      return end.promise.then((outcome) => {
        if (outcome instanceof Error) throw outcome;
        return outcome;
      });
    },
    async cancel(task_id) {
      stopped.push(task_id);
    },
  };
  return {
    remote,
    turns,
    stopped,
    left: () => left,
    asked() {
      const next = waiting.shift();
      if (next) return Promise.resolve(next);
      const hears = defer<Asked>();
      hearing.push(hears);
      return hears.promise;
    },
  };
};

export const TASK: RemoteTask = { task_id: 'task-1', context_id: 'context-1' };

/** The outcome of a completed task. */
export const completed = (text: string, task: RemoteTask = TASK): RemoteOutcome => ({
  task,
  text,
  output: { text, raw: { id: 'task-1' } },
  status: 'completed',
});

type Options = { agents?: object[]; tools?: readonly Tool[] };

export const startOffice = async (t: Test, far: Far, { agents = [], tools = [] }: Options = {}) => {
  const dir = t.testdir();
  const start = async () => {
    const store = await openStore({ dir, durability: 'process' });
    const { resolve } = createRegistry({
      records: {
        ...NO_RECORDS,
        providers: [{ id: 'scripted', adapter: 'scripted' }],
        models: [{ id: 'm', provider_id: 'scripted', upstream_model: 'm' }],
        agents: [
          { id: 'far', endpoint: { base_url: 'http://far.example' } },
          { id: 'here', model_id: 'm' },
          ...agents,
        ].map((agent) => AgentSpec.parse(agent)),
      },
      providers: [],
      catalogue: createCatalogue([...tools]),
      plugins: [],
      routes: plainRoutes,
      subAgents: NO_SUB_AGENTS,
      remoteAgents: () => far.remote,
      env: {},
      transport: NO_TRANSPORT,
      resolution_id: '1',
    });
    const runtime = createRuntime({
      store,
      events: { appended() {} },
      actors: { began: () => () => {} },
      clock: { now: Date.now },
      ids: createIds(),
      settings: settingsFrom({}),
      observe: createObserver({ metrics: createMetrics(), stats: undefined }),
      log: createLog({ level: 'silent' }),
      resolve,
      worker: 'test',
    });
    return { store, resolve, runtime };
  };
  let now = await start();
  const stop = async (): Promise<void> => {
    await now.runtime.stop(0);
    await now.store.close();
  };
  t.teardown(stop);

  /** Resolves when the input is durable. */
  const submit = async (text: string, more: Partial<Submission> = {}) => {
    const frames: string[] = [];
    const end = defer<void>();
    const agent = now.resolve('far');
    const accepted = await now.runtime.submit('default', 'T', {
      mode: 'foreground',
      named: true,
      agent,
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      origin: 'user',
      adapter: 'internal',
      attach: (channel) => {
        channel.attach(nativeProtocol, { write: (frame) => frames.push(frame), end: () => end.resolve() });
      },
      ...more,
    });
    return {
      ...accepted,
      /** All events of the stream, once it has ended. */
      async events(): Promise<RunEvent[]> {
        await end.promise;
        return eventsIn(frames);
      },
      soFar: () => eventsIn(frames),
    };
  };

  const run = (run_id: string): Run => {
    const found = now.store.runs.get('default', run_id);
    if (!found) throw new Error(`no run ${run_id}`);
    return found;
  };

  return {
    submit,
    run,
    runs: (): Run[] => now.store.runs.list('default', { thread_id: 'T' }, { offset: 0, limit: 100 }).items,
    dispatches: () => [...now.store.dispatches.listByThread('default', 'T', { offset: 0, limit: 100 })],
    /** The messages of the thread as `role: text`. */
    texts: (): string[] => messagesOf(now.store).map(({ role, content }) => `${role}: ${textOf(content)}`),
    get runtime() {
      return now.runtime;
    },
    resolve: (id: string) => now.resolve(id),
    /** Resolves once the run matches. */
    async until(run_id: string, holds: (run: Run) => boolean): Promise<Run> {
      for (let tries = 0; ; tries += 1) {
        const found = run(run_id);
        if (holds(found)) return found;
        if (tries > 2000) throw new Error(`it never held: ${JSON.stringify(found)}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
    /** Simulates a crash at the first commit of `act`: this process writes nothing after it. */
    async die(act: () => Promise<unknown>): Promise<void> {
      const { commit } = now.store;
      let left = 1;
      now.store.commit = (...args) => {
        left -= 1;
        return left >= 0 ? commit(...args) : new Promise(() => {});
      };
      await act();
      // Not awaited: the commits that it waits for never complete.
      now.runtime.stop(0);
      await now.store.close();
      now = await start();
      now.runtime.recover();
    },
    async restart(): Promise<void> {
      await stop();
      now = await start();
      now.runtime.recover();
    },
  };
};

const messagesOf = (store: Awaited<ReturnType<typeof openStore>>): Message[] =>
  Array.from(store.messages.range('default', 'T', {}), ({ message }) => message);

const eventsIn = (frames: readonly string[]): RunEvent[] =>
  frames
    .join('')
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => JSON.parse(frame.slice(6)));

/** The types of the events, in order. */
export const kindsOf = (events: readonly RunEvent[]): string[] => events.map(({ event_type }) => event_type);

export const finishIn = (events: readonly RunEvent[]): RunEventOf<'run_finish'> => {
  const last = events.at(-1);
  if (last?.event_type !== 'run_finish') throw new Error(`the stream ends with ${JSON.stringify(last)}`);
  return last;
};

export const isDone = ({ status }: Run): boolean => status === 'done';
export const isWaiting = ({ status }: Run): boolean => status === 'waiting';

/** The stored handle of the task. */
export const handleIn = ({ state }: Run): unknown => {
  const stored = JSON.parse(JSON.stringify(state?.extensions.__runtime_remote_backend ?? null));
  return stored?.targets['a2a:http://far.example'];
};

export const saidIn = ({ say }: RemoteTurn): string => textOf(say?.content ?? []);
