import { setup } from 'xstate';

/**
 * One try to connect an account of a user to a server (identity.md 6.2), from the offer until its tokens are usable.
 *
 * The machine has no actor: its record is stored, and `advance` computes each transition, so that a try continues after
 * a restart. The time limits below are computed from the times of the record; when one has passed, the record receives
 * `EXPIRE` before any other event.
 *
 * Tokens of a browser that is not signed in as the same user are unconfirmed: the user that the try was offered to may
 * not be the person who has logged in. They become usable only when that user confirms them.
 */

export type AuthorizationEvent =
  /** The browser of the user is sent to the authorization server. */
  | { type: 'START' }
  | { type: 'CODE' }
  | { type: 'REFUSED' }
  /** `isKnown`: the browser is signed in as the user that the try was offered to. */
  | { type: 'TOKENS'; isKnown: boolean }
  | { type: 'FAILED' }
  | { type: 'CONFIRM' }
  | { type: 'EXPIRE' };

/** Time after START within which the connection must be complete. */
export const START_LIMIT_MS = 600_000;

/** Time after the offer within which the connection must be complete. */
export const OFFER_LIMIT_MS = 86_400_000;

/** Returns when an unfinished try expires, in milliseconds. */
export const expiryOfTry = ({
  offered_at,
  started_at,
}: {
  offered_at: number;
  started_at?: number | undefined;
}): number =>
  Math.min(offered_at + OFFER_LIMIT_MS, (started_at ?? Number.POSITIVE_INFINITY) + START_LIMIT_MS);

const expired = {
  target: 'expired',
  description: 'A day has passed since the offer, or 10 minutes since the start.',
} as const;

const started = (description: string) => ({ target: 'redirected', description }) as const;

/**
 * One try to connect an account of a user to a server (identity.md 6.2).
 *
 * @example
 * ```ts
 * for (const { key, description } of Object.values(authorizationMachine.states)) console.log(`${key}: ${description}`);
 * ```
 */
export const authorizationMachine = setup({
  types: {} as { events: AuthorizationEvent; tags: 'open' },
  guards: {
    isKnown: ({ event }) => event.type === 'TOKENS' && event.isKnown,
  },
}).createMachine({
  id: 'authorization',
  description: 'One try to connect an account of a user to a server.',
  initial: 'offered',
  states: {
    offered: {
      tags: ['open'],
      description: 'The user has the address that starts the try.',
      on: {
        START: started('The browser of the user is sent to the authorization server.'),
        EXPIRE: expired,
      },
    },
    redirected: {
      tags: ['open'],
      description: 'The user logs in at the authorization server.',
      on: {
        START: started('The user starts again; the earlier redirect is void.'),
        CODE: { target: 'exchanging', description: 'The authorization server has sent the code back.' },
        REFUSED: {
          target: 'declined',
          description: 'The user or the authorization server denied the authorization.',
        },
        FAILED: { target: 'failed', description: 'The callback does not belong to this try.' },
        EXPIRE: expired,
      },
    },
    exchanging: {
      tags: ['open'],
      description: 'The code is exchanged for tokens. A code is sent once, even after a crash.',
      on: {
        TOKENS: [
          {
            guard: 'isKnown',
            target: 'connected',
            description: 'The browser is signed in as the same user.',
          },
          { target: 'unconfirmed', description: 'The user of the browser is unknown.' },
        ],
        FAILED: {
          target: 'failed',
          description: 'The exchange failed, its response broke a rule, or the process ended during it.',
        },
        EXPIRE: expired,
      },
    },
    unconfirmed: {
      tags: ['open'],
      description: 'The tokens are stored and not usable: the user must confirm them.',
      on: {
        START: started('The user starts again; the unconfirmed tokens are dropped.'),
        CONFIRM: { target: 'connected', description: 'The same user confirms.' },
        FAILED: { target: 'failed', description: 'Another user tried to confirm; the tokens are dropped.' },
        EXPIRE: expired,
      },
    },
    connected: { type: 'final', description: 'The account is connected.' },
    declined: { type: 'final', description: 'Denied at the authorization server.' },
    failed: { type: 'final', description: 'No usable tokens were received.' },
    expired: { type: 'final', description: 'Not finished in time.' },
  },
});
