import type { Activation } from '../schema/activation.ts';
import type { LoggedEvent } from '../schema/canonical-event.ts';
import type { RunRecord } from '../schema/run-state.ts';
import type { StoredMessage } from './tables/messages.ts';
import type { TransferNames } from './transfer-plan.ts';

/**
 * The rows of threads with the new ids of threads, runs and dispatches; see `transfers.ts`. Only fields that the service
 * writes are changed, never what users, models and tools wrote.
 */
export type Renaming = {
  thread(id: string): string;
  /** Returns the object with the ids that its fields name. */
  fields<Row extends object>(row: Row): Row;
  /** Like `fields`, for a row that may contain a message or a delivery mode. */
  row<Row extends object>(row: Row): Row;
  run(run: RunRecord): RunRecord;
  event(event: LoggedEvent): LoggedEvent;
  message(row: StoredMessage): StoredMessage;
  /** The state of a thread has a part for each run. */
  state(state: object): object;
  /** A part of a key, which may be the id of a run. */
  runPart(part: string | number): string | number;
};

export const createRenaming = (names: TransferNames): Renaming => {
  const fields: Renaming['fields'] = (row) => withFields(row, (field, id) => nameFor(names, field, id));
  const runName = (id: string): string => names.runs.get(id) ?? id;
  const nested = <Row extends object>(row: Row, name: string): Row => {
    const part: unknown = Reflect.get(row, name);
    // The shape of the part is unchanged.
    return isRecord(part) ? { ...row, [name]: fields(part) } : row;
  };
  const message = <Row extends object>(row: Row): Row => {
    const part: unknown = Reflect.get(row, 'message');
    return isRecord(part) ? { ...row, message: nested(part, 'metadata') } : row;
  };
  const renamedActivation = ({ intent, ...rest }: Activation): Activation => ({
    ...nested(rest, 'trace'),
    intent: nested(fields(intent), 'kind'),
  });
  return {
    thread: (id) => names.threads.get(id) ?? id,
    fields,
    row: (row) => nested(message(fields(row)), 'delivery_mode'),
    message,
    run(run) {
      const { activation } = run;
      return { ...fields(run), ...(activation && { activation: renamedActivation(activation) }) };
    },
    event: (event) => ({ ...fields(event), payload: nested(fields(event.payload), 'previous') }),
    state(state) {
      const runs: unknown = Reflect.get(state, 'runs');
      if (!isRecord(runs)) return state;
      return {
        ...state,
        runs: Object.fromEntries(Object.entries(runs).map(([id, part]) => [runName(id), part])),
      };
    },
    runPart: (part) => (typeof part === 'string' ? runName(part) : part),
  };
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the row itself if no field changes. */
const withFields = <Row extends object>(row: Row, nameFor: (field: string, id: string) => string): Row => {
  const changed = Object.entries(row).flatMap(([field, value]) => {
    const now = typeof value === 'string' ? nameFor(field, value) : value;
    return now === value ? [] : [[field, now] as const];
  });
  // Texts are replaced by texts.
  return changed.length === 0 ? row : { ...row, ...Object.fromEntries(changed) };
};

/** Returns the new id, by the kind of thing that the field names. */
const nameFor = ({ threads, runs, dispatches }: TransferNames, field: string, id: string): string => {
  if (field.endsWith('thread_id')) return threads.get(id) ?? id;
  if (field.endsWith('run_id') || field === 'task_id') return runs.get(id) ?? id;
  if (field.endsWith('dispatch_id')) return dispatches.get(id) ?? id;
  return field === 'correlation_id' || field === 'causation_id'
    ? (runs.get(id) ?? threads.get(id) ?? id)
    : id;
};
