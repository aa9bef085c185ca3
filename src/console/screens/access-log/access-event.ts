import { fields, number, object, optional, text, withDefault } from '../../data/guard.ts';
import type { Query } from '../../list/list-state.ts';
import { type Paged, pageOf } from '../../list/pages.ts';
import { instantText } from '../audit-log/audit-event.ts';

/** Events of the access log (identity.md 7), and their queries. */

export const AccessEvent = object({
  ...fields(text, 'id', 'ts', 'kind'),
  ...fields(optional(text), 'scope', 'user', 'ip', 'route', 'reason', 'thread_id', 'run_id'),
  credential: optional(object({ kind: text, id: optional(text) })),
  count: withDefault(number, 1),
});
export type AccessEvent = ReturnType<typeof AccessEvent>;

export const ACCESS_KINDS = [
  'sign_in',
  'sign_out',
  'sign_in_failed',
  'denied',
  'decide',
  'connect',
  'disconnect',
  'admin_new_address',
] as const;

const AccessPage = pageOf(AccessEvent);

/** The service has an index of each of these and accepts one of them, the narrowest first. */
const INDEXED = ['credential', 'ip', 'user'] as const;

const indexedIn = (query: Query): (typeof INDEXED)[number] | undefined =>
  INDEXED.find((key) => query[key] !== undefined);

export const accessEvents = (query: Query, now: number): Paged<AccessEvent> => {
  const indexed = indexedIn(query);
  // Rounded, so that consecutive reads share a cache entry.
  const minute = Math.floor(now / 60_000) * 60_000;
  return {
    path: '/v1/access-log',
    query: {
      kind: query.kind,
      since: instantText(query.since, minute),
      until: instantText(query.until, minute),
      ...(indexed && { [indexed]: query[indexed] }),
    },
    guard: AccessPage,
    off: { statuses: [404, 503], setting: 'SERVICE_ACCESS_LOG_ENABLED' },
    idOf: ({ id }) => id,
  };
};

const fieldOf = (event: AccessEvent, key: (typeof INDEXED)[number]): string | undefined =>
  key === 'credential' ? event.credential?.id : event[key];

/** The loaded events that also match the filters that were not sent. */
export const withOthers = (events: readonly AccessEvent[], query: Query): readonly AccessEvent[] => {
  const others = INDEXED.filter((key) => key !== indexedIn(query) && query[key] !== undefined);
  return events.filter((event) => others.every((key) => fieldOf(event, key) === query[key]));
};

export const accessHref = (filter: { user: string } | { credential: string }): string =>
  `/access-log?${new URLSearchParams(filter)}`;
