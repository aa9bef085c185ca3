import { monotonicFactory } from 'ulid';
import { createMember } from '../../src/cluster/member.ts';
import type { Held, Member, MemberOptions, MemberState } from '../../src/cluster/member-types.ts';
import { createMetrics } from '../../src/observability/metrics/metrics.ts';
import type { ServiceLog } from '../../src/schema/log-events.ts';
import { createBatch, createRow, MESSAGE_KIND } from './batches.ts';

/** A member with a small service: its copy is a list of texts, which it loads, and to which it appends. */

export type Service = {
  /** The membership that it was opened for. */
  id: string;
  /** Ends of it, in their order. */
  calls: ('suspend' | 'resume' | 'drain' | 'abandon')[];
  texts: string[];
  /** Returns how the commit has ended. */
  say(text: string): Promise<string>;
  breakCopy(): void;
};

export type Serving = {
  member: Member;
  /** All services that were opened, the newest last. */
  services: Service[];
  service(): Service;
  /** Lines of the log: events with their fields. */
  lines: { level: string; event: string; fields: Record<string, unknown> }[];
  events(): string[];
  metrics(): Promise<string>;
};

export type ServingOptions = {
  name: string;
  url: string;
  ttlMs: number;
  agreed?: MemberOptions['agreed'];
  monotonic?: () => number;
  /** Runs while the service ends gracefully. */
  draining?: (service: Service) => Promise<void>;
  /** Runs before the service is opened. */
  opening?: (held: Held) => Promise<void>;
  /** Runs when the rows have been read. */
  loaded?: (service: Service) => void;
};

/** All work belongs to the commons while one member is active. */
const COMMONS = 0n;

const openService = async (held: Held): Promise<Service> => {
  const texts: string[] = [];
  for await (const page of held.rows) {
    for (const { kind, value } of page) if (kind === MESSAGE_KIND) texts.push(JSON.parse(value));
  }
  return {
    id: held.id,
    calls: [],
    texts,
    async say(text) {
      const row = createRow({
        kind: MESSAGE_KIND,
        key: JSON.stringify([text]),
        value: JSON.stringify(text),
      });
      const [outcome] = await held.sink.ship([createBatch([row], { owners: [COMMONS] })]);
      if (outcome?.result === 'applied') texts.push(text);
      return outcome?.result === 'refused' ? outcome.why : (outcome?.result ?? 'none');
    },
    breakCopy: () => held.copyBroken(new Error('the folder takes no writes')),
  };
};

const ulid = monotonicFactory();

export const createServing = (options: ServingOptions): Serving => {
  const services: Service[] = [];
  const lines: Serving['lines'] = [];
  const metrics = createMetrics();
  const write =
    (level: string) =>
    (event: string, fields: object = {}): void =>
      void lines.push({ level, event, fields: { ...fields } });
  const log: ServiceLog = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
  const member = createMember({
    database: {
      url: options.url,
      schema: 'troupe',
      pooled: false,
      poolSize: 2,
      leaseTtlMs: options.ttlMs,
      durability: 'power',
      now: Date.now,
      newId: () => `${options.name}-${ulid()}`,
    },
    name: options.name,
    url: `http://${options.name}`,
    program: '0.2.0',
    agreed: options.agreed ?? { secrets_check: undefined, settings_hash: {} },
    check: () => Promise.resolve(),
    async open(held) {
      await options.opening?.(held);
      const service = await openService(held);
      services.push(service);
      options.loaded?.(service);
      const call = (name: Service['calls'][number]) => (): void => void service.calls.push(name);
      return {
        suspend: call('suspend'),
        resume: call('resume'),
        async drain() {
          service.calls.push('drain');
          await options.draining?.(service);
          await service.say(`last words of ${held.id}`);
        },
        abandon: async () => call('abandon')(),
        figures: () => ({ executing: 1, waiting: 2, copyBytes: 4096, lineages: 3 }),
      };
    },
    clock: { now: Date.now, monotonic: options.monotonic ?? (() => performance.now()) },
    log,
    metrics: metrics.cluster,
    actors: { began: () => () => {} },
  });
  return {
    member,
    services,
    service() {
      const service = services.at(-1);
      if (!service) throw new Error('no service was opened');
      return service;
    },
    lines,
    events: () => lines.map(({ event }) => event),
    metrics: () => metrics.render(),
  };
};

/** Resolves when a condition holds. @throws when it does not in a long time */
export const until = async (condition: () => boolean, what: string): Promise<void> => {
  const endsAt = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > endsAt) throw new Error(`${what} does not happen`);
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
};

const PATIENCE_MS = 60_000;
const TICK_MS = 5;

export const untilState = (serving: Serving, state: MemberState): Promise<void> =>
  until(() => serving.member.state() === state, `state ${state}`);
