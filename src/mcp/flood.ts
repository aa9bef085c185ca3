import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { BOUNDS } from './bounds.ts';

/**
 * Which notifications of a server are worth being read. Each of them costs a little, and a server may send any number:
 * of those that only the last one of counts, a few a second are enough. Nothing else is ever dropped.
 */
export type Flood = {
  second: number;
  /** Progress that was let through in this second, by token. */
  readonly progress: Map<unknown, number>;
  /** When a change of tools was let through last. */
  changedAt: number;
};

export const createFlood = (): Flood => ({ second: 0, progress: new Map(), changedAt: -Infinity });

/** Shorter than the rest that a change of tools is given before they are read. */
const CHANGE_MS = 50;
const MOST_TOKENS = 1000;

export const isWorthReading = (flood: Flood, message: JSONRPCMessage, now = performance.now()): boolean => {
  if (!('method' in message) || 'id' in message) return true;
  if (message.method === 'notifications/tools/list_changed') {
    if (now - flood.changedAt < CHANGE_MS) return false;
    flood.changedAt = now;
    return true;
  }
  if (message.method !== 'notifications/progress') return true;
  const second = Math.floor(now / 1000);
  if (second !== flood.second) flood.progress.clear();
  flood.second = second;
  const token = message.params?.progressToken;
  const count = (flood.progress.get(token) ?? 0) + 1;
  if (count > BOUNDS.progressRate || flood.progress.size > MOST_TOKENS) return false;
  flood.progress.set(token, count);
  return true;
};
