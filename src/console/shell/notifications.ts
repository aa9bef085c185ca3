import { createAtom } from '@xstate/store';
import { isObject } from '../data/guard.ts';
import { KEYS, readJson, writeKey } from '../data/storage.ts';
import type { ShellText } from './screen.ts';

/** What has happened since this page was opened and is worth to be told of (console.md 5.8). Nothing of it is stored. */

export const KINDS = ['waiting', 'config', 'backend', 'mcp', 'eval'] as const;
export type Kind = (typeof KINDS)[number];

export type Notification = {
  id: number;
  kind: Kind;
  /** Milliseconds. */
  at: number;
  text: ShellText;
  values: Record<string, string | number>;
  href?: string | undefined;
  isRead: boolean;
};

/** The newest first. */
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

/** @example notify('eval', 'bell.kind.eval', {}, '/eval-runs/01J…'); */
export const notify = (
  kind: Kind,
  text: ShellText,
  values: Notification['values'] = {},
  href?: string,
): void => {
  if (muted.get().includes(kind)) return;
  last += 1;
  const added: Notification = { id: last, kind, at: Date.now(), text, values, href, isRead: false };
  notifications.set([added, ...notifications.get()].slice(0, MOST_KEPT));
};

export const markRead = (): void =>
  notifications.set(notifications.get().map((one) => ({ ...one, isRead: true })));

export const clearNotifications = (): void => notifications.set([]);

/** A change that somebody else made: the newest of them that was not told of. */
export type AuditLine = { id: string; actor: string; resource: string };

/** @param own what the log calls this user: the hash of his token */
export const newChanges = (
  lines: readonly AuditLine[],
  since: string | undefined,
  own: string | undefined,
): AuditLine[] =>
  since === undefined
    ? []
    : lines.filter(({ id, actor }) => id > since && (own === undefined || !actor.startsWith(own)));

export const auditLinesIn = (body: unknown): AuditLine[] =>
  isObject(body) && Array.isArray(body.items)
    ? body.items.filter(
        (line): line is AuditLine =>
          isObject(line) && [line.id, line.actor, line.resource].every((value) => typeof value === 'string'),
      )
    : [];

/** The state that each connection to an MCP server is in, by the id of its actor. */
export type Connections = ReadonlyMap<string, string>;

export type McpNews = { server: string; hasGivenUp: boolean };

const serverOf = (actor: string): string => actor.slice(actor.indexOf(':') + 1);

/** @param before undefined: nobody looked yet */
export const mcpNews = (before: Connections | undefined, now: Connections): McpNews[] =>
  before === undefined
    ? []
    : [...now].flatMap(([actor, state]) => {
        const earlier = before.get(actor);
        if (state === 'givenUp' && earlier !== state) return { server: serverOf(actor), hasGivenUp: true };
        const isBack = earlier === 'givenUp' && state.startsWith('ready');
        return isBack ? { server: serverOf(actor), hasGivenUp: false } : [];
      });

type EndedRun = { id: string; ended_at_secs?: number | undefined };

/** Eval runs that have ended since somebody looked. @param known those that had ended then; undefined: nobody looked */
export const evalNews = <Run extends EndedRun>(
  known: ReadonlySet<string> | undefined,
  runs: readonly Run[],
): Run[] =>
  known === undefined
    ? []
    : runs.filter(({ id, ended_at_secs }) => ended_at_secs !== undefined && !known.has(id));
