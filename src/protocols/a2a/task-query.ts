import { z } from 'zod';
import { TASK_STATES, type TaskState } from '../../../machines/a2a-task.ts';
import { invalidRequest, type Violation } from './errors.ts';

/** Query parameters of tasks (a2a.md 3.4, 9). All problems are reported at once; blank means absent. */

export type TaskQuery = {
  context_id: string | undefined;
  state: TaskState | undefined;
  page_size: number;
  page_token: string | undefined;
  history_length: number;
  artifacts: boolean;
  /** Time in milliseconds. */
  since: number | undefined;
};

/** An integer as text. Invalid values are reported together with all other problems. */
const whole = (description: string) =>
  z
    .string()
    .optional()
    .meta({ description, override: { type: 'integer', minimum: 0 } });

/** Documents the query parameters. They are validated below, where all problems are reported at once. */
export const HistoryLengthQuery = z.looseObject({
  historyLength: whole('so many messages of the history, the latest; default: all'),
});

export const PageQuery = z.looseObject({
  pageSize: whole('clamped to 1..100; default 50'),
  pageToken: z.string().optional().meta({ description: '`nextPageToken` of the previous page' }),
});

export const TaskListQuery = PageQuery.extend({
  contextId: z.string().optional().meta({ description: 'only tasks of this thread' }),
  status: z
    .string()
    .optional()
    .meta({ description: 'only tasks in this state', override: { type: 'string', enum: [...TASK_STATES] } }),
  historyLength: whole('so many messages of each history, the latest; default 0'),
  includeArtifacts: z
    .string()
    .optional()
    .meta({ description: 'default false', override: { type: 'boolean' } }),
  statusTimestampAfter: z
    .string()
    .optional()
    .meta({ description: 'changed since, RFC 3339', override: { type: 'string', format: 'date-time' } }),
});

type Query = (name: string) => string | undefined;

/** Clients that send every field send the unspecified state for any state. */
const STATES: Readonly<Record<string, TaskState | null>> = {
  unspecified: null,
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  input_required: 'TASK_STATE_INPUT_REQUIRED',
  auth_required: 'TASK_STATE_AUTH_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
  cancelled: 'TASK_STATE_CANCELED',
  rejected: 'TASK_STATE_REJECTED',
};

const DEFAULT_SIZE = 50;
const MAX_SIZE = 100;

/** @throws A2aError 400 */
export const decodeTaskQuery = (query: Query): TaskQuery => {
  const violations: Violation[] = [];
  const read = reader(query, violations);
  const size = read('pageSize', unsigned, 'pageSize must be an unsigned integer') ?? DEFAULT_SIZE;
  const decoded = {
    context_id: query('contextId')?.trim() || undefined,
    state: read('status', stateOf, 'status must be a valid TaskState value') ?? undefined,
    page_size: Math.min(Math.max(size, 1), MAX_SIZE),
    page_token: query('pageToken')?.trim() || undefined,
    history_length: read('historyLength', unsigned, 'historyLength must be an unsigned integer') ?? 0,
    artifacts: read('includeArtifacts', flag, 'includeArtifacts must be true or false') ?? false,
    since: read('statusTimestampAfter', time, 'statusTimestampAfter must be an RFC 3339 timestamp'),
  };
  if (violations.length > 0) throw invalidRequest(violations);
  return decoded;
};

/** Undefined means the whole history. @throws A2aError 400 */
export const decodeHistoryLength = (query: Query): number | undefined => {
  const violations: Violation[] = [];
  const length = reader(query, violations)(
    'historyLength',
    unsigned,
    'historyLength must be an unsigned integer',
  );
  if (violations.length > 0) throw invalidRequest(violations);
  return length;
};

const reader =
  (query: Query, violations: Violation[]) =>
  <Value>(
    name: string,
    parse: (text: string) => Value | undefined,
    description: string,
  ): Value | undefined => {
    const text = query(name)?.trim() ?? '';
    if (text === '') return undefined;
    const value = parse(text);
    if (value === undefined) violations.push({ field: name, description });
    return value;
  };

const unsigned = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

const flag = (text: string): boolean | undefined => FLAGS.get(text);

const stateOf = (text: string): TaskState | null | undefined => {
  const name = text
    .toLowerCase()
    .replace(/^task_state_/, '')
    .replaceAll('-', '_');
  return Object.hasOwn(STATES, name) ? STATES[name] : undefined;
};

const Timestamp = z.iso.datetime({ offset: true });

const time = (text: string): number | undefined =>
  Timestamp.safeParse(text).success ? Date.parse(text) : undefined;
