import { type EntryResult, memberStateOf } from '../../machines/member.ts';
import { DatabaseRefused, openDatabase, SlotsTaken } from '../postgres/index.ts';
import { beginLife, type LifeEvent } from './life.ts';
import { fenced, type MemberParts, presentState, send } from './member-parts.ts';
import { SERVING } from './view.ts';

/** How a process enters the cluster, and what happens to its membership. */

export const open = async (parts: MemberParts): Promise<EntryResult> => {
  const { options } = parts;
  const { metrics, log, agreed } = options;
  parts.database?.close();
  parts.database = undefined;
  try {
    const database = await openDatabase({
      ...options.database,
      agreed,
      warn: (reason) => log.warn('cluster.connection_not_safe', { reason }),
      observe: (notice) => {
        if (notice.type === 'unknown') return send(parts, { type: 'COMMIT_UNKNOWN' });
        parts.reports.settled(notice);
        parts.life?.lease.renew();
      },
      failed: metrics.databaseError,
    });
    parts.database = database;
    await options.check(database);
    parts.outlook.opened(database);
    return 'done';
  } catch (error) {
    if (error instanceof DatabaseRefused && !error.isTemporary) return refuse(parts, error);
    log.warn('cluster.database_unavailable', { reason: reasonOf(error) });
    throw error;
  }
};

const refuse = (parts: MemberParts, error: Error): EntryResult => {
  parts.refusal = error;
  return 'refused';
};

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const join = async (parts: MemberParts): Promise<EntryResult> => {
  const { database, options } = parts;
  if (!database) throw new Error('the database is not open');
  const { name, url, program, clock, log } = options;
  const begunAt = clock.monotonic();
  try {
    const membership = await database.join({ name, url, program });
    parts.outlook.joined();
    parts.life = beginLife({
      database,
      membership,
      name,
      ttlMs: options.database.leaseTtlMs,
      begunAt,
      clock,
      load: () => loadOf(parts),
      wantsWork: () => memberStateOf(parts.actor.getSnapshot()) === 'standby',
      happened: (event) => happened(parts, event),
    });
    parts.why = 'silent';
    parts.isEnded = false;
    return 'done';
  } catch (error) {
    if (error instanceof SlotsTaken) return refuse(parts, new DatabaseRefused(error.message));
    log.warn('cluster.database_unavailable', { reason: reasonOf(error) });
    throw error;
  }
};

const loadOf = ({ served }: MemberParts): Readonly<Record<string, number>> => {
  if (!served) return {};
  const { executing, waiting, copyBytes, lineages } = served.figures();
  return { [SERVING]: 1, executing, waiting, copy_bytes: copyBytes, lineages };
};

const LEASE_EVENTS = {
  renewed: 'RENEWED',
  failed: 'RENEWAL_FAILED',
  over: 'LEASE_OVER',
} as const;

const happened = (parts: MemberParts, event: LifeEvent): void => {
  const { outlook, reports, life } = parts;
  switch (event.type) {
    case 'lease':
      if (event.event === 'fenced') fenced(parts, 'silent');
      else send(parts, { type: LEASE_EVENTS[event.event] });
      break;
    case 'read':
      outlook.read(event.view);
      if (event.view) reports.read(event.view, life?.membership.id);
      if (presentState(parts) === 'standby' && outlook.owner()) parts.standing.resolve();
      break;
    case 'claimed':
      reports.claimed(outlook.previousOwner(event.after, life));
      send(parts, { type: 'CLAIMED' });
      break;
    case 'fenced-other':
      reports.fencedOther(event.name);
      break;
    case 'asked-to-drain':
      send(parts, { type: 'DRAIN' });
      break;
  }
};
