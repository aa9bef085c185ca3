import { isObject, type JsonObject } from '../../../data/guard.ts';

/** What ends a run besides its answer: each kind has one value. */

export const STOPS = {
  max_rounds: { field: 'rounds', first: 5 },
  timeout: { field: 'seconds', first: 60 },
  token_budget: { field: 'max_total', first: 20_000 },
  consecutive_errors: { field: 'max', first: 3 },
  stop_on_tool: { field: 'tool_name', first: '' },
  content_match: { field: 'pattern', first: '' },
  loop_detection: { field: 'window', first: 4 },
} as const;

export type StopKind = keyof typeof STOPS;

export const STOP_KINDS = Object.keys(STOPS).filter((kind): kind is StopKind => kind in STOPS);

export const newStop = (kind: StopKind): JsonObject => ({
  type: kind,
  [STOPS[kind].field]: STOPS[kind].first,
});

export const stopsOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter((item) => isObject(item)) : [];

export const kindOf = (stop: JsonObject): StopKind | undefined =>
  STOP_KINDS.find((kind) => kind === stop.type);

export const isNumeric = (kind: StopKind): boolean => typeof STOPS[kind].first === 'number';
