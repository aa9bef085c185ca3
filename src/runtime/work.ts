import type { Dispatch } from '../schema/dispatch.ts';
import type { Message } from '../schema/message.ts';
import type { DeliveryMode, PendingMessage } from '../schema/pending.ts';
import type { InferenceOverrides, Resume, Run, RunAdapter, RunMode, RunOrigin } from '../schema/run.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { TraceContext } from '../schema/trace-context.ts';
import { advanceDispatch, claimChanges, logDispatch, newDispatch } from './dispatch-records.ts';
import type { MessageRange } from './facts.ts';
import { openRunOf } from './ledger.ts';
import { selectPending } from './pending.ts';
import { addWork, consumeWork, workOf } from './queue.ts';
import type { Input } from './requests.ts';
import type { Rewind } from './rewind.ts';
import { rewindHistory } from './rewind-history.ts';
import { claimedRun, newRun, resumedRun } from './run-records.ts';
import { type ParentCall, type Submission, userMessage } from './submission.ts';
import type { Thread } from './thread.ts';
import { type Decided, logDecision, ticketsOf } from './wait.ts';
import {
  appendMessages,
  createThread,
  deliver,
  ofRun,
  putDispatch,
  putRun,
  restage,
  stage,
  type Write,
} from './write.ts';

/**
 * How input, decisions and news become work: a run, the dispatch by which it is delivered, and its input, in the
 * commit of the caller, so that nothing accepted is ever half there.
 */

export type Order = {
  /** It executes from this commit on; otherwise it waits for its turn, and its input with it. */
  now: boolean;
  mode: RunMode;
  /** New input, behind what waits to join the history at this moment. */
  messages: readonly Message[];
  /** On open tickets of the run that goes on, in the order in which they are to be applied. */
  decided?: readonly Decided[] | undefined;
  /** Tools that the client executes; without, those that the run has. */
  frontend_tools?: readonly ToolDescriptor[] | undefined;
  /** Settings of its model calls; without, those that the run has. */
  overrides?: InferenceOverrides | undefined;
  /** Schema of the structured result, or null for none; without, the one that the run has. */
  output_schema?: Submission['output_schema'];
  /** A tool call of another thread drives the run: it has no dispatch. */
  driven?: boolean;
  dispatch?: Pick<Submission, 'dispatch_id' | 'priority' | 'dedupe_key' | 'available_at'>;
  alongside?: Submission['alongside'] | undefined;
  /** The waiting run that goes on, or what a new run is of. */
  run: { open: Run; news: boolean } | NewRun;
};

type NewRun = {
  run_id: string;
  agent_id: string;
  resolution_id: string;
  origin: RunOrigin;
  adapter: RunAdapter;
  parent?: ParentCall | undefined;
  context?: TraceContext | undefined;
  rewind?: Rewind | undefined;
  /** It takes the input of other work with it, which waits already. */
  left?: readonly PendingMessage[];
};

export type Work = { run: Run; dispatch: Dispatch | undefined; from: 'created' | 'waiting' };

export const putWork = (thread: Thread, write: Write, order: Order): Work => {
  const { queue, deps } = thread;
  const { run: of, now } = order;
  const open = 'open' in of ? of.open : undefined;
  const run_id = 'open' in of ? of.open.run_id : of.run_id;
  if (!('open' in of)) createMissing(thread, write, of.parent);
  const standing = workOf(queue, run_id);
  // It may have been queued already; what executes now takes that along.
  if (now) consumeWork(queue, write, run_id);
  const queued = (now ? undefined : standing) ?? newWork(thread, write, run_id, order);
  const session_id = now ? deps.ids.uuid() : undefined;
  const run =
    'open' in of
      ? continued(thread, write, { order, of, queued, session_id })
      : begun(thread, write, { order, of, queued, session_id });
  const dispatch = queued && session_id !== undefined ? claim(thread, write, queued, session_id) : queued;
  const timed = putRun(write, run, open);
  order.alongside?.(write.batch, timed);
  if (!now && queued && queued !== standing) addWork(queue, write, queued);
  return { run, dispatch, from: open ? 'waiting' : 'created' };
};

/** The thread comes into being with its first run. */
const createMissing = ({ ledger }: Thread, write: Write, parent: ParentCall | undefined): void => {
  if (ledger.record) return;
  createThread(write, {
    id: ledger.id,
    ...(parent && { parent_thread_id: parent.thread_id }),
    metadata: { created_at: write.at, updated_at: write.at },
  });
};

const newWork = (
  { ledger, deps }: Thread,
  write: Write,
  run_id: string,
  { driven, dispatch: { dispatch_id = deps.ids.uuid(), available_at, ...asked } = {} }: Order,
): Dispatch | undefined => {
  if (driven) return undefined;
  const delay = available_at === undefined ? 0 : Math.max(0, available_at - deps.clock.now());
  return newDispatch({
    ...asked,
    dispatch_id,
    thread_id: ledger.id,
    run_id,
    epoch: ledger.epoch,
    maxAttempts: deps.settings.mailbox.max_attempts,
    at: write.at,
    available_at: write.at + delay,
  });
};

/** Queued and claimed in one commit. */
const claim = ({ ledger, deps }: Thread, write: Write, queued: Dispatch, session_id: string): Dispatch => {
  const event = { type: 'CLAIM', threadEpoch: ledger.epoch } as const;
  const dispatch = advanceDispatch(queued, event, claimChanges(deps, session_id, write.at));
  logDispatch(write, 'RunQueued', queued);
  logDispatch(write, 'RunSubmitted', dispatch);
  putDispatch(write, dispatch, undefined);
  return dispatch;
};

type Putting<Of> = { order: Order; of: Of; queued: Dispatch | undefined; session_id: string | undefined };

const begun = (thread: Thread, write: Write, { order, of, queued, session_id }: Putting<NewRun>): Run => {
  const { run_id, agent_id, resolution_id, origin, adapter, parent, context, rewind } = of;
  const { mode, messages, now, frontend_tools, overrides, output_schema } = order;
  if (rewind) rewindHistory(write, rewind, run_id);
  const input = now ? takeAtOnce(thread, write, run_id, order) : undefined;
  if (!now) stageFor(thread, write, of, messages);
  return newRun({
    run_id,
    thread_id: thread.id,
    agent_id,
    resolution_id,
    origin,
    adapter,
    mode,
    parent,
    dispatch_id: queued?.dispatch_id,
    session_id,
    at: write.at,
    input,
    frontend_tools,
    overrides,
    output_schema,
    context,
  });
};

/** What waits for this moment comes before the input. */
const takeAtOnce = (
  { ledger }: Thread,
  write: Write,
  run_id: string,
  { mode, messages }: Order,
): { range: MessageRange | undefined; trigger_message_ids: string[] } => {
  const boundary = mode === 'foreground' ? 'interrupt' : 'new_run';
  const earlier = deliver(write, selectPending(ledger.pending, boundary, run_id), run_id);
  const own = appendMessages(
    write,
    messages.map((message) => ofRun(message, run_id)),
    run_id,
  );
  const range = earlier && own ? { from_seq: earlier.from_seq, to_seq: own.to_seq } : (earlier ?? own);
  return { range, trigger_message_ids: messages.map(({ id }) => id) };
};

/** The input waits with the run, which has none before it begins. */
const stageFor = (
  { ledger }: Thread,
  write: Write,
  { run_id, left = [] }: NewRun,
  messages: readonly Message[],
): void => {
  const delivery_mode: DeliveryMode = { boundary: 'new_run', granularity: 'batch', target_run_id: run_id };
  if (left.length > 0)
    restage(
      write,
      ledger.pending.map((entry) => (left.includes(entry) ? { ...entry, delivery_mode } : entry)),
    );
  stage(write, messages, delivery_mode);
};

const continued = (
  thread: Thread,
  write: Write,
  { order, of: { open, news }, queued, session_id }: Putting<{ open: Run; news: boolean }>,
): Run => {
  const decided = decisionsOn(thread, write, open, {
    order,
    dispatch_id: queued?.dispatch_id ?? open.run_id,
  });
  stage(write, order.messages, {
    boundary: 'resume_input',
    granularity: 'batch',
    target_run_id: open.run_id,
  });
  const resumed = resumedRun(open, {
    mode: order.mode,
    dispatch_id: queued?.dispatch_id,
    at: write.at,
    // What was decided for it before is applied with it.
    decisions: [...(open.activation?.seeded_decisions ?? []), ...decided],
    input: news || order.messages.length > 0,
    frontend_tools: order.frontend_tools,
    overrides: order.overrides,
    output_schema: order.output_schema,
  });
  return session_id === undefined ? resumed : claimedRun(resumed, session_id, write.at);
};

const decisionsOn = (
  thread: Thread,
  write: Write,
  open: Run,
  { order: { decided = [] }, dispatch_id }: { order: Order; dispatch_id: string },
): [string, Resume][] => {
  const tickets = new Set(ticketsOf(open).map(({ ticket_id }) => ticket_id));
  return decided
    .filter(({ run_id, ticket_id }) => run_id === open.run_id && tickets.has(ticket_id))
    .map((each): [string, Resume] => {
      const decision = newResume(thread, write, each);
      logDecision(write, { thread_id: thread.id, dispatch_id, ...each }, decision, 'durable_dispatch');
      return [each.call_id, decision];
    });
};

export const newResume = ({ deps }: Thread, write: Write, { resume }: Decided): Resume => ({
  decision_id: deps.ids.uuid(),
  ...resume,
  updated_at: write.at,
});

export const messagesOf = ({ deps }: Thread, { messages }: Input): Message[] =>
  messages.map((message) => userMessage(deps.ids.uuid(), message));

/** A run of its own for the input of a request. */
export const newRunFor = ({ deps }: Thread, request: Input): NewRun => ({
  run_id: request.run_id ?? deps.ids.uuid(),
  agent_id: request.agent.spec.id,
  resolution_id: request.agent.resolution_id,
  origin: request.origin,
  adapter: request.adapter,
  parent: request.parent,
  context: request.context,
  rewind: request.rewind,
});

/** The waiting run that the input would continue. */
export const openFor = ({ ledger }: Thread, { into }: Pick<Submission, 'into'>): Run | undefined =>
  (into === undefined ? undefined : ledger.waiting.get(into)) ?? openRunOf(ledger);

/** Does the input continue the run that waits, or is it for another one? */
export const continuesOpen = (thread: Thread, request: Submission): boolean => {
  const open = openFor(thread, request);
  if (!open || request.mode === 'interrupt_then_queue') return false;
  if (request.run_id !== undefined || request.rewind) return false;
  if (request.mode === 'sub_agent') return open.run_id === request.into;
  return !request.named || request.agent.spec.id === open.agent_id;
};
