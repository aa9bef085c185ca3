import { z } from 'zod';
import type { Keyed } from '../http/keyed.ts';
import type { RouteRequest } from '../http/route.ts';
import { createEventStream, type EventStream } from '../http/sse.ts';
import { ENDS_ONLY } from '../protocols/ends-only.ts';
import { loggedStream, recordedStream } from '../protocols/run-stream.ts';
import { shownProtocol } from '../protocols/shown-events.ts';
import type { Accepted, Protocol } from '../runtime/index.ts';
import type { Accept } from '../schema/idempotency.ts';
import type { JsonObject } from '../schema/json.ts';
import { NotFound } from '../schema/outcome.ts';
import type { Place } from '../schema/place.ts';
import { hasTag, type RunRecord } from '../schema/run-state.ts';
import { readEventsFrom } from './replay.ts';
import type { RouteDeps } from './route-deps.ts';

/**
 * Streams of runs for repeated requests with an `Idempotency-Key` (runtime.md 0.8), from the first frame on.
 *
 * Guarantees: no run is started. The stream contains what the log has of the run since the request was accepted, once
 * the run is done or waits; while it executes, the client waits for that.
 * Relies on the pipeline for repeats while the stream of the first request lasts in this process: those receive it live.
 */
export type RunAgain = (
  request: Pick<RouteRequest<unknown, unknown, unknown>, 'principal'>,
  created: JsonObject,
) => Promise<EventStream>;

const Reference = z.object({
  scope: z.string(),
  thread_id: z.string(),
  run_id: z.string(),
  agent_id: z.string().optional(),
  /** When the request arrived, in milliseconds: earlier streams of the run belong to other requests. */
  from: z.number(),
});
type Reference = z.infer<typeof Reference>;

/** Returns what the commit that accepts a request for a stream stores. */
export const keyedStream = (
  { clock }: Pick<RouteDeps, 'clock'>,
  keyed: Keyed | undefined,
  { scope }: Pick<Place, 'scope'>,
  agent_id?: string,
): Accept<Accepted> | undefined => {
  const from = clock.now();
  return keyed?.creates(({ run_id, thread_id }) => ({
    scope,
    thread_id,
    run_id,
    ...(agent_id !== undefined && { agent_id }),
    from,
  }));
};

export const createRunAgain =
  (
    deps: RouteDeps,
    protocol: Pick<Protocol, 'createEncoder'>,
    headers: Record<string, string> = {},
  ): RunAgain =>
  async ({ principal }, created) => {
    const { access, runtime, log } = deps;
    const reference = Reference.parse(created);
    const { scope, thread_id, run_id, agent_id } = reference;
    const place = { scope, id: thread_id };
    const right = access.may(principal, place, 'write') ? 'write' : 'decide';
    const reading = access.reading('thread', place, right, agent_id);
    if (!reading.isAllowed(principal)) throw notFound(run_id);
    const stream = createEventStream({ headers, reading });
    const shown = shownProtocol(protocol, access.shownRunEvent(principal, place));
    const text = readStream(deps, reference, shown);
    if (text !== undefined) {
      stream.write(text);
      stream.end();
      return stream;
    }
    const end = (): void => {
      try {
        stream.write(readStream(deps, reference, shown) ?? '');
      } catch (err) {
        // A reader that cannot be served must not fail the run.
        log.error('run.replay_failed', { err, thread_id, run_id });
      }
      stream.end();
    };
    const isFollowed = await runtime.follow({ run_id, thread_id }, scope, (channel) => {
      stream.onClose(channel.attach(ENDS_ONLY, { write() {}, end }));
    });
    if (!isFollowed) end();
    return stream;
  };

/** Returns the whole stream; undefined while the run executes. @throws NotFound */
const readStream = (
  { store, events, settings }: RouteDeps,
  { scope, run_id, from }: Reference,
  { createEncoder }: Pick<Protocol, 'createEncoder'>,
): string | undefined => {
  const run = store.runs.get(scope, run_id);
  if (!run) throw notFound(run_id);
  const hasLog = events !== undefined && settings.event_capture_mode !== 'disabled';
  const rows = hasLog ? readEventsFrom(store, scope, { run_id }, 1) : [];
  const logged = loggedStream(rows, createEncoder(), { run, from });
  if (logged !== undefined) return logged;
  return isInactive(run) ? recordedStream(run, createEncoder()) : undefined;
};

const isInactive = (run: RunRecord): boolean => hasTag(run, 'done') || hasTag(run, 'waiting');

const notFound = (run_id: string): NotFound => new NotFound(`run not found: ${run_id}`);
