import { z } from 'zod';
import type { EventFeed } from '../events/feed.ts';
import type { EventReader } from '../events/follower.ts';
import { eventStream } from '../http/described.ts';
import { listReply } from '../http/list-reply.ts';
import { route } from '../http/route.ts';
import { createEventStream, type EventStream } from '../http/sse.ts';
import type { Access } from '../identity/access/access.ts';
import { CanonicalEvent } from '../schema/canonical-event.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Limit } from '../schema/paging.ts';
import type { EventScope } from '../store/index.ts';
import { RunId, ThreadId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** The event logs of threads and runs, as pages and live (runtime.md 13.2). */

/** Unlike the cursors of other lists, a blank one is rejected. */
const EventCursor = z
  .string()
  .optional()
  .meta({ description: 'id of an event of this log: continues after it' });

const EventQuery = z.object({ cursor: EventCursor, limit: Limit });

const StreamQuery = z.object({ cursor: EventCursor });

const PARAMS = { thread: z.object({ id: ThreadId }), run: z.object({ id: RunId }) } as const;

const EventList = z
  .object({
    items: z.array(CanonicalEvent),
    next_cursor: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'EventList', description: 'One page of events.' });

export const eventRoutes = ({ events, access }: Pick<RouteDeps, 'events' | 'access'>) =>
  events
    ? [
        ...logRoutes(events, access, 'thread', '/v1/threads/:id/events', (thread_id) => ({ thread_id })),
        ...logRoutes(events, access, 'run', '/v1/runs/:id/events', (run_id) => ({ run_id })),
      ]
    : [];

const NAME = { thread: 'Thread', run: 'Run' } as const;

const logRoutes = (
  events: EventFeed,
  access: Access,
  owner: 'thread' | 'run',
  path: string,
  logOf: (id: string) => EventScope,
) => [
  route.get(path, {
    id: `list${NAME[owner]}Events`,
    summary: `Events of a ${owner}, the oldest first`,
    description: 'The durable log contains each text as one event, without deltas.',
    tag: 'events',
    needs: 'read',
    params: PARAMS[owner],
    query: EventQuery,
    responses: { 200: EventList, 410: ErrorBody },
    handle({ principal, params, query }) {
      const { scope, id } = access[owner](principal, params.id, 'read');
      const { items, texts, next_cursor, has_more } = events.list(
        scope,
        logOf(id),
        query.cursor,
        query.limit,
      );
      const shown = access.shownEvent(principal, { scope, id });
      const given = shown ? items.map((event) => JSON.stringify(shown(event))) : texts;
      return listReply('items', given, { next_cursor, has_more });
    },
  }),
  route.get(`${path}/stream`, {
    id: `stream${NAME[owner]}Events`,
    headers: ['Last-Event-ID'],
    summary: `Events of a ${owner} from a cursor, or Last-Event-ID, or now on, then as they happen`,
    description:
      'Durable events, without deltas. The first frame is a comment `: from <cursor>`, so that a client that is disconnected before the first event can resume. 410 when the cursor is unknown or expired: restart without a cursor.',
    tag: 'events',
    needs: 'read',
    params: PARAMS[owner],
    query: StreamQuery,
    responses: {
      200: eventStream(
        CanonicalEvent,
        'the events of the log, each with its cursor as `id`; it does not end',
      ),
      410: ErrorBody,
    },
    checkReading: ({ principal, params: { id = '' } }) => access[owner](principal, id, 'read'),
    handle({ principal, params, query, header }) {
      const { scope, id } = access[owner](principal, params.id, 'read');
      const stream = createEventStream({ reading: access.reading(owner, { scope, id }, 'read') });
      const from = query.cursor ?? header('last-event-id') ?? events.end(scope, logOf(id));
      const shown = access.shownEvent(principal, { scope, id });
      events.follow(scope, logOf(id), from, shown ? readerOf(stream, shown) : stream);
      stream.write(`: from ${from}\n\n`, 1);
      return stream;
    },
  }),
];

type Shown = NonNullable<ReturnType<Access['shownEvent']>>;

/**
 * Frames are encoded once for all followers of a log. They are decoded again only for readers of the threads of another
 * user.
 */
const readerOf = (stream: EventStream, shown: Shown): EventReader => ({
  write: (frames, count) =>
    stream.write(
      frames.replace(DATA, (_, text) => shownFrame(text, shown)),
      count,
    ),
  end: () => stream.end(),
  onClose: (listener) => stream.onClose(listener),
  onDrain: (listener) => stream.onDrain(listener),
  get stalled() {
    return stream.stalled;
  },
});

/** Frames have one line of data; that of an `error` is no event. */
const DATA = /(?<=^id: .*\n)data: (.*)$/gm;

const shownFrame = (text: string, shown: Shown): string => `data: ${JSON.stringify(shown(JSON.parse(text)))}`;
