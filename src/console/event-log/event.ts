import { anyObject, list, number, object, optional, text, withDefault } from '../data/guard.ts';

/** Durable events of a thread or a run as the service reports them. Times are milliseconds. */

const Scope = object({ scope_type: text, thread_id: optional(text), run_id: optional(text) });

export const LogEvent = object({
  event_id: text,
  event_kind: text,
  payload: withDefault(anyObject, {}),
  run_id: optional(text),
  visibility: withDefault(text, 'public'),
  origin: withDefault(text, ''),
  created_at: number,
  cursors_by_scope: withDefault(list(object({ scope: Scope, cursor: text })), []),
});
export type LogEvent = ReturnType<typeof LogEvent>;

export const EventPage = object({
  items: list(LogEvent),
  next_cursor: optional(text),
  has_more: withDefault((value) => value === true, false),
});

/** Whether a log belongs to a thread or to a run. */
export type LogScope = 'thread' | 'run';

export const cursorOf = ({ cursors_by_scope }: LogEvent, scope: LogScope): string | undefined =>
  cursors_by_scope.find((each) => each.scope.scope_type === scope)?.cursor;

/** The events read so far, each once, in the order of the log. */
export type Log = { readonly events: LogEvent[]; readonly ids: Set<string> };

export const createLog = (): Log => ({ events: [], ids: new Set() });

/**
 * Appends new events and ignores known ones, because a resumed stream may repeat some. Returns whether any event was
 * new.
 */
export const addTo = ({ events, ids }: Log, told: readonly LogEvent[]): boolean => {
  let isNew = false;
  for (const event of told) {
    if (ids.has(event.event_id)) continue;
    ids.add(event.event_id);
    events.push(event);
    isNew = true;
  }
  return isNew;
};
