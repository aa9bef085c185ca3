import type { ActorRefFrom } from 'xstate';
import {
  type MemberEvent,
  type MemberState,
  type memberMachine,
  memberStateOf,
} from '../../machines/member.ts';
import type { Database } from '../postgres/index.ts';
import type { Life } from './life.ts';
import type { FencedWhy, MemberEnd, MemberOptions, Served } from './member-types.ts';
import type { Outlook } from './outlook.ts';
import type { Reports } from './reports.ts';

export type Deferred<Value> = {
  promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: unknown): void;
};

export const defer = <Value>(): Deferred<Value> => {
  let deferred: Pick<Deferred<Value>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<Value>((resolve, reject) => {
    deferred = { resolve, reject };
  });
  // The executor has been called.
  if (!deferred) throw new Error('a promise calls its executor at once');
  // A failure is one of the caller that waits; there may be none.
  promise.catch(() => {});
  return { promise, ...deferred };
};

/** A member while its process runs. */
export type MemberParts = {
  readonly options: MemberOptions;
  readonly actor: ActorRefFrom<typeof memberMachine>;
  readonly outlook: Outlook;
  readonly reports: Reports;
  readonly joined: Deferred<void>;
  readonly standing: Deferred<void>;
  readonly ended: Deferred<MemberEnd>;
  database: Database | undefined;
  life: Life | undefined;
  /** The service, from the moment at which it begins to open. */
  opening: Promise<Served> | undefined;
  served: Served | undefined;
  /** Work of a service of the machine, which a transition does not stop. */
  underWay: Promise<unknown>;
  /** Why the process cannot take part. */
  refusal: Error | undefined;
  why: FencedWhy;
  /** Whether the database has ended the membership. */
  isEnded: boolean;
  stopLoading(): void;
  stopReports(): void;
};

/** The lease is checked first, also when the event loop comes back from a pause. */
export const presentState = ({ life, actor }: MemberParts): MemberState => {
  life?.lease.check();
  return memberStateOf(actor.getSnapshot());
};

export const send = ({ actor }: MemberParts, event: MemberEvent): void => {
  if (actor.getSnapshot().status === 'active') actor.send(event);
};

export const fenced = (parts: MemberParts, why: FencedWhy): void => {
  parts.why = why;
  parts.isEnded = why === 'silent';
  send(parts, { type: 'FENCED' });
};
