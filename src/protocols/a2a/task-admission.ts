import { checkAgent } from '../../identity/access/agents.ts';
import type { Makers } from '../../identity/makers.ts';
import type { DecisionInput, Runtime, Submission, ThreadView } from '../../runtime/index.ts';
import { actorOf } from '../../schema/actor.ts';
import type { Clock, Ids } from '../../schema/clock.ts';
import type { Accept } from '../../schema/idempotency.ts';
import type { Maker } from '../../schema/maker.ts';
import { textOf } from '../../schema/message.ts';
import type { Run } from '../../schema/run.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { Store } from '../../store/index.ts';
import type { CardAgents } from './card-agents.ts';
import type { SendRequest } from './decode.ts';
import { noAgents } from './errors.ts';
import { agentFor, type ClientTaskIds, checkClientTaskId, checkContinuation } from './identity.ts';
import type { PushConfig } from './push/config.ts';
import type { InlinePush } from './push/push.ts';
import { createFingerprint } from './repeated.ts';
import type { Follower } from './task-feed.ts';
import type { Following, TaskService } from './tasks.ts';

/**
 * Accepts messages: each creates or continues a task (a2a.md 7.3 to 7.5). The decision is made in the same step that
 * changes the thread, so two messages never decide on the same state. Nothing is written before the last check.
 */
export type TaskAdmission = {
  /**
   * Resolves when the message is durable. The follower receives the updates of its task. A repeated message with the
   * same id and content is not executed again. @throws A2aError 400, 404
   */
  accept(scope: string, request: SendRequest, accepting?: Accepting): Promise<AcceptedTask>;
};

/** Identifies an accepted message. */
export type TaskReceipt = {
  task_id: string;
  /** Internal id of the message, since clients may choose any id. */
  message_id: string;
  /** Milliseconds. */
  accepted_at: number;
};

type Accepting = {
  follower?: Omit<Follower, 'at'>;
  /** The key of the request. */
  keyed?: Accept<TaskReceipt> | undefined;
};

export type AcceptedTask = TaskReceipt & {
  /** Whether the message was accepted before; the task is then its earlier result. */
  repeated: boolean;
  stop(): void;
};

export type AdmissionDeps = {
  store: Pick<Store, 'runs' | 'received'>;
  runtime: Pick<Runtime, 'admit' | 'lastAgent'>;
  ids: Ids;
  clock: Clock;
  /**
   * Resolves the current version of an agent, or with a `resolution_id` the version of that time. @throws Invalid
   * `agent not found: <id>`
   */
  resolve(agentId: string, resolution_id?: string): Submission['agent'];
  tasks: TaskService;
  agents: Pick<CardAgents, 'checkTenant' | 'publicAgent'>;
  push: InlinePush;
  makers: Pick<Makers, 'of'>;
  settings: { a2a_client_task_ids: ClientTaskIds };
};

const FROM_CLIENT = { origin: 'user', adapter: 'a2a' } as const;

export const createTaskAdmission = (deps: AdmissionDeps): TaskAdmission => {
  const admission: Admission = { ...deps, pending: new Map() };
  return { accept: (scope, request, accepting = {}) => accept(admission, scope, request, accepting) };
};

type Admission = AdmissionDeps & {
  /** Messages that are being accepted, by scope and fingerprint. */
  readonly pending: Map<string, Promise<AcceptedTask>>;
};

const accept = async (
  admission: Admission,
  scope: string,
  request: SendRequest,
  accepting: Accepting,
): Promise<AcceptedTask> => {
  const { agents, pending } = admission;
  agents.checkTenant(request.agent_id);
  const fingerprint = createFingerprint(request);
  if (fingerprint === undefined) return acceptNew(admission, { scope, request, fingerprint }, accepting);
  const before = await acceptedBefore(admission, { scope, fingerprint }, accepting);
  if (before) return before;
  const key = keyOf(scope, fingerprint);
  // Another request may have started while this one waited.
  if (pending.has(key)) return accept(admission, scope, request, accepting);
  const accepted = acceptNew(admission, { scope, request, fingerprint }, accepting).finally(() =>
    pending.delete(key),
  );
  pending.set(key, accepted);
  return accepted;
};

/** Returns the result of a message that was sent before. */
const acceptedBefore = async (
  { pending, store, clock, tasks }: Admission,
  { scope, fingerprint }: { scope: string; fingerprint: string },
  { follower }: Accepting,
): Promise<AcceptedTask | undefined> => {
  // A failed acceptance has no effects.
  await pending.get(keyOf(scope, fingerprint))?.catch(() => {});
  const before = store.received.get(scope, fingerprint, clock.now());
  if (!before || !store.runs.get(scope, before.task_id)) return undefined;
  const following = follower && tasks.follow(scope, before.task_id, follower);
  return { ...before, repeated: true, stop: () => following?.stop() };
};

/** `fingerprint`: absent for a message that cannot be recognized when it is sent again. */
type NewMessage = { scope: string; request: SendRequest; fingerprint: string | undefined };

const acceptNew = async (
  admission: Admission,
  message: NewMessage,
  { follower, keyed }: Accepting,
): Promise<AcceptedTask> => {
  const { push, runtime, clock, tasks } = admission;
  const { scope, request } = message;
  const place = placeOf(admission, message);
  const { task_id, message_id } = place;
  const accepted_at = clock.now();
  const receipt = { task_id, message_id, accepted_at };
  let following: Following | undefined;
  const read = (thread: ThreadView, include: Include): Submission => {
    const submission = submissionFor(admission, place, request, thread);
    const enclosing = { task_id, tenant: request.agent_id };
    const config = request.push === undefined ? undefined : push.check(request.push, enclosing);
    following = follower && tasks.follow(scope, task_id, follower);
    const pushes = config && include(config, admission.makers.of(request.principal));
    return {
      ...submission,
      keyed: keyed && (() => keyed(receipt)),
      extraWrites(batch, found) {
        pushes?.(batch, found);
        const { fingerprint } = message;
        if (fingerprint !== undefined) admission.store.received.put(batch, scope, fingerprint, receipt);
      },
    };
  };
  try {
    await push.include(scope, (include) =>
      runtime.admit(scope, place.thread_id, (thread) => read(thread, include)),
    );
  } catch (error) {
    following?.stop();
    throw error;
  }
  return { ...receipt, repeated: false, stop: () => following?.stop() };
};

/** The thread and the task of a message. @throws A2aError for an id of a task that the client may not choose */
const placeOf = (
  { store, ids, settings }: Admission,
  { scope, request: { task_id, context_id } }: NewMessage,
): Place => {
  const known = task_id === undefined ? undefined : store.runs.get(scope, task_id);
  if (!known) checkClientTaskId(task_id, context_id, settings.a2a_client_task_ids);
  return {
    scope,
    thread_id: known?.thread_id ?? context_id ?? ids.uuid(),
    task_id: task_id ?? ids.uuid(),
    message_id: ids.uuid(),
  };
};

const submissionFor = (
  admission: Admission,
  place: Place,
  request: SendRequest,
  thread: ThreadView,
): Submission => {
  const run = request.task_id === undefined ? undefined : thread.run(request.task_id);
  return run
    ? continuation(admission, place, { run, request, thread })
    : beginning(admission, place, { request, thread });
};

const continuation = (
  { resolve }: Admission,
  place: Place,
  { run, request, thread }: { run: RunRecord; request: SendRequest; thread: ThreadView },
): Submission => {
  checkContinuation(run, request, thread.executes === run.run_id);
  return {
    mode: 'resume_open_run',
    agent: resolve(run.agent_id, run.resolution_id),
    named: false,
    into: run.run_id,
    messages: messagesOf(place, request),
    decisions: answersIn(run, request).map((decision) => ({
      ...decision,
      principal: request.principal,
      from: request.from,
    })),
    by: actorOf(request.principal),
    ...FROM_CLIENT,
  };
};

const beginning = (
  { runtime, agents, resolve }: Admission,
  place: Place,
  { request, thread }: { request: SendRequest; thread: ThreadView },
): Submission => {
  const { scope, thread_id, task_id } = place;
  const agent_id = agentFor({
    named: request.agent_id,
    last: runtime.lastAgent(scope, thread_id),
    used: !thread.fresh || thread.last() !== undefined,
    publicAgent: agents.publicAgent(),
  });
  if (agent_id === undefined) throw noAgents();
  agents.checkTenant(agent_id);
  return {
    mode: 'queue',
    agent: checkAgent(request.principal, resolve(agent_id)),
    named: true,
    messages: messagesOf(place, request),
    run_id: task_id,
    dispatch_id: task_id,
    context: request.context,
    by: actorOf(request.principal),
    ...FROM_CLIENT,
  };
};

const keyOf = (scope: string, fingerprint: string): string => `${scope}\0${fingerprint}`;

type Include = (config: PushConfig, maker?: Maker) => Submission['extraWrites'];

type Place = { scope: string; thread_id: string; task_id: string; message_id: string };

/** A message answers open questions of tools and delegates, but never grants a permission. */
const answersIn = ({ waiting }: Run, { content }: SendRequest): DecisionInput[] =>
  waiting?.reason === 'user_input'
    ? (waiting.tickets ?? []).map(({ ticket_id }) => ({
        tool_call_id: ticket_id,
        action: 'resume',
        payload: textOf(content),
        form: 'output',
      }))
    : [];

const messagesOf = (
  { message_id: id }: Place,
  { content, message_id: external_id, extras: a2a }: SendRequest,
): Submission['messages'] => [{ role: 'user', content, id, external_id, a2a }];
