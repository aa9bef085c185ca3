import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { BOUNDS } from './bounds.ts';

/**
 * Drops excess notifications of a server: each costs a little, and a server may send any number. Of notifications that
 * later ones supersede, only a few per second are read; no other message is ever dropped.
 */
export type NotificationLimiter = {
  second: number;
  /** Number of accepted progress notifications in this second, by token. */
  readonly progress: Map<unknown, number>;
  /** Time of the last accepted change of tools. */
  changedAt: number;
};

export const createNotificationLimiter = (): NotificationLimiter => ({
  second: 0,
  progress: new Map(),
  changedAt: -Infinity,
});

/** Shorter than the delay between a change of tools and their listing. */
const CHANGE_MS = 50;
const MOST_TOKENS = 1000;

export const accepts = (
  limiter: NotificationLimiter,
  message: JSONRPCMessage,
  now = performance.now(),
): boolean => {
  if (!('method' in message) || 'id' in message) return true;
  if (message.method === 'notifications/tools/list_changed') {
    if (now - limiter.changedAt < CHANGE_MS) return false;
    limiter.changedAt = now;
    return true;
  }
  if (message.method !== 'notifications/progress') return true;
  const second = Math.floor(now / 1000);
  if (second !== limiter.second) limiter.progress.clear();
  limiter.second = second;
  const token = message.params?.progressToken;
  const count = (limiter.progress.get(token) ?? 0) + 1;
  if (count > BOUNDS.progressRate || limiter.progress.size > MOST_TOKENS) return false;
  limiter.progress.set(token, count);
  return true;
};
