import { z } from 'zod';
import type { EventFeed } from '../events/feed.ts';
import { route } from '../http/route.ts';
import { createEventStream } from '../http/sse.ts';
import { CanonicalEvent } from '../schema/canonical-event.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Limit } from '../schema/paging.ts';
import type { EventScope } from '../store/index.ts';
import type { Rooms } from './rooms.ts';

/** The event logs of threads and runs, as pages and live (runtime.md 13.2). */

/** Not the cursor of other lists: a blank one is refused. */
const EventCursor = z
  .string()
  .optional()
  .meta({ description: 'of an event of this log: continues behind it' });

const EventQuery = z.object({ cursor: EventCursor, limit: Limit });

const StreamQuery = z.object({ cursor: EventCursor });

const EventParams = z.object({ id: z.string() });

const EventList = z
  .object({
    items: z.array(CanonicalEvent),
    next_cursor: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'EventList' });

export const eventRoutes = ({ events }: Pick<Rooms, 'events'>) =>
  events
    ? [
        ...logRoutes(events, 'thread', '/v1/threads/:id/events', (thread_id) => ({ thread_id })),
        ...logRoutes(events, 'run', '/v1/runs/:id/events', (run_id) => ({ run_id })),
      ]
    : [];

const logRoutes = (
  events: EventFeed,
  owner: 'thread' | 'run',
  path: string,
  logOf: (id: string) => EventScope,
) => [
  route.get(path, {
    summary: `Events of a ${owner}, the oldest first`,
    tag: 'events',
    scope: 'agent-invocation',
    params: EventParams,
    query: EventQuery,
    responses: { 200: EventList, 400: ErrorBody, 410: ErrorBody },
    handle: ({ scope, params, query }) => events.list(scope, logOf(params.id), query.cursor, query.limit),
  }),
  route.get(`${path}/stream`, {
    summary: `Events of a ${owner} from a cursor, or Last-Event-ID, or now on, then as they happen`,
    tag: 'events',
    scope: 'agent-invocation',
    params: EventParams,
    query: StreamQuery,
    responses: { 200: 'text/event-stream of CanonicalEvent', 400: ErrorBody, 410: ErrorBody },
    handle({ scope, params, query, header }) {
      const stream = createEventStream();
      events.follow(scope, logOf(params.id), query.cursor ?? header('last-event-id'), stream);
      return stream;
    },
  }),
];
