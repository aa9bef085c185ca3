import type { AccessEvent } from '../../schema/access-event.ts';
import { isUlid } from '../../schema/audit-event.ts';
import { Invalid } from '../../schema/outcome.ts';
import { fillPage } from '../../schema/page-rows.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { indexed, type Key } from '../engine/keys.ts';
import type { Columns } from '../engine/sink.ts';
import { firstIdAt, idsBetween, idsIn } from './id-lists.ts';

/**
 * The access log, by the ids of its events, and the addresses that have used the admin token.
 *
 * Each combination of scope, kind and one of user, credential and address is a separate list, so a page reads only the
 * events that it shows.
 * Cost: at most 16 index rows per event. Putting an event again, with a greater count, writes the same index rows.
 */

/** At most one of `user`, `credential` and `ip`. */
export type AccessFilter = {
  scope?: string;
  kind?: AccessEvent['kind'];
  user?: string;
  /** Id of a credential. */
  credential?: string;
  ip?: string;
};

export type AccessQuery = AccessFilter & {
  /** Milliseconds; `since` is inclusive, `until` is exclusive. */
  since?: number;
  until?: number;
  limit: number;
  /** Only events with a smaller id. */
  before?: string;
};

export type AccessEventTable = {
  put(batch: Batch, event: AccessEvent): void;
  /**
   * Newest first. `next` is set unless the page is the last one, and is the `before` of the next page.
   *
   * @throws Invalid when `before` is not an id
   */
  page(query: AccessQuery): { items: AccessEvent[]; texts: string[]; next?: string };
  /** Removes events older than this, oldest first and at most `max`; returns their number. */
  prune(batch: Batch, olderThanMs: number, max: number): number;
  /** Returns when an address last used the admin token. */
  adminSeenAt(address: string): number | undefined;
  putAdminSeen(batch: Batch, address: string, at: number): void;
  /** Removes addresses that have not used the admin token since. */
  forgetAdmins(batch: Batch, olderThanMs: number): void;
};

export const createAccessEventTable = (env: Environment): AccessEventTable => {
  const events = env.table<AccessEvent>('access_events');
  const index = env.table<true>('access_index');
  const admins = env.table<number>('admin_addresses');

  const read = function* (query: AccessQuery): Iterable<AccessEvent> {
    const { since, until, before } = query;
    const ids = idsIn(index, listOf(query), idsBetween(since, until, before));
    for (; ids.newest !== undefined; ids.next()) {
      const event = events.get([ids.newest]);
      if (event) yield event;
    }
  };

  return {
    put(batch, event) {
      if (!isUlid(event.id)) throw new Invalid(`access event id '${event.id}' is not a ULID`);
      events.put(batch, [event.id], event);
      for (const key of indexKeys(event)) index.put(batch, key, true);
    },
    page(query) {
      const { before, limit } = query;
      if (before !== undefined && !isUlid(before)) throw new Invalid('invalid cursor');
      const { rows: items, texts, more } = fillPage(read(query), limit);
      const last = items.at(-1);
      return { items, texts, ...(more && last && { next: last.id }) };
    },
    prune(batch, olderThanMs, max) {
      let removed = 0;
      for (const { key, value } of events.entries({ prefix: [], to: [firstIdAt(olderThanMs)], limit: max })) {
        for (const listed of indexKeys(value)) index.remove(batch, listed);
        events.remove(batch, key);
        removed += 1;
      }
      return removed;
    },
    adminSeenAt: (address) => admins.get([indexed(address)]),
    putAdminSeen: (batch, address, at) => admins.put(batch, [indexed(address)], at),
    forgetAdmins(batch, olderThanMs) {
      for (const { key, value } of admins.entries({ prefix: [] }))
        if (value < olderThanMs) admins.remove(batch, key);
    },
  };
};

/** The columns of a shipped row. */
export const accessColumns = ({ scope, kind, user }: AccessEvent): Columns => ({
  scope: scope ?? null,
  a: kind,
  b: user ?? null,
});

/** Neither a substitute of `indexed` nor a kind. */
const ANY = '*';

const part = (name: string, text: string): string => `${name}${indexed(text)}`;

const SUBJECTS = ['user', 'credential', 'ip'] as const;

const listOf = ({ scope, kind = ANY, ...filter }: Omit<AccessFilter, 'kind'> & { kind?: string }): Key => {
  const [subject = ANY] = SUBJECTS.flatMap((name) => {
    const text = filter[name];
    return text === undefined ? [] : [part(name, text)];
  });
  return [scope === undefined ? ANY : indexed(scope), kind, subject];
};

const indexKeys = ({ id, scope, kind, user, credential, ip }: AccessEvent): Key[] => {
  const subjects: AccessFilter[] = [
    {},
    ...(user === undefined ? [] : [{ user }]),
    ...(credential?.id === undefined ? [] : [{ credential: credential.id }]),
    ...(ip === undefined ? [] : [{ ip }]),
  ];
  return [{}, ...(scope === undefined ? [] : [{ scope }])].flatMap((ofScope) =>
    [{}, { kind }].flatMap((ofKind) =>
      subjects.map((subject) => [...listOf({ ...ofScope, ...ofKind, ...subject }), id]),
    ),
  );
};
