import { decodeTime } from 'ulid';
import type { AuditAction, AuditDraft, AuditEvent, Caller } from '../../schema/audit-event.ts';
import type { Clock } from '../../schema/clock.ts';
import { cursorAt, idAt } from '../../schema/id-cursor.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { Unavailable } from '../../schema/outcome.ts';
import { maskCredentialsIn } from '../../schema/redaction/credentials.ts';
import { timerMs } from '../../schema/timer.ts';
import type { Batch, Store } from '../../store/index.ts';
import type { AuditFilter } from './api.ts';

/**
 * The audit log (config.md 9).
 *
 * Guarantees: an event is in the same commit as its change. An event that cannot be written is logged and counted, and
 * the change proceeds without it. Ids are strictly increasing, and `ts` is the time in the id.
 * Relies on its callers for payloads without secrets.
 */
export type AuditLog = {
  readonly enabled: boolean;
  /** Adds events to the commit of a change; `written` counts them after success. */
  put(batch: Batch, events: readonly AuditDraft[], caller: Caller): AuditEvent[];
  written(events: readonly AuditEvent[]): void;
  /** Writes an event in a separate commit; never fails. */
  record(event: AuditDraft, caller: Caller): Promise<void>;
  get(id: string): AuditEvent | undefined;
  /** `texts` is the JSON of each item. */
  page(filter: AuditFilter): { items: AuditEvent[]; texts: string[]; next_cursor?: string };
  close(): void;
};

export type AuditSettings = { enabled: boolean; retention_days: number; sweep_interval_secs: number };

/** Counts events; must not throw. */
export type AuditObserver = {
  event(action: AuditAction): void;
  failed(): void;
  pruned(count: number): void;
};

export type AuditDeps = {
  store: Pick<Store, 'audit' | 'batch' | 'commit'>;
  clock: Clock;
  /** Returns strictly increasing ids. */
  ulid(now: number): string;
  settings: AuditSettings;
  observe: AuditObserver;
  log: Pick<ServiceLog, 'warn'>;
};

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export const createAuditLog = (deps: AuditDeps): AuditLog => {
  const { store, clock, settings, observe } = deps;
  const { enabled } = settings;

  const failed = (err: unknown, { action, resource }: Pick<AuditDraft, 'action' | 'resource'>): void => {
    observe.failed();
    deps.log.warn('audit.write_failed', { err, action, resource });
  };

  const eventOf = ({ restored_from = null, ...draft }: AuditDraft, caller: Caller): AuditEvent => {
    const id = deps.ulid(clock.now());
    const { ip = '', ...by } = caller;
    const event = { id, ts: new Date(decodeTime(id)).toISOString(), ...by, ...draft, ip, restored_from };
    return maskCredentialsIn(event);
  };

  const put: AuditLog['put'] = (batch, drafts, caller) => {
    if (!enabled) return [];
    return drafts.flatMap((draft) => {
      try {
        const event = eventOf(draft, caller);
        store.audit.put(batch, event);
        return event;
      } catch (err) {
        failed(err, draft);
        return [];
      }
    });
  };

  const written: AuditLog['written'] = (events) => {
    for (const { action } of events) observe.event(action);
  };

  const stopSweeping = enabled ? startSweeping(deps) : () => {};

  return {
    enabled,
    put,
    written,
    async record(draft, caller) {
      const batch = store.batch('commons');
      const events = put(batch, [draft], caller);
      if (events.length === 0) return;
      try {
        await store.commit(batch, 'input');
        written(events);
      } catch (err) {
        failed(err, draft);
      }
    },
    get: store.audit.get,
    page({ limit = DEFAULT_LIMIT, cursor, ...filter }) {
      if (!enabled) throw new Unavailable('audit log is not configured');
      const { items, texts, next } = store.audit.page({
        ...filter,
        limit: Math.min(Math.max(limit, 1), MAX_LIMIT),
        ...(cursor !== undefined && { before: idAt(cursor) }),
      });
      return {
        items,
        texts,
        ...(next !== undefined && { next_cursor: cursorAt(next) }),
      };
    },
    close: stopSweeping,
  };
};

const DAY_MS = 86_400_000;
/** Number of events that one commit removes. */
const PIECE = 500;
const SHORTEST_SECS = 60;

const startSweeping = ({ store, clock, settings, observe, log }: AuditDeps): (() => void) => {
  let closed = false;
  const sweep = async (): Promise<void> => {
    for (let pruned = PIECE; pruned === PIECE && !closed; ) {
      const batch = store.batch('commons');
      pruned = store.audit.prune(batch, clock.now() - settings.retention_days * DAY_MS, PIECE);
      if (pruned > 0) await store.commit(batch);
      observe.pruned(pruned);
    }
  };
  const run = (): void => {
    sweep().catch((err) => log.warn('audit.prune_failed', { err }));
  };
  const seconds = settings.sweep_interval_secs === 0 ? SHORTEST_SECS : settings.sweep_interval_secs;
  const timer = setInterval(run, timerMs(seconds * 1000)).unref();
  run();
  return () => {
    closed = true;
    clearInterval(timer);
  };
};
