import { z } from 'zod';
import { eventStream } from '../http/described.ts';
import { route } from '../http/route.ts';
import { createEventStream, type EventStream } from '../http/sse.ts';
import { ReplayLimit } from '../protocols/replay-cursor.ts';
import { type ReplayProtocol, type ReplaySource, replayPage, replayText } from '../protocols/replay-log.ts';
import { shownProtocol } from '../protocols/shown-events.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { Place } from '../schema/place.ts';
import type { Principal } from '../schema/principal.ts';
import type { EventScope } from '../store/index.ts';
import { ThreadId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/**
 * Replays a thread in a protocol from the event log (chat-and-agui.md 7). A page costs the rows of its frames. If it
 * begins within a run, it also costs the earlier rows of that run.
 */

export type DurableReplay = {
  /** Returns one page as a stream that ends after it. @throws Invalid, Gone, Unavailable */
  page(
    reader: { principal: Principal; thread: Place },
    cursor: string | undefined,
    limit?: number,
  ): EventStream;
};

export const createDurableReplay = (
  { access, store, events, settings }: Pick<RouteDeps, 'access' | 'store' | 'events' | 'settings'>,
  protocol: ReplayProtocol,
  headers: Record<string, string> = {},
): DurableReplay => ({
  page({ principal, thread }, cursor, limit = 100) {
    if (!events || settings.event_capture_mode === 'disabled') {
      throw new Unavailable('protocol replay log is not configured');
    }
    const shown = shownProtocol(protocol, access.shownRunEvent(principal, thread));
    const page = replayPage(sourceOf(store, thread), shown, cursor, limit);
    const stream = createEventStream({ headers });
    if (page.length > 0) stream.write(replayText(page), page.length);
    stream.end();
    return stream;
  },
});

/** `path` contains `:thread_id`, and `frame` is the schema of the frames of the protocol. */
export const replayRoute = (
  { access }: Pick<RouteDeps, 'access'>,
  replay: DurableReplay,
  { id, path, tag, frame }: { id: string; path: string; tag: string; frame: z.ZodType },
) =>
  route.get(path, {
    id,
    headers: ['Last-Event-ID'],
    summary: 'One page of the frames of all runs of a thread, from a cursor or Last-Event-ID',
    description: 'Rebuilt from the event log, with whole texts. 503 when no events are stored.',
    tag,
    needs: 'read',
    params: z.object({ thread_id: ThreadId }),
    query: z.object({
      cursor: z.string().optional().meta({ description: 'id of a frame: continues after it' }),
      limit: ReplayLimit,
    }),
    responses: { 200: eventStream(frame, 'one page, each frame with its cursor as `id`'), 410: ErrorBody },
    checkReading: ({ principal, params: { thread_id = '' } }) => access.thread(principal, thread_id, 'read'),
    handle: ({ principal, params, query, header }) =>
      replay.page(
        { principal, thread: access.thread(principal, params.thread_id, 'read') },
        query.cursor ?? header('last-event-id'),
        query.limit,
      ),
  });

const sourceOf = (store: RouteDeps['store'], { scope, id: thread_id }: Place): ReplaySource => ({
  thread: (from) => readEventsFrom(store, scope, { thread_id }, from),
  run: (run_id, from) => readEventsFrom(store, scope, { run_id }, from),
});

/**
 * Reads events from a sequence number on, oldest first. They are decoded lazily and must be consumed within one
 * event-loop tick.
 */
export const readEventsFrom = ({ events }: RouteDeps['store'], scope: string, by: EventScope, from: number) =>
  events.read(scope, by, from - 1);
