import { withTimeout } from '../schema/with-timeout.ts';
import type { Life } from './life.ts';
import { measureSink } from './measured-sink.ts';
import { fenced, type MemberParts, send } from './member-parts.ts';
import type { FencedWhy, Served } from './member-types.ts';

/** The service of a member: how it is opened, and the two ways in which it ends. */

export const load = async (parts: MemberParts): Promise<void> => {
  const { life, database, options } = parts;
  if (!life || !database) throw new Error('there is no membership');
  const { membership, signal } = life;
  const loading = new AbortController();
  parts.stopLoading = () => loading.abort();
  const opening = options.open({
    id: membership.id,
    slot: membership.slot,
    sink: measureSink({
      sink: membership.sink,
      monotonic: options.clock.monotonic,
      metrics: options.metrics,
      ended: (why) => {
        if (why === 'behind') parts.reports.behind(membership.committed + 1);
        if (parts.life === life) fenced(parts, why === 'behind' ? 'behind' : 'silent');
      },
    }),
    rows: database.rows(AbortSignal.any([signal, loading.signal])),
    copyBroken(error) {
      if (parts.life !== life) return;
      options.log.error('cluster.copy_broken', { err: error });
      parts.why = 'copy';
      send(parts, { type: 'COPY_BROKEN' });
    },
  });
  parts.opening = opening;
  try {
    const served = await opening;
    if (parts.opening === opening) parts.served = served;
    life.lease.renew();
  } catch (error) {
    if (!signal.aborted && !loading.signal.aborted) {
      options.log.error('cluster.load_failed', { err: error });
      parts.why = 'copy';
    }
    throw error;
  }
};

/** Other members read that this one drains before its service ends, so that one takes over at once. */
export const drain = async (parts: MemberParts): Promise<void> => {
  const { life, database, outlook } = parts;
  if (!life || !database) return;
  const marked = database.drain(life.membership.id).catch(() => false);
  await withTimeout(marked, LAST_STATEMENT_MS);
  if (!parts.served) parts.stopLoading();
  else if (outlook.hasOthers(life.membership.id)) await pauseFor(life.readEveryMs * READ_SHARE, life.signal);
  // The service stays known: when the membership ends before, it is abandoned.
  const served = await openedBy(parts);
  await served?.drain();
  parts.opening = undefined;
  parts.served = undefined;
};

/** The service that was opened, or is being opened, if there is one. */
const openedBy = async ({ opening }: MemberParts): Promise<Served | undefined> =>
  opening?.catch(() => undefined);

/** The interval of reads counts from the end of the one before. */
const READ_SHARE = 1.2;

const pauseFor = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
  });

/** A row that is not ended by its member expires; to wait for its end longer than this is of no use. */
const LAST_STATEMENT_MS = 2000;

/** The membership ends before the service: what the service still commits is refused, and nothing waits for it. */
export const release = async (parts: MemberParts): Promise<void> => {
  const { life, actor, reports } = parts;
  const { isLeaving } = actor.getSnapshot().context;
  const why = isLeaving && !parts.isEnded ? 'asked' : parts.why;
  reports.fenced(why);
  if (life && !parts.isEnded) await leaveRow(life, ENDS[why]);
  parts.life = undefined;
  life?.close();
  try {
    const served = await openedBy(parts);
    parts.opening = undefined;
    parts.served = undefined;
    await served?.abandon();
  } catch (error) {
    parts.refusal = error instanceof Error ? error : new Error(String(error));
    throw error;
  }
};

/** Stored with the row of a member that ends itself. */
const ENDS: Readonly<Record<FencedWhy, string>> = {
  silent: 'left: its lease was over',
  behind: 'left: the database is behind it',
  copy: 'left: its copy is broken',
  asked: 'left',
};

export const leaveRow = (life: Life, reason: string): Promise<unknown> =>
  withTimeout(
    life.membership.leave(reason).catch(() => {}),
    LAST_STATEMENT_MS,
  );
