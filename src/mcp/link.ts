import { connectionClosed, McpFailure, transportFailure } from './failure.ts';
import {
  abortedFailure,
  askSession,
  closeSession,
  isExpired,
  isModernSession,
  type Question,
  type Session,
} from './session.ts';

/**
 * A connection across sessions: over HTTP, a server may drop a session at any time, and the next request opens another
 * one (mcp.md B5).
 *
 * Guarantees: only one session is opened at a time. A request that the server rejected because of an unknown session is
 * sent once more in the next session; a request that the server accepted is never sent again.
 */
export type Link = {
  readonly open: (signal: AbortSignal) => Promise<Session>;
  readonly over: AbortController;
  session: Session | undefined;
  opening: Promise<Session> | undefined;
  /** The session that the server dropped; responses in it may still be pending. */
  retired: Session | undefined;
};

/** @throws McpFailure */
export const openLink = async (open: Link['open'], signal: AbortSignal): Promise<Link> => {
  const link: Link = {
    open,
    over: new AbortController(),
    session: await open(signal),
    opening: undefined,
    retired: undefined,
  };
  return link;
};

/** @throws McpFailure */
export const askLink = async <Result>(link: Link, question: Question<Result>): Promise<Result> => {
  try {
    return await askSession(await sessionFor(link, question), question);
  } catch (error) {
    if (!isOfLostSession(error)) throw error;
  }
  try {
    return await askSession(await sessionFor(link, question), question);
  } catch (error) {
    throw isOfLostSession(error)
      ? transportFailure('the server refuses a session that it has just opened')
      : error;
  }
};

const isOfLostSession = (error: unknown): boolean => error instanceof McpFailure && error.kind === 'expired';

/** Cancelling a request also ends its wait for a session. @throws McpFailure */
const sessionFor = (
  link: Link,
  { signal, timeoutMs }: Pick<Question<unknown>, 'signal' | 'timeoutMs'>,
): Promise<Session> => {
  const session = sessionOf(link);
  if (!signal) return session;
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(abortedFailure(signal, timeoutMs));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    session.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
};

const sessionOf = async (link: Link): Promise<Session> => {
  if (link.over.signal.aborted) throw connectionClosed();
  const { session } = link;
  if (session && !isExpired(session)) return session;
  link.opening ??= reopen(link).finally(() => {
    link.opening = undefined;
  });
  return link.opening;
};

const reopen = async (link: Link): Promise<Session> => {
  const { session, retired } = link;
  if (session) {
    if (retired) closeSession(retired);
    link.retired = session;
    link.session = undefined;
  }
  link.session = await link.open(link.over.signal);
  return link.session;
};

export const supports = ({ session, retired }: Link, capability: 'prompts' | 'resources'): boolean =>
  (session ?? retired)?.client.getServerCapabilities()?.[capability] !== undefined;

/** Returns whether the server has the revision without sessions. */
export const isModern = ({ session, retired }: Link): boolean => {
  const last = session ?? retired;
  return last !== undefined && isModernSession(last);
};

export const closeLink = async (link: Link): Promise<void> => {
  link.over.abort();
  const { session, retired, opening } = link;
  await Promise.all([
    session && closeSession(session),
    retired && closeSession(retired),
    opening?.catch(() => {}),
  ]);
};
