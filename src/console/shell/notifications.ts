import { createAtom } from '@xstate/store';
import { KEYS, readJson, writeKey } from '../data/storage.ts';
import type { ShellText } from './screen.ts';

/** Notifications since this page was opened (console.md 5.8). They are not stored. */

export const KINDS = ['waiting', 'config', 'backend', 'mcp', 'eval'] as const;
export type Kind = (typeof KINDS)[number];

export type News = { kind: Kind; text: ShellText; values?: Record<string, string | number>; href?: string };

export type Notification = News & {
  id: number;
  /** In milliseconds. */
  at: number;
  isRead: boolean;
};

/** Newest first. */
export const notifications = createAtom<readonly Notification[]>([]);

const readMuted = (): readonly Kind[] => {
  const stored = readJson(KEYS.mutedKinds);
  return Array.isArray(stored) ? KINDS.filter((kind) => stored.includes(kind)) : [];
};

export const muted = createAtom<readonly Kind[]>(readMuted());

export const mute = (kind: Kind, isMuted: boolean): void => {
  const rest = muted.get().filter((other) => other !== kind);
  muted.set(isMuted ? [...rest, kind] : rest);
  writeKey(KEYS.mutedKinds, JSON.stringify(muted.get()));
};

const MOST_KEPT = 100;

let last = 0;

/** @example notify({ kind: 'backend', text: 'bell.lost' }); */
export const notify = (news: News): void => {
  if (muted.get().includes(news.kind)) return;
  last += 1;
  const added: Notification = { ...news, id: last, at: Date.now(), isRead: false };
  notifications.set([added, ...notifications.get()].slice(0, MOST_KEPT));
};

export const markRead = (): void =>
  notifications.set(notifications.get().map((one) => ({ ...one, isRead: true })));

export const clearNotifications = (): void => notifications.set([]);
