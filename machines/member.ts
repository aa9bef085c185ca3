import { assign, fromPromise, setup } from 'xstate';

/**
 * The membership of a process in a cluster (cluster.md 6.1): its row in the database, the lease of that row, and the
 * work that it owns while the lease lasts.
 *
 * Guarantees: work begins in `loading` only, behind a claim, and every way out of the states that own something leads
 * through `draining` or `fenced`, which end it. In `isolated` the work stays in memory: the lease may be over, and only
 * the database decides. For the same reason a load continues behind the end of its lease. Events carry no data; the
 * module that runs the machine keeps what they are about.
 */

export type MemberState =
  | 'opening'
  | 'joining'
  | 'standby'
  | 'loading'
  | 'active'
  | 'doubtful'
  | 'isolated'
  | 'fenced'
  | 'draining'
  | 'gone'
  | 'refused';

/** `serves`: requests are answered here; `forwards`: they may be sent to another member. */
type MemberTag = MemberState | 'serves' | 'forwards';

export type MemberContext = {
  /** Consecutive failed attempts to reach the database. */
  failures: number;
  /** Whether the process leaves the cluster. */
  isLeaving: boolean;
  /** Whether the copy was the cause of the last end. */
  isCopyBroken: boolean;
  /** Whether the lease has passed while the copy was filled, and no renewal has succeeded since. */
  isLeaseOver: boolean;
};

export type MemberEvent =
  /** The work of the cluster is owned by this member. */
  | { type: 'CLAIMED' }
  | { type: 'RENEWED' }
  | { type: 'RENEWAL_FAILED' }
  /** A commit has no answer. */
  | { type: 'COMMIT_UNKNOWN' }
  /** The clock of this process has passed the end of its lease. */
  | { type: 'LEASE_OVER' }
  /** The database has ended the membership. */
  | { type: 'FENCED' }
  /** The copy lacks a commit that the database has. */
  | { type: 'COPY_BROKEN' }
  | { type: 'DRAIN' };

/** What opening the database, or joining, results in; other failures are temporary. */
export type EntryResult = 'done' | 'refused';

const FIRST_PAUSE_MS = 250;
/** Beyond this many failures the pause does not grow: 16 s. */
const MOST_COUNTED = 6;
/** Time without a membership behind a failure of the copy, in which another member takes over. */
const COPY_PAUSE_MS = 2000;

const entry = fromPromise<EntryResult>(() => Promise.reject(new Error('the service is bound by its owner')));
const service = fromPromise<void>(() => Promise.reject(new Error('the service is bound by its owner')));

const isRefused = ({ event }: { event: { output: EntryResult } }): boolean => event.output === 'refused';

const machine = setup({
  types: {} as { context: MemberContext; events: MemberEvent; tags: MemberTag },
  actors: {
    /** Connects, and checks or creates the schema. */
    open: entry,
    /** Writes a member row with a new id. */
    join: entry,
    /** Fills the copy and starts the service on it. */
    load: service,
    /** Ends the service, with what it commits. */
    drain: service,
    /** Ends the service without a write. */
    release: service,
  },
  delays: {
    retryPause: ({ context }) => FIRST_PAUSE_MS * 2 ** (context.failures - 1),
    copyPause: COPY_PAUSE_MS,
  },
  guards: {
    isLeaving: ({ context }) => context.isLeaving,
    isCopyBroken: ({ context }) => context.isCopyBroken,
    isLeaseOver: ({ context }) => context.isLeaseOver,
  },
  actions: {
    noteFailure: assign({ failures: ({ context }) => Math.min(context.failures + 1, MOST_COUNTED) }),
    noteEntry: assign({ failures: 0, isCopyBroken: false, isLeaseOver: false }),
    noteLeaving: assign({ isLeaving: true }),
    noteBrokenCopy: assign({ isCopyBroken: true }),
    noteLeaseOver: assign({ isLeaseOver: true }),
    noteRenewal: assign({ isLeaseOver: false }),
    /** The service refuses requests and cuts its streams, and keeps its runs. */
    suspend: () => {},
    resume: () => {},
  },
});

const ended = { target: '#member.fenced', description: 'The database has ended the membership.' } as const;

const broken = {
  target: '#member.fenced',
  actions: 'noteBrokenCopy',
  description:
    'The copy took no write behind a commit; the member leaves, so that another takes over at once.',
} as const;

const leaves = (description: string) =>
  ({ target: '#member.gone', actions: 'noteLeaving', description }) as const;

/**
 * The membership of a process in a cluster (cluster.md 6.1). Tags of its states are the states on the wire, and whether
 * requests are served or forwarded.
 *
 * @example
 * ```ts
 * for (const { key, tags } of Object.values(memberMachine.states)) console.log(key, tags);
 * ```
 */
export const memberMachine = machine.createMachine({
  id: 'member',
  description: 'The membership of a process in a cluster.',
  context: { failures: 0, isLeaving: false, isCopyBroken: false, isLeaseOver: false },
  initial: 'opening',
  states: {
    opening: {
      tags: ['opening'],
      description: 'Connects to the database and checks its schema.',
      initial: 'connecting',
      on: { DRAIN: leaves('The process ends before it has joined.') },
      states: {
        connecting: {
          description: 'An attempt is in progress.',
          invoke: {
            id: 'open',
            src: 'open',
            onDone: [
              {
                guard: isRefused,
                target: '#member.refused',
                description: 'This process cannot use the database.',
              },
              { target: '#member.joining', description: 'The schema is there.' },
            ],
            onError: { target: 'waiting', actions: 'noteFailure', description: 'No answer of the server.' },
          },
        },
        waiting: {
          description: 'A pause, which grows with each failed attempt.',
          after: { retryPause: { target: 'connecting', description: 'The pause is over.' } },
        },
      },
    },
    joining: {
      tags: ['joining'],
      description: 'Writes a row with a new id.',
      invoke: {
        id: 'join',
        src: 'join',
        onDone: [
          { guard: isRefused, target: 'refused', description: 'The cluster has no free slot.' },
          { target: 'standby', actions: 'noteEntry', description: 'The row is written.' },
        ],
        onError: {
          target: 'opening.waiting',
          actions: 'noteFailure',
          description: 'The connection was lost; the row, if there is one, expires.',
        },
      },
      on: { DRAIN: leaves('The process ends while it joins.') },
    },
    standby: {
      tags: ['standby', 'forwards'],
      description: 'Another member owns the work; requests are sent to it.',
      on: {
        CLAIMED: {
          target: 'loading',
          description: 'No live member owned the work; it is owned by this one.',
        },
        FENCED: ended,
        DRAIN: leaves('The process leaves; it owns nothing.'),
      },
    },
    loading: {
      tags: ['loading'],
      description: 'The copy is filled with all rows.',
      invoke: {
        id: 'load',
        src: 'load',
        onDone: [
          {
            guard: 'isLeaseOver',
            target: 'isolated',
            description: 'The service runs, and no renewal has succeeded since the lease has passed.',
          },
          { target: 'active', description: 'The copy is complete and the service runs.' },
        ],
        onError: {
          target: 'fenced',
          actions: 'noteBrokenCopy',
          description: 'The rows could not be read, or the service could not start.',
        },
      },
      on: {
        FENCED: ended,
        LEASE_OVER: {
          actions: 'noteLeaseOver',
          description: 'The load continues: only another member ends the membership.',
        },
        RENEWED: { actions: 'noteRenewal', description: 'The lease lasts.' },
        COPY_BROKEN: broken,
        DRAIN: [
          {
            guard: 'isLeaseOver',
            target: 'fenced',
            actions: 'noteLeaving',
            description: 'The process leaves; nothing can be committed.',
          },
          { target: 'draining', actions: 'noteLeaving', description: 'The process leaves.' },
        ],
      },
    },
    active: {
      tags: ['serves', 'forwards'],
      description: 'The member owns the work and serves requests.',
      initial: 'sound',
      on: {
        LEASE_OVER: { target: 'isolated', description: 'Its clock is past the end of the lease.' },
        FENCED: ended,
        COPY_BROKEN: broken,
        DRAIN: { target: 'draining', actions: 'noteLeaving', description: 'The process leaves.' },
      },
      states: {
        sound: {
          tags: ['active'],
          description: 'The lease is renewed.',
          on: {
            RENEWAL_FAILED: { target: 'doubtful', description: 'A renewal has no answer.' },
            COMMIT_UNKNOWN: { target: 'doubtful', description: 'A commit has no answer.' },
          },
        },
        doubtful: {
          tags: ['doubtful'],
          description: 'The database does not answer; commits wait, and requests wait with them.',
          on: { RENEWED: { target: 'sound', description: 'The database answers again.' } },
        },
      },
    },
    isolated: {
      tags: ['isolated'],
      description: 'The lease may be over: requests are refused, streams are cut, runs stay in memory.',
      entry: 'suspend',
      on: {
        RENEWED: {
          target: 'active.sound',
          actions: 'resume',
          description: 'No other member has ended the membership; the work continues where it was.',
        },
        FENCED: ended,
        COPY_BROKEN: broken,
        DRAIN: {
          target: 'fenced',
          actions: 'noteLeaving',
          description: 'The process leaves; nothing can be committed.',
        },
      },
    },
    fenced: {
      tags: ['fenced'],
      description: 'Another member has the work, or may have it; the service ends without a write.',
      initial: 'releasing',
      states: {
        releasing: {
          description: 'The service ends.',
          on: { DRAIN: { actions: 'noteLeaving', description: 'The process leaves afterwards.' } },
          invoke: {
            id: 'release',
            src: 'release',
            onDone: [
              { guard: 'isLeaving', target: '#member.gone', description: 'The process leaves.' },
              { guard: 'isCopyBroken', target: 'pausing', description: 'The copy was the cause.' },
              { target: '#member.joining', description: 'Nothing is left of the membership.' },
            ],
            onError: {
              target: '#member.gone',
              description: 'The service cannot be ended, so the process ends.',
            },
          },
        },
        pausing: {
          description: 'A pause, in which another member takes over.',
          on: { DRAIN: leaves('The process leaves.') },
          after: { copyPause: { target: '#member.joining', description: 'The pause is over.' } },
        },
      },
    },
    draining: {
      tags: ['draining'],
      description: 'Nothing new is accepted; what runs ends and is committed.',
      invoke: {
        id: 'drain',
        src: 'drain',
        onDone: { target: 'gone', description: 'Everything has ended.' },
        onError: { target: 'fenced', description: 'The service could not end gracefully.' },
      },
      on: {
        FENCED: ended,
        LEASE_OVER: {
          target: 'fenced',
          description: 'The database does not answer; nothing can be committed.',
        },
        COPY_BROKEN: broken,
      },
    },
    gone: { type: 'final', tags: ['gone'], description: 'The member has left the cluster.' },
    refused: {
      type: 'final',
      tags: ['refused'],
      description: 'The database cannot be used by this process.',
    },
  },
});

const STATES: readonly MemberState[] = [
  'opening',
  'joining',
  'standby',
  'loading',
  'active',
  'doubtful',
  'isolated',
  'fenced',
  'draining',
  'gone',
  'refused',
];

/** Returns the state in which a snapshot of the machine is. */
export const memberStateOf = (snapshot: { hasTag(tag: MemberState): boolean }): MemberState => {
  const state = STATES.find((tag) => snapshot.hasTag(tag));
  if (!state) throw new Error('a state of the member machine has no tag');
  return state;
};
