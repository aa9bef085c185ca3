import type { CanonicalEvent } from '../../schema/canonical-event.ts';
import { isObject } from '../../schema/endpoint.ts';
import type { Run } from '../../schema/run.ts';
import type { RunEvent } from '../../schema/run-event.ts';

/**
 * Threads, runs and events name the thread that theirs was created from, which a reader of a shared thread may not see
 * (identity.md 1.4). These functions return them without the ids of hidden threads and of their runs.
 */

export type IsHidden = (thread_id: string) => boolean;

export type NamesParents = {
  parent_thread_id?: string | undefined;
  forked_from?: { thread_id: string } | undefined;
};

export const withoutHiddenParent = <Thread extends NamesParents>(
  thread: Thread,
  isHidden: IsHidden,
): Thread => {
  const { parent_thread_id: parent, forked_from: origin } = thread;
  const hidesParent = parent !== undefined && isHidden(parent);
  const hidesOrigin = origin !== undefined && isHidden(origin.thread_id);
  if (!hidesParent && !hidesOrigin) return thread;
  const { parent_thread_id: _parent, forked_from: _origin, ...rest } = thread;
  const shown = {
    ...rest,
    ...(parent !== undefined && !hidesParent && { parent_thread_id: parent }),
    ...(origin !== undefined && !hidesOrigin && { forked_from: origin }),
  };
  // Both fields are optional.
  return shown as unknown as Thread;
};

export const runWithoutHiddenParent = (run: Run, isHidden: IsHidden): Run => {
  const { activation } = run;
  const parent = activation?.trace.parent_thread_id;
  if (!activation || parent === undefined || !isHidden(parent)) return run;
  const {
    parent_thread_id: _thread,
    parent_run_id: _run,
    parent_tool_call_id: _call,
    root_run_id: _root,
    ...trace
  } = activation.trace;
  return { ...run, parent_run_id: null, activation: { ...activation, trace } };
};

export const eventWithoutHiddenParent = (event: CanonicalEvent, isHidden: IsHidden): CanonicalEvent => {
  const payload = shownPayload(event.payload, isHidden);
  return payload === event.payload ? event : { ...event, payload };
};

/** Like `eventWithoutHiddenParent`, for an event in the stream of a run: its start and its end name its identity. */
export const runEventWithoutHiddenParent = (event: RunEvent, isHidden: IsHidden): RunEvent =>
  // The removed fields are optional.
  'identity' in event ? (shownPayload(event, isHidden) as RunEvent) : event;

type Payload = CanonicalEvent['payload'];

/** Payloads of threads have these keys with null in place of an id; those of runs omit them. */
const shownPayload = (payload: Payload, isHidden: IsHidden): Payload => {
  const { previous, identity } = payload;
  if (isObject(identity)) return isHiddenId(identity.parent_thread_id, isHidden) ? ofRoot(payload) : payload;
  const changes: Payload = {};
  for (const key of ['parent_thread_id', 'from_thread_id'])
    if (isHiddenId(payload[key], isHidden)) changes[key] = null;
  if (isObject(previous)) changes.previous = shownPayload(previous, isHidden);
  return Object.keys(changes).length === 0 ? payload : { ...payload, ...changes };
};

/** Returns the start of a run as if no other run had started it. */
const ofRoot = ({ parent_run_id: _, identity, ...payload }: Payload): Payload => {
  const {
    parent_thread_id: _thread,
    parent_run_id: _run,
    parent_tool_call_id: _call,
    ...rest
  } = isObject(identity) ? identity : {};
  return { ...payload, identity: rest };
};

const isHiddenId = (id: unknown, isHidden: IsHidden): boolean => typeof id === 'string' && isHidden(id);
