import { decodeTime } from 'ulid';
import type { AccessDraft, AccessEvent } from '../../schema/access-event.ts';
import type { Clock } from '../../schema/clock.ts';
import { cursorAt, idAt } from '../../schema/id-cursor.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { Unavailable } from '../../schema/outcome.ts';
import { ADMIN_NAME } from '../../schema/principal.ts';
import { maskCredentials } from '../../schema/redaction/credentials.ts';
import { timerMs } from '../../schema/timer.ts';
import type { AccessFilter, AccessQuery, Batch, Store } from '../../store/index.ts';
import { createDenials } from './denials.ts';

/**
 * The access log (identity.md 7).
 *
 * Guarantees: recording never fails and never delays the request. An event that cannot be written is logged. Equal
 * denials within a minute are one event with a count. Ids are strictly increasing, and `ts` is the time in the id.
 */
export type AccessLog = {
  readonly enabled: boolean;
  record(draft: AccessDraft): void;
  /** Adds an event to the commit of what it records. */
  put(batch: Batch, draft: AccessDraft): void;
  /** Notes a use of the admin token, and records it if the address has not used it for 30 days. */
  adminUsed(scope: string, place: { route: string; ip: string }): void;
  /** `texts` is the JSON of each item. Resolves when everything recorded before the call is in the page. */
  page(
    query: AccessFilter & Omit<AccessQuery, 'limit' | 'before'> & { limit?: number; cursor?: string },
  ): Promise<{ items: AccessEvent[]; texts: string[]; next_cursor?: string }>;
  /** Resolves when everything recorded is written. */
  close(): Promise<void>;
};

export type AccessLogDeps = {
  store: Pick<Store, 'accessEvents' | 'batch' | 'commit'>;
  clock: Clock;
  /** Returns strictly increasing ids. */
  ulid(now: number): string;
  settings: { enabled: boolean; retention_days: number };
  log: Pick<ServiceLog, 'warn' | 'info'>;
};

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export const createAccessLog = (deps: AccessLogDeps): AccessLog => {
  const { store, clock, settings } = deps;
  const { enabled } = settings;
  const writer = createWriter(deps);

  const create = (draft: AccessDraft): AccessEvent => {
    const id = deps.ulid(clock.now());
    const { reason, ...rest } = draft;
    return {
      id,
      ts: new Date(decodeTime(id)).toISOString(),
      ...rest,
      ...(reason !== undefined && { reason: maskCredentials(reason).slice(0, MOST_REASON) }),
      count: 1,
    };
  };

  const write = (event: AccessEvent): void => writer.write((batch) => store.accessEvents.put(batch, event));
  const denials = createDenials({ now: clock.now, create, write });
  const record = (draft: AccessDraft): void => {
    if (draft.kind === 'denied' || draft.kind === 'sign_in_failed') denials.add(draft);
    else write(create(draft));
  };
  const adminUsed = createAdminAddresses(deps, writer.write, record);
  /** The request that is recorded must not fail because of the log. */
  const guarded = (work: () => void): void => {
    if (!enabled) return;
    try {
      work();
    } catch (err) {
      deps.log.warn('access.write_failed', { err });
    }
  };
  const stop = enabled ? startSweeping(deps, denials.flush) : () => {};

  return {
    enabled,
    record: (draft) => guarded(() => record(draft)),
    put: (batch, draft) => guarded(() => store.accessEvents.put(batch, create(draft))),
    adminUsed: (scope, place) => guarded(() => adminUsed(scope, place)),
    async page({ limit = DEFAULT_LIMIT, cursor, ...filter }) {
      if (!enabled) throw new Unavailable('access log is not configured');
      const before = cursor === undefined ? undefined : idAt(cursor);
      denials.flush();
      await writer.settled();
      const { items, texts, next } = store.accessEvents.page({
        ...filter,
        limit: Math.min(Math.max(limit, 1), MAX_LIMIT),
        ...(before !== undefined && { before }),
      });
      return { items, texts, ...(next !== undefined && { next_cursor: cursorAt(next) }) };
    },
    async close() {
      stop();
      denials.flush();
      await writer.settled();
    },
  };
};

const MOST_REASON = 300;

const createWriter = ({ store, log }: Pick<AccessLogDeps, 'store' | 'log'>) => {
  const open = new Set<Promise<void>>();
  return {
    write(fill: (batch: Batch) => void): void {
      const failed = (err: unknown): void => log.warn('access.write_failed', { err });
      try {
        const batch = store.batch('commons');
        fill(batch);
        const written: Promise<void> = store
          .commit(batch)
          .catch(failed)
          .finally(() => open.delete(written));
        open.add(written);
      } catch (err) {
        failed(err);
      }
    },
    async settled(): Promise<void> {
      await Promise.all(open);
    },
  };
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NEW_AFTER_MS = 30 * DAY_MS;
/** Addresses that are remembered in memory, so that a request costs no read. */
const MOST_ADDRESSES = 1000;

/** The last use of an address is exact to a day. */
const createAdminAddresses = (
  { store, clock, log }: Pick<AccessLogDeps, 'store' | 'clock' | 'log'>,
  write: (fill: (batch: Batch) => void) => void,
  record: (draft: AccessDraft) => void,
): AccessLog['adminUsed'] => {
  const noted = new Map<string, number>();
  return (scope, { route, ip }) => {
    const now = clock.now();
    const known = noted.get(ip) ?? store.accessEvents.adminSeenAt(ip);
    if (known === undefined || now - known >= DAY_MS) {
      write((batch) => store.accessEvents.putAdminSeen(batch, ip, now));
      noted.set(ip, now);
    } else if (!noted.has(ip)) noted.set(ip, known);
    const [oldest] = noted.keys();
    if (noted.size > MOST_ADDRESSES && oldest !== undefined) noted.delete(oldest);
    if (known !== undefined && now - known < NEW_AFTER_MS) return;
    const credential = { kind: 'admin' };
    record({ kind: 'admin_new_address', scope, user: ADMIN_NAME, credential, ip, route });
    log.info('access.admin_new_address', { ip });
  };
};

/** Number of events that one commit removes. */
const PIECE = 500;
/** Interval at which counts of ended minutes are written. */
const FLUSH_MS = 60_000;

const startSweeping = ({ store, clock, settings, log }: AccessLogDeps, flush: () => void): (() => void) => {
  let closed = false;
  const sweep = async (): Promise<void> => {
    const now = clock.now();
    for (let pruned = PIECE; pruned === PIECE && !closed; ) {
      const batch = store.batch('commons');
      pruned = store.accessEvents.prune(batch, now - settings.retention_days * DAY_MS, PIECE);
      if (pruned > 0) await store.commit(batch);
    }
    if (closed) return;
    const batch = store.batch('commons');
    store.accessEvents.forgetAdmins(batch, now - NEW_AFTER_MS);
    await store.commit(batch);
  };
  const run = (): void => {
    sweep().catch((err) => log.warn('access.prune_failed', { err }));
  };
  const timers = [setInterval(run, timerMs(HOUR_MS)).unref(), setInterval(flush, timerMs(FLUSH_MS)).unref()];
  run();
  return () => {
    closed = true;
    for (const timer of timers) clearInterval(timer);
  };
};
