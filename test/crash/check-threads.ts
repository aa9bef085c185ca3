import { textOf } from '../../src/schema/message.ts';
import type { Run } from '../../src/schema/run.ts';
import { TERMINAL } from '../service/view.ts';
import type { Broken } from './broken.ts';
import type { Ledger } from './ledger.ts';
import type { ThreadRecord } from './records.ts';

/** Invariants of every finished thread, whatever was sent to it (runtime.md 2.1, 2.4, 13.5, 18). */

export const checkThread = (broken: Broken, record: ThreadRecord, crashes: number): void => {
  checkSequence(broken, record);
  const events = groupByRun(record);
  for (const run of record.runs) checkRun(broken, run, events.get(run.run_id) ?? []);
  checkDispatches(broken, record, crashes);
  checkPointers(broken, record);
};

const groupByRun = ({ events }: ThreadRecord): Map<string, string[]> => {
  const kinds = new Map<string, string[]>();
  for (const { run_id, event_kind } of events) {
    if (run_id === undefined) continue;
    const found = kinds.get(run_id);
    if (found) found.push(event_kind);
    else kinds.set(run_id, [event_kind]);
  }
  return kinds;
};

/** Checks that each message is committed once, in order, and at the position that the log states. */
const checkSequence = (broken: Broken, { id, messages, events }: ThreadRecord): void => {
  const committed = events.filter(({ event_kind }) => event_kind === 'MessageCommitted');
  const seqs = committed.map(({ payload }) => Number(payload.message_seq));
  const wrong = seqs.findIndex((seq, index) => seq !== index + 1);
  if (wrong >= 0)
    broken.note(
      'sequence',
      `${id}: message_seq ${seqs.slice(Math.max(0, wrong - 2), wrong + 3)} at ${wrong}`,
    );
  const places = new Map(committed.map(({ payload }) => [payload.message_id, payload.message_seq]));
  for (const message of messages) {
    if (places.get(message.id ?? '') !== message.seq)
      broken.note(
        'sequence',
        `${id}: message ${message.id} at ${message.seq} is at another place in the log`,
      );
  }
  const unique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;
  if (!unique(messages.map(({ seq }) => seq))) broken.note('sequence', `${id}: a seq occurs twice`);
  if (!unique(messages.map((message) => message.id)))
    broken.note('sequence', `${id}: a message occurs twice`);
  if (!unique(events.map(({ event_id }) => event_id))) broken.note('events', `${id}: an event occurs twice`);
};

const checkRun = (broken: Broken, run: Run, kinds: readonly string[]): void => {
  const { run_id, thread_id, status, termination_reason: reason } = run;
  const about = `run ${run_id} of ${thread_id}`;
  if (status === 'created' || status === 'running') {
    broken.note('running', `${about} is ${status}, its log: ${kinds.slice(-6)}`);
    return;
  }
  const ends = kinds.filter((kind) => TERMINAL.includes(kind));
  if (ends.length !== (status === 'done' ? 1 : 0))
    broken.note(
      'terminal',
      `${about} is ${status} and has ${ends.length} terminal events: ${kinds.slice(-8)}`,
    );
  else if (status === 'done' && kinds.at(-1) !== ends[0]) {
    const end = kinds.findIndex((kind) => TERMINAL.includes(kind));
    broken.note('terminal', `${about}: events after its ${kinds[end]}: ${kinds.slice(end + 1)}`);
  }
  if (reason?.type === 'error' && status === 'done')
    broken.note('terminal', `${about} ended with an error: ${JSON.stringify(reason)}, ${kinds.slice(-8)}`);
  const { outcome } = run;
  if ((outcome !== undefined) !== (status === 'done'))
    broken.note('terminal', `${about} is ${status}: outcome`);
  if (outcome) broken.same('terminal', `${about}: outcome`, outcome.termination_reason, reason);
};

/** Checks that no work is left or abandoned, and that only crashes have cost attempts. */
const checkDispatches = (broken: Broken, { id, dispatches, runs }: ThreadRecord, crashes: number): void => {
  const waiting = new Set(runs.filter(({ status }) => status === 'waiting').map(({ run_id }) => run_id));
  for (const { dispatch_id, run_id, status, attempt_count, last_error } of dispatches) {
    const about = `dispatch ${dispatch_id} of ${id} is ${status} after ${attempt_count} attempts, ${last_error}`;
    if (status === 'DeadLetter') broken.note('attempts', about);
    if (status === 'Queued' || (status === 'Claimed' && !waiting.has(run_id))) broken.note('running', about);
    if (attempt_count > crashes) broken.note('attempts', `${about}, and ${crashes} crashes`);
  }
};

const checkPointers = (broken: Broken, { id, thread, runs }: ThreadRecord): void => {
  if (!thread) return;
  const { active_run_id, open_run_id } = thread;
  if (active_run_id !== undefined) broken.note('running', `${id}: run ${active_run_id} is active`);
  const open = runs.find(({ run_id }) => run_id === open_run_id);
  if (open_run_id !== undefined && open?.status !== 'waiting')
    broken.note('running', `${id}: run ${open_run_id} is open and ${open?.status}`);
};

/** The number of occurrences of each marked input per thread. */
const countMarks = (records: ReadonlyMap<string, ThreadRecord>): Map<string, string[]> => {
  const found = new Map<string, string[]>();
  for (const { id, messages } of records.values()) {
    for (const { role, content } of messages) {
      const [mark] = role === 'user' ? (/^\[i\d+\]/.exec(textOf(content)) ?? []) : [];
      if (mark === undefined) continue;
      found.set(mark, [...(found.get(mark) ?? []), id]);
    }
  }
  return found;
};

/**
 * Checks that acknowledged input exists once on its thread, unanswered input at most once, and rejected input never.
 * Input whose thread the service chose is checked only if the records contain every thread.
 */
export const checkInputs = (
  broken: Broken,
  { inputs }: Ledger,
  records: ReadonlyMap<string, ThreadRecord>,
  all = false,
): void => {
  const marks = countMarks(records);
  for (const { thread, mark, route, outcome, status, run_id } of inputs) {
    const places = marks.get(mark) ?? [];
    const found = thread ?? (all ? places[0] : undefined);
    const about = `${mark} by ${route} (${outcome} ${status ?? ''}, run ${run_id}) on ${found}`;
    if (thread === undefined && all && found === undefined && outcome === 'acknowledged')
      broken.note('lost', about);
    const record = found === undefined ? undefined : records.get(found);
    if (!record) continue;
    if (places.some((place) => place !== found)) broken.note('doubled', `${about}: it is on ${places}`);
    if (places.length > 1) broken.note('doubled', `${about}: it is stored ${places.length} times`);
    if (outcome === 'acknowledged' && places.length === 0) broken.note('lost', about);
    // A store may return 503 although it wrote the input in the end.
    if (outcome === 'refused' && status !== 503 && places.length > 0)
      broken.note('doubled', `${about}: it was rejected and is stored`);
    const known = run_id === undefined || record.runs.some((run) => run.run_id === run_id);
    if (outcome === 'acknowledged' && !known) broken.note('lost', `${about}: there is no such run`);
  }
};
