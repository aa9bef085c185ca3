import type { AnyActorRef } from 'xstate';
import { createInspector, type Inspector } from '../inspection/inspector.ts';
import { nameOf, type WorksFor } from '../inspection/name.ts';
import { type Breakers, createBreakers } from '../models/breakers.ts';
import type { Transport } from '../models/transport/types.ts';
import { createTransport } from '../models/transport.ts';
import { createLog, type Log } from '../observability/log.ts';
import { createMetrics, type Metrics } from '../observability/metrics/metrics.ts';
import { createPrograms, type Programs } from '../programs/programs.ts';
import { type Clock, type Ids, monotonic } from '../schema/clock.ts';
import type { Membership } from '../schema/membership.ts';
import { baseOf } from '../schema/partition.ts';
import type { Settings } from '../settings/index.ts';
import { createIds } from './ids.ts';
import type { AppInput } from './input.ts';
import { createServer, type Server } from './server.ts';
import { version } from './version.ts';

/** The parts that exist once in a process, regardless of how many services it runs one after the other. */
export type Process = {
  readonly input: AppInput;
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly metrics: Metrics;
  readonly breakers: Breakers;
  readonly transport: Transport;
  readonly inspector: Inspector;
  readonly programs: Programs;
  readonly server: Server;
  /** Absent in embedded mode. */
  readonly membership?: Membership;
  /** Notified of each new actor; the returned function is called when the actor ends. */
  readonly actors: { began(actor: AnyActorRef, scope: string, of?: WorksFor): () => void };
  uptimeSeconds(): number;
  /** Closes the connections of clients, and those to model providers. */
  close(): Promise<void>;
};

export const createProcess = (input: AppInput): Process => {
  const { settings } = input;
  const log = input.log ?? createLog({ level: settings.log_level });
  const clock: Clock = input.clock ?? { now: Date.now, monotonic: () => performance.now() };
  const metrics = createMetrics({ prefix: settings.metrics_prefix, version });
  const startedAt = monotonic(clock);
  const transport = createTransport({
    keepAliveSeconds: settings.models.keep_alive_secs,
    connections: settings.models.connections_per_origin,
    env: input.env ?? {},
  });
  const inspector = createInspector({ clock });
  const programs = createPrograms(clock);
  const server = createServer({ input, settings, log, metrics, programs });
  return {
    input,
    settings,
    log,
    clock,
    ids: input.ids ?? createIds(),
    metrics,
    breakers: createBreakers(clock, { threshold: settings.models.breaker_failures }),
    transport,
    inspector,
    programs,
    server,
    actors: { began: (actor, scope, of) => inspector.began(actor, nameOf(actor, baseOf(scope), of)) },
    uptimeSeconds: () => Math.floor((monotonic(clock) - startedAt) / 1000),
    async close() {
      server.close();
      await transport.close();
    },
  };
};
