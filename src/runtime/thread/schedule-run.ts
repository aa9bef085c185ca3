import type { Resume, RunAdapter, RunMode, RunOrigin } from '../../schema/activation.ts';
import type { Actor } from '../../schema/actor.ts';
import type { Dispatch } from '../../schema/dispatch.ts';
import type { Message } from '../../schema/message.ts';
import { ownerOf } from '../../schema/partition.ts';
import type { DeliveryMode, PendingMessage } from '../../schema/pending.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { TraceContext } from '../../schema/trace-context.ts';
import type { MessageRange } from '../ledger/event-payloads.ts';
import { selectPending } from '../ledger/pending.ts';
import type { Rewind } from '../ledger/rewind.ts';
import { rewindHistory } from '../ledger/rewind-history.ts';
import {
  appendMessages,
  changeThread,
  createThread,
  deliver,
  ofRun,
  putDispatch,
  putRun,
  restage,
  stage,
  type Write,
} from '../ledger/transaction.ts';
import { advanceDispatch, claimChanges, logDispatch, newDispatch } from '../run/dispatch-records.ts';
import { claimedRun, newRun, resumedRun } from '../run/transitions.ts';
import { addWork, consumeWork, workOf } from './queue.ts';
import { raiseBudget } from './raise-budget.ts';
import type { Thread } from './state.ts';
import type { ParentCall, RunOptions, Submission, ThreadFields } from './submission.ts';
import { type Decided, logDecision, ticketsOf } from './tickets.ts';

/**
 * Schedules a run: writes the run, its dispatch and its input in the commit of the caller, so that accepted work is
 * never stored partially. A scheduled run either executes from that commit on, or is queued together with its input.
 */

/** The fields that a new run and a continuation have in common. */
export type Work = {
  /** The run executes from this commit on; otherwise it is queued. */
  now: boolean;
  mode: RunMode;
  /** New input, after the pending messages that join the history now. */
  messages: readonly Message[];
  options?: RunOptions;
  thread?: ThreadFields | undefined;
  /** A tool call of another thread drives the run: it has no dispatch. */
  driven?: boolean;
  dispatch?: Pick<Submission, 'dispatch_id' | 'priority' | 'dedupe_key' | 'available_at'>;
  extraWrites?: Submission['extraWrites'];
};

export type NewRun = Work & {
  run_id: string;
  agent_id: string;
  resolution_id: string;
  agent_version: number | undefined;
  origin: RunOrigin;
  adapter: RunAdapter;
  parent?: ParentCall | undefined;
  context?: TraceContext | undefined;
  rewind?: Rewind | undefined;
  /** Messages that the history imports before the input. */
  history?: readonly Message[] | undefined;
  by?: Actor | undefined;
  /** Pending input of other work that this run takes over. */
  unconsumed?: readonly PendingMessage[];
};

export type Continuation = Work & {
  /** The waiting run. */
  open: RunRecord;
  /** Decisions on its open tickets, in the order in which they are applied. */
  decided?: readonly Decided[];
  /** The run continues because of news that are already pending for it. */
  news?: boolean;
};

export type ScheduledRun = { run: RunRecord; dispatch: Dispatch | undefined; from: 'created' | 'waiting' };

export function scheduleNewRun(thread: Thread, write: Write, work: NewRun): ScheduledRun {
  const { run_id, agent_id, resolution_id, agent_version, origin, adapter, mode, parent, options, context } =
    work;
  createMissing(thread, write, { parent, fields: work.thread });
  setExpiry(write, work.thread);
  const claim = prepareClaim(thread, write, run_id, work);
  if (work.rewind) rewindHistory(write, work.rewind, run_id);
  if (work.history) appendMessages(write, work.history, undefined);
  const input = work.now ? takeInput(thread, write, work) : stageInput(thread, write, work);
  const run = newRun({
    run_id,
    thread_id: thread.id,
    agent_id,
    resolution_id,
    agent_version,
    origin,
    adapter,
    mode,
    parent,
    dispatch_id: claim.dispatch?.dispatch_id,
    session_id: claim.session_id,
    at: write.at,
    input,
    options,
    context,
    owner: ownerOf(thread.scope),
    by: work.by,
  });
  const dispatch = putWork(thread, write, { work, claim, run, before: undefined });
  return { run, dispatch, from: 'created' };
}

export function scheduleContinuation(thread: Thread, write: Write, work: Continuation): ScheduledRun {
  const { open, mode, messages, options, news = false } = work;
  const { run_id } = open;
  setExpiry(write, work.thread);
  const claim = prepareClaim(thread, write, run_id, work);
  const { session_id } = claim;
  const decided = decisionsOn(thread, write, work, claim.dispatch?.dispatch_id ?? run_id);
  stage(write, messages, { boundary: 'resume_input', granularity: 'batch', target_run_id: run_id });
  const resumed = resumedRun(open, {
    mode,
    dispatch_id: claim.dispatch?.dispatch_id,
    at: write.at,
    // Earlier decisions are applied together with the new ones.
    decisions: [...(open.activation?.seeded_decisions ?? []), ...decided],
    input: news || messages.length > 0,
    options,
  });
  const run = session_id === undefined ? resumed : claimedRun(resumed, session_id, write.at);
  const dispatch = putWork(thread, write, { work, claim, run, before: open });
  return { run, dispatch, from: 'waiting' };
}

/** The dispatch of the run, and the session that claims it if the run executes now. */
type Claim = { dispatch: Dispatch | undefined; isQueued: boolean; session_id: string | undefined };

/** The run may be queued already; an immediate execution replaces that dispatch. */
function prepareClaim({ queue, ledger, deps }: Thread, write: Write, run_id: string, work: Work): Claim {
  const queued = work.now ? undefined : workOf(queue, run_id);
  if (work.now) consumeWork(queue, write, run_id);
  const dispatch = queued ?? createDispatch({ ledger, deps }, write, run_id, work);
  const session_id = work.now ? deps.ids.uuid() : undefined;
  return { dispatch, isQueued: queued !== undefined, session_id };
}

function createDispatch(
  { ledger, deps }: Pick<Thread, 'ledger' | 'deps'>,
  write: Write,
  run_id: string,
  { driven, dispatch: { dispatch_id = deps.ids.uuid(), priority, dedupe_key, available_at } = {} }: Work,
): Dispatch | undefined {
  if (driven) return undefined;
  const delay = available_at === undefined ? 0 : Math.max(0, available_at - deps.clock.now());
  return newDispatch({
    dispatch_id,
    thread_id: ledger.id,
    run_id,
    epoch: ledger.epoch,
    maxAttempts: deps.settings.mailbox.max_attempts,
    at: write.at,
    priority,
    dedupe_key,
    available_at: write.at + delay,
  });
}

type Rows = { work: Work; claim: Claim; run: RunRecord; before: RunRecord | undefined };

/** Writes the run and its dispatch. Returns the dispatch, which is claimed if the run executes now. */
function putWork(thread: Thread, write: Write, { work, claim, run, before }: Rows): Dispatch | undefined {
  const { dispatch, isQueued, session_id } = claim;
  const claimed =
    dispatch && session_id !== undefined ? putClaimed(thread, write, dispatch, session_id) : undefined;
  const timed = putRun(write, run, before);
  work.extraWrites?.(write.batch, timed);
  if (claimed || !dispatch) return claimed;
  if (!isQueued) addWork(thread.queue, write, dispatch);
  return dispatch;
}

/** Queues and claims a dispatch in one commit. */
function putClaimed({ ledger, deps }: Thread, write: Write, queued: Dispatch, session_id: string): Dispatch {
  const event = { type: 'CLAIM', threadEpoch: ledger.epoch } as const;
  const dispatch = advanceDispatch(queued, event, claimChanges(deps, session_id, write.at));
  logDispatch(write, 'RunQueued', queued);
  logDispatch(write, 'RunSubmitted', dispatch);
  putDispatch(write, dispatch, undefined);
  return dispatch;
}

/** The thread is created with its first run. */
function createMissing(
  { ledger }: Thread,
  write: Write,
  { parent, fields }: { parent: ParentCall | undefined; fields: ThreadFields | undefined },
): void {
  if (ledger.record) return;
  const thread = {
    id: ledger.id,
    ...(fields?.resource_id !== undefined && { resource_id: fields.resource_id }),
    ...(parent && { parent_thread_id: parent.thread_id }),
    metadata: { created_at: write.at, updated_at: write.at },
  };
  createThread(write, thread, parent?.thread_id);
}

function setExpiry(write: Write, { expires_at }: ThreadFields = {}): void {
  if (expires_at === undefined) return;
  changeThread(write, ({ expires_at: _, ...thread }) =>
    expires_at === null ? thread : { ...thread, expires_at },
  );
}

/** Pending messages for this boundary precede the input. */
function takeInput(
  { ledger }: Thread,
  write: Write,
  { run_id, mode, messages }: NewRun,
): { range: MessageRange | undefined; trigger_message_ids: string[] } {
  const boundary = mode === 'foreground' ? 'interrupt' : 'new_run';
  const earlier = deliver(write, selectPending(ledger.pending, boundary, run_id), run_id);
  const own = appendMessages(
    write,
    messages.map((message) => ofRun(message, run_id)),
    run_id,
  );
  const range = earlier && own ? { from_seq: earlier.from_seq, to_seq: own.to_seq } : (earlier ?? own);
  return { range, trigger_message_ids: messages.map(({ id }) => id) };
}

/** Stages the input with the run, which has no input before it starts. */
function stageInput(
  { ledger }: Thread,
  write: Write,
  { run_id, messages, unconsumed = [] }: NewRun,
): undefined {
  const delivery_mode: DeliveryMode = { boundary: 'new_run', granularity: 'batch', target_run_id: run_id };
  if (unconsumed.length > 0)
    restage(
      write,
      ledger.pending.map((entry) => (unconsumed.includes(entry) ? { ...entry, delivery_mode } : entry)),
    );
  stage(write, messages, delivery_mode);
}

function decisionsOn(
  thread: Thread,
  write: Write,
  { open, decided = [] }: Continuation,
  dispatch_id: string,
): [string, Resume][] {
  const tickets = new Set(ticketsOf(open).map(({ ticket_id }) => ticket_id));
  return decided
    .filter(({ run_id, ticket_id }) => run_id === open.run_id && tickets.has(ticket_id))
    .map((each): [string, Resume] => {
      const decision = newResume(thread, write, each);
      logDecision(write, { thread_id: thread.id, dispatch_id, ...each }, decision, 'durable_dispatch');
      raiseBudget(thread, write, open, each);
      return [each.call_id, decision];
    });
}

export function newResume({ deps }: Thread, write: Write, { resume }: Decided): Resume {
  return { decision_id: deps.ids.uuid(), ...resume, updated_at: write.at };
}
