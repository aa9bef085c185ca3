import {
  anyObject,
  fields,
  isObject,
  type JsonObject,
  list,
  object,
  optional,
  text,
} from '../../data/guard.ts';
import { changesOf } from '../../design/diff.ts';
import { tokensOf } from '../../list/match.ts';

/** Events of the audit log, and their queries. */

export const AuditEvent = object({
  ...fields(text, 'id', 'ts', 'actor', 'action', 'resource'),
  ...fields(optional(anyObject), 'before', 'after', 'overrides'),
  ...fields(optional(text), 'ip', 'request_id', 'restored_from', 'error'),
});
export type AuditEvent = ReturnType<typeof AuditEvent>;

export const AuditPage = object({ items: list(AuditEvent), next_cursor: optional(text) });
export type AuditPage = ReturnType<typeof AuditPage>;

export const ACTIONS = [
  'create',
  'update',
  'delete',
  'restart',
  'publish',
  'restore',
  'seed_apply',
  'apply_failed',
  'tools_changed',
  'tools_accepted',
  'try',
] as const;

/** Filter values as they are in the address. */
export type AuditFilter = {
  since?: string | undefined;
  until?: string | undefined;
  /** Comma-separated members of `ACTIONS`. */
  action?: string | undefined;
  resource?: string | undefined;
  actor?: string | undefined;
};

/** Milliseconds by the span that `since` may contain instead of a time. */
export const SPANS = [
  ['1h', 3_600_000],
  ['24h', 86_400_000],
  ['7d', 7 * 86_400_000],
] as const;

/** Converts a time or a span to RFC 3339 in UTC; undefined for anything else. */
export const instantText = (value: string | undefined, now: number): string | undefined => {
  const span = SPANS.find(([name]) => name === value)?.[1];
  const at = span === undefined ? Date.parse(value ?? '') : now - span;
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
};

const HASH = /^[0-9a-f]{1,16}(\/|$)/;

/** The service filters by a prefix of the actor's hash. Any other text filters the loaded events. */
export const asksForActor = (actor: string | undefined): boolean => actor !== undefined && HASH.test(actor);

export type AuditQuery = Record<string, string | number | undefined>;

/** One query per selected action, because the service accepts a single one. */
export const queriesOf = (filter: AuditFilter, now: number): AuditQuery[] => {
  const base = {
    since: instantText(filter.since, now),
    until: instantText(filter.until, now),
    resource: filter.resource || undefined,
    actor: asksForActor(filter.actor) ? filter.actor : undefined,
    limit: 100,
  };
  const actions = (filter.action ?? '')
    .split(',')
    .filter((action) => ACTIONS.some((known) => known === action));
  return actions.length === 0 ? [base] : actions.map((action) => ({ ...base, action }));
};

export const merged = (pages: readonly AuditEvent[][]): AuditEvent[] => {
  const byId = new Map(pages.flat().map((event) => [event.id, event]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
};

/** Applies the actor filter that the service does not support. */
export const withLabel = (events: readonly AuditEvent[], actor: string | undefined): AuditEvent[] => {
  if (actor === undefined || actor === '' || asksForActor(actor)) return [...events];
  const tokens = tokensOf(actor);
  return events.filter((event) => tokens.every((token) => event.actor.toLowerCase().includes(token)));
};

/**
 * `short` is the part of the actor that a list shows. Not every actor is a token hash: some changes are made by the
 * service.
 */
export const actorParts = (actor: string): { short: string; label: string } => {
  const [who = '', ...label] = actor.split('/');
  return { short: HASH.test(who) ? who.slice(0, 8) : who, label: label.join('/') };
};

/** The changed top-level keys, for example `+skills −endpoint model_id, system_prompt`. */
export const summaryOf = ({ before, after, error }: AuditEvent): string => {
  if (error !== undefined) return error;
  if (!before || !after) return '';
  const words = new Map<string, string>();
  for (const { path, kind } of changesOf(unmirrored(before), unmirrored(after))) {
    const [key = path] = path.split(/[.[]/);
    if (OWN.has(key)) continue;
    const isWhole = key === path;
    words.set(key, isWhole && kind === 'added' ? `+${key}` : isWhole && kind === 'removed' ? `−${key}` : key);
  }
  return [...words.values()].join(', ');
};

/** Removes fields of `backend.config` that repeat fields of the agent. */
export const unmirrored = (spec: JsonObject | undefined): JsonObject | undefined => {
  const { backend } = spec ?? {};
  if (!spec || !isObject(backend) || !isObject(backend.config)) return spec;
  const own = Object.entries(backend.config).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(spec[key]),
  );
  return { ...spec, backend: { ...backend, config: Object.fromEntries(own) } };
};

const OWN = new Set(['updated_at', 'created_at']);

const WITHOUT_ENTRY = new Set(['restart', 'tools_changed', 'tools_accepted', 'try']);

/** The state that a restore of the event would bring back. */
export const restorable = ({ action, before, after }: AuditEvent) =>
  WITHOUT_ENTRY.has(action) ? undefined : action === 'delete' ? before : after;

export const placeOf = (resource: string): { namespace: string; id: string } | undefined => {
  const at = resource.indexOf('/');
  return at < 1 ? undefined : { namespace: resource.slice(0, at), id: resource.slice(at + 1) };
};
