import { decodeSegment } from '../../http/query.ts';
import {
  type A2aError,
  invalidRequest,
  unsupportedAction,
  unsupportedPath,
} from '../../protocols/a2a/errors.ts';

/**
 * Which operation a path below the interface is (a2a.md 2).
 *
 * A pattern is made of literals, parameters (`:task_id`) and parameters with an action at their end
 * (`:task_id:cancel`), where the last colon counts. Patterns are tried in their order, all without a tenant first,
 * then all with one: an agent that is called like a literal cannot be addressed.
 */
export type Pattern = { methods: readonly string[]; path: string };

export type Found<Row extends Pattern> = {
  row: Row;
  tenant: string | undefined;
  /** Of the parameters, in their order. */
  values: readonly string[];
};

export const INTERFACE_PATH = '/v1/a2a';

/** @param path as it was sent, at or below the interface */
export const matchPath = <Row extends Pattern>(
  rows: readonly Row[],
  method: string,
  path: string,
): Found<Row> | A2aError => {
  const segments = path
    .slice(INTERFACE_PATH.length)
    .split('/')
    .filter((segment) => segment !== '')
    .map(decodeSegment);
  const [tenant, ...rest] = segments;
  return (
    among(rows, method, segments, undefined) ??
    (tenant === undefined ? undefined : among(rows, method, rest, tenant)) ??
    unknown(method, path, segments)
  );
};

const among = <Row extends Pattern>(
  rows: readonly Row[],
  method: string,
  segments: readonly string[],
  tenant: string | undefined,
): Found<Row> | A2aError | undefined => {
  for (const row of rows) {
    if (!row.methods.includes(method)) continue;
    const values = valuesOf(row.path.split('/'), segments);
    if (values) return values.includes('') ? NO_TASK_ID : { row, tenant, values };
  }
  return undefined;
};

const NO_TASK_ID = invalidRequest([
  {
    field: 'taskId',
    description: 'task action path must include a task id before the action suffix',
  },
]);

const valuesOf = (pattern: readonly string[], segments: readonly string[]): string[] | undefined => {
  if (pattern.length !== segments.length) return undefined;
  const values: string[] = [];
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    const value = part.startsWith(':') ? parameter(part, segment) : undefined;
    if (value !== undefined) values.push(value);
    else if (part !== segment) return undefined;
  }
  return values;
};

/** Undefined when the segment does not end in the action of the pattern. */
const parameter = (part: string, segment: string): string | undefined => {
  const [, , action] = part.split(':');
  if (action === undefined) return segment;
  const at = segment.lastIndexOf(':');
  return at >= 0 && segment.slice(at + 1) === action ? segment.slice(0, at) : undefined;
};

const unknown = (method: string, path: string, segments: readonly string[]): A2aError => {
  const [collection, task, ...more] = segments.slice(-2);
  const isTask = segments.length <= 3 && collection === 'tasks' && task !== undefined && more.length === 0;
  return method === 'POST' && isTask ? unsupportedAction(task) : unsupportedPath(path);
};
