import { createAtom } from '@xstate/store';
import { isConfigOff, RequestError, statusOf } from './error.ts';
import { anyObject } from './guard.ts';
import { send } from './request.ts';
import { token } from './session.ts';

/** Whether the service answers this console, as the probe of its capabilities tells (console.md 2.3). */

export type Connection =
  | 'checking'
  | 'ok'
  /** It answers, and its configuration is not to be had. */
  | 'limited'
  | 'missing'
  | 'unauthorized'
  | 'disconnected';

export const connection = createAtom<Connection>('checking');

/** How often somebody who is gone is looked for. */
const RETRY_MS = 15_000;

const judge = (error: unknown): Connection => {
  const status = statusOf(error);
  if (status === 401) return token.get() === '' ? 'missing' : 'unauthorized';
  if (status === 404 || isConfigOff(error)) return 'limited';
  if (error instanceof RequestError && error.failure.kind === 'shape') return 'limited';
  return 'disconnected';
};

let current: AbortController | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

const settle = (found: Connection): void => {
  connection.set(found);
  clearTimeout(timer);
  if (found === 'disconnected') timer = setTimeout(() => void probe(), RETRY_MS);
};

export const probe = async (): Promise<void> => {
  current?.abort();
  const attempt = new AbortController();
  current = attempt;
  try {
    await send({ path: '/v1/capabilities', signal: attempt.signal, quiet: true }, anyObject);
    settle('ok');
  } catch (error) {
    if (!attempt.signal.aborted) settle(judge(error));
  }
};

/** Somebody else's request found out. */
export const heardFrom = (error: unknown): void => {
  if (error instanceof RequestError && error.failure.kind === 'network') settle('disconnected');
};

/** From now on, and whenever there is reason to look again. */
export const watchConnection = (): void => {
  void probe();
  token.subscribe(() => void probe());
  window.addEventListener('online', () => void probe());
  window.addEventListener('focus', () => {
    if (connection.get() !== 'ok') void probe();
  });
};
