import { type Database, type Membership, type MembersView, ServerError } from '../postgres/index.ts';
import type { Clock } from '../schema/clock.ts';
import { type Beats, createBeats } from './beats.ts';
import { createLease, type Lease, type LeaseEvent } from './lease.ts';

/**
 * One membership, from its row until its end: its lease is renewed, and the other members are observed.
 *
 * Guarantees: another member is fenced only after its beat was unchanged for a whole TTL, in which this one was sound.
 * Behind `close` nothing of it is left: no timer, no connection, and no later event.
 * Cost: a statement each second, and each 100 ms while the owner of the work drains.
 */
export type LifeEvent =
  | { type: 'lease'; event: LeaseEvent }
  /** The members were read, or could not be. */
  | { type: 'read'; view: MembersView | undefined }
  /** This member owns the work. `after`: the id of the owner before. */
  | { type: 'claimed'; after: string | null }
  | { type: 'fenced-other'; name: string }
  /** An operator has requested that this member drains. */
  | { type: 'asked-to-drain' };

export type LifeOptions = {
  database: Database;
  membership: Membership;
  name: string;
  ttlMs: number;
  /** When the statement of the join was sent, by the monotonic clock. */
  begunAt: number;
  clock: Required<Clock>;
  /** Figures for the list of members. */
  load(): Readonly<Record<string, number>>;
  /** Whether work that no live member owns is to be claimed. */
  wantsWork(): boolean;
  happened(event: LifeEvent): void;
};

export type Life = {
  readonly membership: Membership;
  readonly lease: Lease;
  readonly beats: Beats;
  /** Aborted when the membership ends. */
  readonly signal: AbortSignal;
  /** Reads the members now instead of at the next interval. */
  read(): void;
  /** How long another member may take to read a change. */
  readonly readEveryMs: number;
  close(): void;
};

const READ_EVERY_MS = 1000;
/** Members with a short lease read more often. */
const READS = 5;
const ENDING_READ_EVERY_MS = 100;

/** All work of the cluster while one member is active. */
const COMMONS = 0n;

type State = LifeOptions & {
  readonly lease: Lease;
  readonly beats: Beats;
  readonly ending: AbortController;
  readonly readEveryMs: number;
  commons: number;
  timer: NodeJS.Timeout | undefined;
  isReading: boolean;
};

export const beginLife = (options: LifeOptions): Life => {
  const { membership, ttlMs, begunAt, clock, happened } = options;
  const ending = new AbortController();
  const lease = createLease({
    ttlMs,
    begunAt,
    monotonic: clock.monotonic,
    renew: () => membership.renew({ commons: state.commons, load: options.load() }),
    happened: (event) => happened({ type: 'lease', event }),
  });
  const state: State = {
    ...options,
    lease,
    beats: createBeats(ttlMs),
    ending,
    readEveryMs: Math.min(READ_EVERY_MS, ttlMs / READS),
    commons: 0,
    timer: undefined,
    isReading: false,
  };
  readIn(state, 0);
  return {
    membership,
    lease,
    beats: state.beats,
    signal: ending.signal,
    read() {
      if (!state.isReading) readIn(state, 0);
    },
    readEveryMs: state.readEveryMs,
    close() {
      ending.abort();
      clearTimeout(state.timer);
      lease.stop();
      membership.close();
    },
  };
};

const isClosed = ({ ending }: State): boolean => ending.signal.aborted;

const readIn = (state: State, ms: number): void => {
  clearTimeout(state.timer);
  if (!isClosed(state)) state.timer = setTimeout(() => void round(state), ms);
};

/** A failure is that of the database: the next round tries again. */
const round = async (state: State): Promise<void> => {
  state.isReading = true;
  let view: MembersView | undefined;
  let next: 'soon' | 'later' = 'later';
  try {
    view = await readMembers(state);
    if (isClosed(state)) return;
    state.happened({ type: 'read', view });
    next = await act(state, view);
  } catch (error) {
    if (isClosed(state)) return;
    if (error instanceof ServerError && error.code === 'TR001') {
      state.happened({ type: 'lease', event: 'fenced' });
    } else if (!view) state.happened({ type: 'read', view });
  } finally {
    state.isReading = false;
  }
  readIn(state, next === 'soon' ? Math.min(ENDING_READ_EVERY_MS, state.readEveryMs) : state.readEveryMs);
};

const readMembers = async ({ database, beats, clock }: State): Promise<MembersView> => {
  const sentAt = clock.monotonic();
  const view = await database.members();
  beats.note(view.members, sentAt, clock.monotonic());
  return view;
};

/** Does what the members that were read require. Returns whether they are to be read again soon. */
const act = async (state: State, view: MembersView): Promise<'soon' | 'later'> => {
  const { membership, happened } = state;
  state.commons = view.commons;
  const own = view.members.find(({ id }) => id === membership.id);
  if (own?.state === 'gone') {
    happened({ type: 'lease', event: 'fenced' });
    return 'later';
  }
  if (own?.state === 'draining') happened({ type: 'asked-to-drain' });
  const fenced = await fenceSilent(state);
  if (isClosed(state)) return 'later';
  const owner = view.members.find(({ id }) => id === view.leader);
  if (owner && owner.state !== 'gone' && owner.id !== membership.id && !fenced.has(owner.id)) {
    return owner.state === 'draining' ? 'soon' : 'later';
  }
  await claim(state, view);
  return fenced.size > 0 ? 'soon' : 'later';
};

/** Returns the ids of the members that this one has ended. */
const fenceSilent = async (state: State): Promise<ReadonlySet<string>> => {
  const { database, membership, lease, beats, name, happened } = state;
  const fenced = new Set<string>();
  for (const { id, beat, name: other } of beats.silent(lease.soundSince())) {
    if (id === membership.id) continue;
    const isFenced = await database.fence({ member: id, beat, reason: `fenced by ${name}` });
    if (!isFenced) continue;
    fenced.add(id);
    happened({ type: 'fenced-other', name: other });
  }
  return fenced;
};

/** A claim whose answer was lost may have been applied: then the member is the owner that it has read. */
const claim = async (state: State, { leader }: MembersView): Promise<void> => {
  const { membership, happened } = state;
  if (!state.wantsWork()) return;
  const claimed = leader === membership.id ? [] : await membership.claim([COMMONS]);
  if (isClosed(state) || !state.wantsWork()) return;
  if (leader === membership.id || claimed[0]?.owner === membership.id)
    happened({ type: 'claimed', after: leader });
};
