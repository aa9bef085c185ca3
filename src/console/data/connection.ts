import { createAtom } from '@xstate/store';
import { isConfigOff, RequestError, statusOf } from './error.ts';
import { anyObject } from './guard.ts';
import { Identity, mayUse } from './principal.ts';
import { send, watchFailures } from './request.ts';
import { token } from './session.ts';

/** Whether the service responds to this console, as the probe of its capabilities reports it (console.md 2.3). */

export type Connection =
  | 'checking'
  | 'ok'
  /** The service responds, but its configuration is not available, or not for this principal. */
  | 'limited'
  | 'missing'
  | 'unauthorized'
  | 'disconnected';

export const connection = createAtom<Connection>('checking');

/** Whether the service responds, with or without its configuration. */
export const isConnected = (status: Connection): boolean => status === 'ok' || status === 'limited';

/** Interval between probes while the service is unreachable. */
const RETRY_MS = 15_000;

const judge = (error: unknown): Connection => {
  const status = statusOf(error);
  if (status === 401) return token.get() === '' ? 'missing' : 'unauthorized';
  // A principal that may not read the configuration is connected, too.
  if (status === 403 || status === 404 || isConfigOff(error)) return 'limited';
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
    const { signal } = attempt;
    // Without the grant to read the configuration, the service would record a refused request.
    const who = await send({ path: '/v1/identity', signal, quiet: true }, Identity);
    if (mayUse(who, ['observe'])) await send({ path: '/v1/capabilities', signal, quiet: true }, anyObject);
    settle(mayUse(who, ['observe']) ? 'ok' : 'limited');
  } catch (error) {
    if (!attempt.signal.aborted) settle(judge(error));
  } finally {
    if (current === attempt) current = undefined;
  }
};

/** Whether the service rejects a token. An unreachable service rejects none. */
export const isRejected = async (bearer: string, signal: AbortSignal): Promise<boolean> => {
  try {
    await send({ path: '/v1/capabilities', bearer, signal, quiet: true }, anyObject);
    return false;
  } catch (error) {
    return statusOf(error) === 401;
  }
};

/**
 * Probes now, and again when a request gets no response, the token changes, the browser comes online, or the window
 * receives focus while not connected.
 */
export const watchConnection = (): void => {
  watchFailures(() => {
    if (!current) void probe();
  });
  void probe();
  token.subscribe(() => void probe());
  window.addEventListener('online', () => void probe());
  window.addEventListener('focus', () => {
    if (connection.get() !== 'ok') void probe();
  });
};
