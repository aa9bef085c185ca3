import type { ResolvedAgent } from '../loop/agent.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { Message } from '../schema/message.ts';
import type { DeliveryMode, PendingMessage } from '../schema/pending.ts';
import type { Resume, Run } from '../schema/run.ts';
import type { Attach } from './channel.ts';
import { type Channel, createChannel } from './channel.ts';
import type { RuntimeDeps } from './deps.ts';
import { restOf, startOf } from './ending.ts';
import type { Execution } from './execution.ts';
import type { MessageRange } from './facts.ts';
import type { Ledger, Write } from './ledger.ts';
import { selectPending, targetedAt } from './pending.ts';
import type { Queue } from './queue.ts';
import {
  advanceDispatch,
  claimChanges,
  claimedRun,
  logDispatch,
  newDispatch,
  newRun,
  resumedRun,
} from './records.ts';
import { isStandIn, standInFor } from './stand-in.ts';
import { type ParentCall, type Submission, userMessage } from './submission.ts';
import { decisionOf, logDecision, ticketOf } from './wait.ts';

/**
 * What accepted input writes: a run that starts with it, one that goes on with it, or one that waits for its turn
 * with its input staged. Each of these is one commit of the caller, so that nothing accepted is ever half there.
 */

/** `isHeard`: its readers had a `run_start` already. */
type Heard = { channel: Channel; isHeard: boolean };

type Prepared = { agent: ResolvedAgent; run: Run; dispatch: Dispatch; from: 'created' | 'waiting' };

export type Admission = {
  /** A run whose dispatch is claimed in the same commit; what waits for this moment comes before its input. */
  prepare(write: Write, request: Submission): Prepared;
  /** The waiting run goes on: decisions first, then the messages. */
  prepareContinuation(write: Write, request: Submission, open: Run): Prepared;
  /** A run that waits for its turn. */
  enqueue(write: Write, request: Submission): { run_id: string; dispatch_id: string };
  /** The waiting run goes on with the input when it is its turn. */
  enqueueContinuation(write: Write, request: Submission, open: Run): Dispatch;
  stageFor(write: Write, request: Submission, mode: DeliveryMode): void;
  /** Input that a run did not take any more is queued; after an interrupt it is history only. */
  leaveOver(write: Write, entries: readonly PendingMessage[], execution: Execution): void;
  inputFor(run_id: string): PendingMessage[];
  /** The waiting run that the input would continue. */
  openFor(request: Submission): Run | undefined;
  continues(request: Submission): boolean;
  newWork(write: Write, run_id: string): Dispatch;
  /** Readers for a run that does not execute yet. */
  attachTo(run_id: string, attach: Attach): void;
  /** The channel of a run that begins or goes on, with the readers that waited for it. */
  channelOf(run: Pick<Run, 'run_id'>): Heard;
  /** Readers of a run that another actor of the thread has let go of. */
  adopt(run_id: string, channel: Channel): void;
  /** Does somebody wait to read a run that does not execute? */
  isAwaited(): boolean;
  /** The runs that somebody waits for. */
  unread(): string[];
  /** The run has come to rest without being executed here: its readers are told. */
  dismiss(run: Run): void;
  /** The same for a request: nothing leaves before its input is durable. */
  channelFor(request: Submission): Channel;
};

export const createAdmission = (deps: RuntimeDeps, ledger: Ledger, queue: Queue): Admission => {
  const { ids, settings } = deps;
  const thread_id = ledger.id;
  const readers = new Map<string, Attach[]>();
  const adopted = new Map<string, Channel>();

  const messagesOf = (request: Submission): Message[] =>
    request.messages.map((message) => userMessage(ids.uuid(), message));

  const createMissing = (write: Write, parent?: ParentCall): void => {
    if (ledger.record()) return;
    write.create({
      id: thread_id,
      ...(parent && { parent_thread_id: parent.thread_id }),
      metadata: { created_at: write.at, updated_at: write.at },
    });
  };

  const workOf = (write: Write, run_id: string, request?: Submission): Dispatch => {
    const driven = request?.mode === 'sub_agent';
    const dispatch = newDispatch({
      dispatch_id: driven ? run_id : (request?.dispatch_id ?? ids.uuid()),
      thread_id,
      run_id,
      epoch: ledger.epoch(),
      maxAttempts: settings.mailbox.max_attempts,
      at: write.at,
      ...(request?.priority !== undefined && { priority: request.priority }),
      ...(request?.dedupe_key !== undefined && { dedupe_key: request.dedupe_key }),
      ...(request?.available_at !== undefined && { available_at: request.available_at }),
    });
    return driven ? standInFor(dispatch) : dispatch;
  };

  /** Queued and claimed in one commit. */
  const claimAtOnce = (write: Write, queued: Dispatch, session_id: string): Dispatch => {
    const threadEpoch = ledger.epoch();
    const changes = claimChanges(deps, session_id, write.at);
    const dispatch = advanceDispatch(queued, { type: 'CLAIM', threadEpoch }, changes);
    logDispatch(write, 'RunQueued', queued);
    logDispatch(write, 'RunSubmitted', dispatch);
    write.dispatch(dispatch, undefined);
    return dispatch;
  };

  const openFor = ({ into }: Submission): Run | undefined =>
    (into === undefined ? undefined : ledger.waiting().get(into)) ?? ledger.openRun();

  const attachTo = (run_id: string, attach: Attach): void => {
    readers.set(run_id, [...(readers.get(run_id) ?? []), attach]);
  };

  const channelOf = ({ run_id }: Pick<Run, 'run_id'>): Heard => {
    const kept = adopted.get(run_id);
    const channel = kept ?? createChannel({ held: false });
    for (const attach of readers.get(run_id) ?? []) attach(channel);
    readers.delete(run_id);
    adopted.delete(run_id);
    return { channel, isHeard: kept !== undefined };
  };

  const decisionsIn = (write: Write, request: Submission, open: Run, dispatch_id: string) =>
    (request.decisions ?? []).flatMap((input): [string, Resume][] => {
      const ticket = ticketOf(open, input.tool_call_id);
      if (!ticket) return [];
      const decision = decisionOf(ids, ticket, input, write.at);
      logDecision(write, { thread_id, dispatch_id, ...ticket }, decision, 'durable_dispatch');
      return [[ticket.call_id, decision]];
    });

  return {
    prepare(write, request) {
      createMissing(write, request.parent);
      const run_id = request.run_id ?? ids.uuid();
      const session_id = ids.uuid();
      const queued = workOf(write, run_id, request);
      const foreground = request.mode === 'foreground' || request.mode === 'sub_agent';
      const boundary = foreground ? 'interrupt' : 'new_run';
      const earlier = write.deliver(selectPending(ledger.pending(), boundary, run_id), run_id);
      const messages = messagesOf(request).map((message) => ({
        ...message,
        metadata: { ...message.metadata, run_id },
      }));
      const own = write.messages(messages, run_id);
      const run = newRun({
        run_id,
        thread_id,
        ...(!isStandIn(queued) && { dispatch_id: queued.dispatch_id }),
        ...(request.parent && { parent: request.parent }),
        session_id,
        at: write.at,
        agent_id: request.agent.spec.id,
        resolution_id: request.agent.resolution_id,
        origin: request.origin,
        adapter: request.adapter,
        mode: foreground ? 'foreground' : 'scheduled',
        input: { range: joined(earlier, own), trigger_message_ids: messages.map(({ id }) => id) },
        frontend_tools: request.frontend_tools,
      });
      const dispatch = claimAtOnce(write, queued, session_id);
      write.run(run, undefined);
      return { agent: request.agent, run, dispatch, from: 'created' };
    },
    prepareContinuation(write, request, open) {
      const agent = deps.resolve(open.agent_id, open.resolution_id);
      // A decision may have been queued for it already; the input takes it along.
      const decided = open.activation?.seeded_decisions ?? [];
      queue.consume(write, open.run_id);
      const session_id = ids.uuid();
      const queued = workOf(write, open.run_id, request);
      const { dispatch_id } = queued;
      const decisions = [...decided, ...decisionsIn(write, request, open, dispatch_id)];
      write.stage(messagesOf(request), resumeOf(open.run_id));
      const resumed = resumedRun(open, {
        mode: request.mode === 'foreground' ? 'foreground' : 'resume',
        dispatch_id: isStandIn(queued) ? undefined : dispatch_id,
        at: write.at,
        decisions,
        input: request.messages.length > 0,
        frontend_tools: request.frontend_tools,
      });
      const dispatch = claimAtOnce(write, queued, session_id);
      const run = claimedRun(resumed, session_id, write.at);
      write.run(run, open);
      return { agent, run, dispatch, from: 'waiting' };
    },
    enqueue(write, request) {
      createMissing(write);
      const run_id = request.run_id ?? ids.uuid();
      const dispatch = workOf(write, run_id, request);
      const run = newRun({
        run_id,
        thread_id,
        dispatch_id: dispatch.dispatch_id,
        at: write.at,
        agent_id: request.agent.spec.id,
        resolution_id: request.agent.resolution_id,
        origin: request.origin,
        adapter: request.adapter,
        mode: 'scheduled',
        frontend_tools: request.frontend_tools,
      });
      write.stage(messagesOf(request), { boundary: 'new_run', granularity: 'batch', target_run_id: run_id });
      write.run(run, undefined);
      queue.add(write, dispatch);
      if (request.attach) attachTo(run_id, request.attach);
      return { run_id, dispatch_id: dispatch.dispatch_id };
    },
    enqueueContinuation(write, request, open) {
      const queued = queue.find(open.run_id);
      const dispatch = queued ?? workOf(write, open.run_id, request);
      const decided = open.activation?.seeded_decisions ?? [];
      write.stage(messagesOf(request), resumeOf(open.run_id));
      const resumed = resumedRun(open, {
        mode: 'resume',
        dispatch_id: dispatch.dispatch_id,
        at: write.at,
        decisions: [...decided, ...decisionsIn(write, request, open, dispatch.dispatch_id)],
        input: request.messages.length > 0,
        frontend_tools: request.frontend_tools,
      });
      write.run(resumed, open);
      if (!queued) queue.add(write, dispatch);
      if (request.attach) attachTo(open.run_id, request.attach);
      return dispatch;
    },
    stageFor(write, request, mode) {
      write.stage(messagesOf(request), mode);
    },
    leaveOver(write, entries, execution) {
      const { dispatch_epoch } = execution.dispatch();
      const before = execution.run();
      if (dispatch_epoch < ledger.epoch() || !ledger.record()) {
        write.deliver(entries, before.run_id);
        return;
      }
      const run_id = ids.uuid();
      const dispatch = workOf(write, run_id);
      const { origin = 'user', adapter = 'internal' } = before.activation?.trace ?? {};
      const run = newRun({
        run_id,
        thread_id,
        dispatch_id: dispatch.dispatch_id,
        at: write.at,
        agent_id: before.agent_id,
        resolution_id: before.resolution_id ?? '',
        origin,
        adapter,
        mode: 'scheduled',
      });
      const mode = { boundary: 'new_run', granularity: 'batch', target_run_id: run_id } as const;
      write.restage(
        ledger
          .pending()
          .map((entry) => (entries.includes(entry) ? { ...entry, delivery_mode: mode } : entry)),
      );
      write.run(run, undefined);
      queue.add(write, dispatch);
    },
    inputFor: (run_id) => targetedAt(ledger.pending(), run_id),
    openFor,
    continues(request) {
      const open = openFor(request);
      if (!open || request.mode === 'interrupt_then_queue' || request.run_id !== undefined) return false;
      if (request.mode === 'sub_agent') return open.run_id === request.into;
      return !request.named || request.agent.spec.id === open.agent_id;
    },
    newWork: (write, run_id) => workOf(write, run_id),
    attachTo,
    channelOf,
    adopt: (run_id, channel) => void adopted.set(run_id, channel),
    isAwaited: () => readers.size > 0 || adopted.size > 0,
    unread: () => [...new Set([...readers.keys(), ...adopted.keys()])],
    dismiss(run) {
      if (!readers.has(run.run_id) && !adopted.has(run.run_id)) return;
      const { channel, isHeard } = channelOf(run);
      if (!isHeard) channel.emit(startOf(run));
      channel.emit(restOf(run));
      channel.close();
    },
    channelFor(request) {
      const channel = createChannel({ held: true });
      request.attach?.(channel);
      return channel;
    },
  };
};

const resumeOf = (target_run_id: string): DeliveryMode => ({
  boundary: 'resume_input',
  granularity: 'batch',
  target_run_id,
});

const joined = (first: MessageRange | undefined, last: MessageRange | undefined): MessageRange | undefined =>
  first && last ? { from_seq: first.from_seq, to_seq: last.to_seq } : (first ?? last);
