import {
  anyObject,
  type Guarded,
  isObject,
  type JsonObject,
  list,
  object,
  optional,
  text,
} from '../../data/guard.ts';
import { changesOf } from '../../design/diff.ts';
import type { Zone } from '../../i18n/format.ts';
import { tokensOf } from '../../list/match.ts';

/** Events of the audit log, and how they are asked for. */

export const AuditEvent = object({
  id: text,
  ts: text,
  actor: text,
  action: text,
  resource: text,
  before: optional(anyObject),
  after: optional(anyObject),
  overrides: optional(anyObject),
  ip: optional(text),
  request_id: optional(text),
  restored_from: optional(text),
  error: optional(text),
});
export type AuditEvent = Guarded<typeof AuditEvent>;

export const AuditPage = object({ items: list(AuditEvent), next_cursor: optional(text) });
export type AuditPage = Guarded<typeof AuditPage>;

export const ACTIONS = [
  'create',
  'update',
  'delete',
  'restart',
  'publish',
  'restore',
  'seed_apply',
  'apply_failed',
] as const;

/** As the address has them. */
export type AuditFilter = {
  since?: string | undefined;
  until?: string | undefined;
  /** Some of `ACTIONS`, with commas between. */
  action?: string | undefined;
  resource?: string | undefined;
  actor?: string | undefined;
};

/** Milliseconds of the words that `since` may be instead of a time. */
export const SPANS: Readonly<Record<string, number>> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 7 * 86_400_000,
};

/** RFC 3339 in UTC; undefined for what is neither a time nor a span. */
export const instantText = (value: string | undefined, now: number): string | undefined => {
  const span = SPANS[value ?? ''];
  const at = span === undefined ? Date.parse(value ?? '') : now - span;
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
};

/** Of a field for dates, which knows no zone. */
export const fromField = (value: string, zone: Zone): string | undefined => {
  const at = Date.parse(zone === 'utc' && value !== '' ? `${value}Z` : value);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
};

export const toField = (value: string | undefined, zone: Zone, now: number): string => {
  const text = instantText(value, now);
  if (text === undefined) return '';
  const at = Date.parse(text);
  const shifted = zone === 'utc' ? at : at - new Date(at).getTimezoneOffset() * 60_000;
  return new Date(shifted).toISOString().slice(0, 16);
};

const HASH = /^[0-9a-f]{1,16}(\/|$)/;

/** The service knows the start of an actor; what is no hash is looked for in what was loaded. */
export const asksForActor = (actor: string | undefined): boolean => actor !== undefined && HASH.test(actor);

export type AuditQuery = Record<string, string | number | undefined>;

/** One for each chosen action, since the service takes one at a time. */
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

/** Each once, the newest first. */
export const merged = (pages: readonly AuditEvent[][]): AuditEvent[] => {
  const byId = new Map(pages.flat().map((event) => [event.id, event]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
};

/** What the service could not look for. */
export const withLabel = (events: readonly AuditEvent[], actor: string | undefined): AuditEvent[] => {
  if (actor === undefined || actor === '' || asksForActor(actor)) return [...events];
  const tokens = tokensOf(actor);
  return events.filter((event) => tokens.every((token) => event.actor.toLowerCase().includes(token)));
};

/** `short`: as much of who it was as a list shows. Not everybody is a token: some changes are the service's own. */
export const actorParts = (actor: string): { short: string; label: string } => {
  const [who = '', ...label] = actor.split('/');
  return { short: HASH.test(who) ? who.slice(0, 8) : who, label: label.join('/') };
};

/** `+skills −endpoint model_id, system_prompt`: top-level keys, by what became of them. */
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

/** An agent says some of its fields twice, at the top and for its backend: once is enough to read. */
export const unmirrored = (spec: JsonObject | undefined): JsonObject | undefined => {
  const { backend } = spec ?? {};
  if (!spec || !isObject(backend) || !isObject(backend.config)) return spec;
  const own = Object.entries(backend.config).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(spec[key]),
  );
  return { ...spec, backend: { ...backend, config: Object.fromEntries(own) } };
};

/** Every write changes these. */
const OWN = new Set(['updated_at', 'created_at']);

/** What a restore of the event brings back. */
export const restorable = ({ action, before, after }: AuditEvent) =>
  action === 'restart' ? undefined : action === 'delete' ? before : after;

/** Of the namespaces that can be restored. */
export const placeOf = (resource: string): { namespace: string; id: string } | undefined => {
  const at = resource.indexOf('/');
  return at < 1 ? undefined : { namespace: resource.slice(0, at), id: resource.slice(at + 1) };
};

const quoted = (value: string): string =>
  /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

/** A cell that a table program would take for a formula is told as a text. */
const inert = (value: string): string => (/^[=+\-@\t\r]/.test(value) ? `'${value}` : value);

/** RFC 4180. */
export const csvOf = (events: readonly AuditEvent[]): string =>
  [
    ['time', 'actor', 'action', 'resource', 'summary'],
    ...events.map((event) => [event.ts, event.actor, event.action, event.resource, summaryOf(event)]),
  ]
    .map((row) => row.map((cell) => quoted(inert(cell))).join(','))
    .join('\r\n')
    .concat('\r\n');
