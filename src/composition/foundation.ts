import { monotonicFactory } from 'ulid';
import type { AnyActorRef } from 'xstate';
import type { Meter } from '../budgets/meter.ts';
import { createUsageBook, type UsageBook } from '../budgets/usage-book.ts';
import type { Files } from '../files/files.ts';
import { type AccessLog, createAccessLog } from '../identity/access-log/log.ts';
import { createAccessObserver } from '../identity/auth-observer.ts';
import { createInspector, type Inspector } from '../inspection/inspector.ts';
import { nameOf, type WorksFor } from '../inspection/name.ts';
import { type Breakers, createBreakers } from '../models/breakers.ts';
import type { Transport } from '../models/transport/types.ts';
import { createTransport } from '../models/transport.ts';
import { createLog, type Log } from '../observability/log.ts';
import { createMetrics, type Metrics } from '../observability/metrics/metrics.ts';
import { createPrograms, type Programs } from '../programs/programs.ts';
import type { AccessObserver } from '../schema/access-event.ts';
import { type Clock, type Ids, monotonic } from '../schema/clock.ts';
import { baseOf } from '../schema/partition.ts';
import type { Settings } from '../settings/index.ts';
import type { Store } from '../store/index.ts';
import { createBudgetMeter } from './budgets.ts';
import { openFiles } from './files.ts';
import { createIds } from './ids.ts';
import type { AppInput } from './input.ts';
import { openStores, type Stores } from './stores.ts';
import { version } from './version.ts';

/** The parts that all others share. */
export type Foundation = {
  readonly input: AppInput;
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Metrics;
  readonly breakers: Breakers;
  readonly transport: Transport;
  readonly stores: Stores;
  readonly store: Store;
  readonly meter: Meter;
  readonly usage: UsageBook;
  readonly accessLog: AccessLog;
  /** Records sign-ins and connected accounts in the access log. */
  readonly accessObserver: AccessObserver;
  readonly files: Files;
  readonly inspector: Inspector;
  readonly programs: Programs;
  /** Notified of each new actor; the returned function is called when the actor ends. */
  readonly actors: { began(actor: AnyActorRef, scope: string, of?: WorksFor): () => void };
  uptimeSeconds(): number;
};

/** @throws an error of the store about its folder */
export const openFoundation = async (input: AppInput): Promise<Foundation> => {
  const { settings } = input;
  const log = input.log ?? createLog({ level: settings.log_level });
  const clock: Clock = input.clock ?? { now: Date.now, monotonic: () => performance.now() };
  const metrics = createMetrics({ prefix: settings.metrics_prefix, version });
  const startedAt = monotonic(clock);
  const breakers = createBreakers(clock, { threshold: settings.models.breaker_failures });
  const transport = createTransport({
    keepAliveSeconds: settings.models.keep_alive_secs,
    connections: settings.models.connections_per_origin,
    env: input.env ?? {},
  });
  const stores = await openStores(settings, (problem) => log.warn('store.notice', { problem }));
  const { store } = stores;
  const inspector = createInspector({ clock });
  const ids = input.ids ?? createIds();
  const { access_log } = settings;
  const accessLog = createAccessLog({ store, clock, log, ulid: monotonicFactory(), settings: access_log });
  return {
    input,
    settings,
    log,
    clock,
    ids,
    metrics,
    breakers,
    transport,
    stores,
    store,
    meter: createBudgetMeter({ store, clock, log, metrics }),
    usage: createUsageBook({
      store,
      clock,
      onCommitFailed: (err) => log.error('budget.commit_failed', { err }),
    }),
    accessLog,
    accessObserver: createAccessObserver(accessLog),
    files: openFiles({ store, clock, ids, settings, metrics, log }),
    inspector,
    programs: createPrograms(clock),
    actors: { began: (actor, scope, of) => inspector.began(actor, nameOf(actor, baseOf(scope), of)) },
    uptimeSeconds: () => Math.floor((monotonic(clock) - startedAt) / 1000),
  };
};
