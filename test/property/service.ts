import { NO_RECORDS } from '../../src/configuration/records.ts';
import { createRegistry } from '../../src/configuration/registry.ts';
import { createEventFeed, type EventFeed } from '../../src/events/feed.ts';
import type { RuntimeDeps } from '../../src/runtime/deps.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import type { LoggedEvent } from '../../src/schema/canonical-event.ts';
import { Unavailable } from '../../src/schema/outcome.ts';
import type { Run } from '../../src/schema/run.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import type { Store } from '../../src/store/index.ts';
import { createCatalogue } from '../../src/tools/catalogue.ts';
import { plainRoutes } from '../configuration/routes.ts';
import { NO_TRANSPORT } from '../models/create-provider.ts';
import { NO_SUB_AGENTS } from '../tools/sub-agents.ts';
import { type GatedStore, gateStore } from './gated-store.ts';
import type { Steered } from './steered.ts';
import { watchStates } from './stored-states.ts';
import type { VirtualTime } from './time.ts';

/** One life of the service, from its start to a crash or a stop. All lives of a sequence share one store. */

export type Life = {
  runtime: Runtime;
  feed: EventFeed;
  gated: GatedStore;
  /** The value of the gauge of queued work. */
  queued(): number;
  /** Whether the work of the previous process has been recovered. */
  recovered(): boolean;
};

/** Shared state of all lives of a sequence. */
export type Ground = {
  store: Store;
  scope: string;
  time: VirtualTime;
  steered: Steered;
  resolve: RuntimeDeps['resolve'];
  ids: RuntimeDeps['ids'];
  /** Errors in the log of the service that no failing store explains. */
  faults: string[];
};

export const AGENTS = ['a', 'b'] as const;
export type AgentName = (typeof AGENTS)[number];

const SETTINGS = settingsFrom({ mailbox: { max_attempts: 3 } });

export const resolverFor = ({ provider, tools }: Steered): RuntimeDeps['resolve'] =>
  createRegistry({
    records: {
      ...NO_RECORDS,
      models: [{ id: 'm', provider_id: provider.id, upstream_model: 'm' }],
      agents: AGENTS.map((id) => AgentSpec.parse({ id, model_id: 'm', max_rounds: 6 })),
    },
    providers: [provider],
    catalogue: createCatalogue(tools),
    plugins: [],
    routes: plainRoutes,
    subAgents: NO_SUB_AGENTS,
    env: {},
    transport: NO_TRANSPORT,
    resolution_id: '1',
  }).resolve;

const nothing = (): void => {};

export const startLife = ({ store, scope, time, resolve, ids, faults }: Ground): Life => {
  const gated = gateStore(store, scope);
  const states = watchStates(gated.store.runs, faults);
  let queued = 0;
  const fault = (event: string, fields: object = {}): void => {
    const error = 'err' in fields ? fields.err : undefined;
    // Remains of a crashed process see a store that no real process would see.
    if (!gated.ended() && !(error instanceof Unavailable))
      faults.push(`${event}: ${error instanceof Error ? error.stack : error}`);
  };
  const log = { info: nothing, warn: nothing, error: fault };
  const feed = createEventFeed({ store: gated.store, log });
  const runtime = createRuntime({
    store: { ...gated.store, runs: states.runs },
    events: feed,
    actors: { began: states.began },
    clock: time,
    ids,
    settings: SETTINGS,
    observe: {
      runs: { executing: nothing, ended: nothing, dismissed: nothing, sessionEnded: nothing },
      threads: { forked: nothing },
      taskCommitFailed: nothing,
      tasks: { ended: nothing },
      mailbox: {
        moved(to, from) {
          queued += Number(to === 'Queued') - Number(from === 'Queued');
        },
        operation: nothing,
        started: nothing,
        completed: nothing,
      },
      inference: { ended: nothing, cutOff: nothing },
      tools: { ended: nothing },
      outputs: { ended: nothing, repaired: nothing },
      agents: { suspension: nothing, handoff: nothing, delegation: nothing },
    },
    log,
    resolve,
    worker: ids.uuid(),
  });
  let recovered = false;
  runtime.recover().then(
    () => {
      recovered = true;
    },
    (error: Error) => faults.push(`recovery failed: ${error.stack}`),
  );
  return { runtime, feed, gated, queued: () => queued, recovered: () => recovered };
};

/** Runs of a scope in the order of acceptance. */
export const runsOf = ({ store, scope }: Pick<Ground, 'store' | 'scope'>): Run[] =>
  store.runs.list(scope, {}, { limit: 10_000, offset: 0 }).items;

export const eventsOf = (
  { store, scope }: Pick<Ground, 'store' | 'scope'>,
  thread_id: string,
): LoggedEvent[] => store.events.list(scope, { thread_id }, 0, 100_000).rows.map(({ event }) => event);
