import { z } from 'zod';
import { eventStream } from '../http/described.ts';
import { route } from '../http/route.ts';
import { createEventStream, type EventStream } from '../http/sse.ts';
import { ReplayLimit } from '../protocols/replay-cursor.ts';
import { type ReplayProtocol, type ReplaySource, replayPage, replayText } from '../protocols/replay-log.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { EventScope } from '../store/index.ts';
import { ThreadId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/**
 * The durable replay of a thread in a protocol (chat-and-agui.md 7), from the event log. A page costs the rows of its
 * frames, and those of a run that it begins within from the beginning of that run.
 */

export type DurableReplay = {
  /** One page, as a stream that ends with it. @throws Invalid, Gone, Unavailable */
  page(scope: string, thread_id: string, cursor: string | undefined, limit?: number): EventStream;
};

export const createDurableReplay = (
  { store, events, settings }: Pick<Rooms, 'store' | 'events' | 'settings'>,
  protocol: ReplayProtocol,
  headers: Record<string, string> = {},
): DurableReplay => ({
  page(scope, thread_id, cursor, limit = 100) {
    if (!events || settings.event_capture_mode === 'disabled') {
      throw new Unavailable('protocol replay log is not configured');
    }
    const page = replayPage(sourceOf(store, scope, thread_id), protocol, cursor, limit);
    const stream = createEventStream({ headers });
    if (page.length > 0) stream.write(replayText(page), page.length);
    stream.end();
    return stream;
  },
});

/** `path` has a `:thread_id`; `frame` is the schema of what the protocol sends. */
export const replayRoute = (
  replay: DurableReplay,
  { id, path, tag, frame }: { id: string; path: string; tag: string; frame: z.ZodType },
) =>
  route.get(path, {
    id,
    headers: ['Last-Event-ID'],
    summary: 'The frames of all runs of a thread, a page of them from a cursor or Last-Event-ID on',
    description: 'Made anew from the event log: texts come whole. 503 when no events are kept.',
    tag,
    scope: 'agent-invocation',
    params: z.object({ thread_id: ThreadId }),
    query: z.object({
      cursor: z.string().optional().meta({ description: 'id of a frame: continues behind it' }),
      limit: ReplayLimit,
    }),
    responses: { 200: eventStream(frame, 'one page, each frame with its cursor as `id`'), 410: ErrorBody },
    handle: ({ scope, params, query, header }) =>
      replay.page(scope, params.thread_id, query.cursor ?? header('last-event-id'), query.limit),
  });

const sourceOf = (store: Rooms['store'], scope: string, thread_id: string): ReplaySource => ({
  thread: (from) => eventsOf(store, scope, { thread_id }, from),
  run: (run_id, from) => eventsOf(store, scope, { run_id }, from),
});

/** From a sequence number on, the oldest first; decoded as they are taken, within one turn. */
export const eventsOf = ({ events }: Rooms['store'], scope: string, by: EventScope, from: number) =>
  events.read(scope, by, from - 1);
