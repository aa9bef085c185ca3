import type { DecisionInput, Runtime, Submission, ThreadView } from '../../runtime/index.ts';
import type { Clock, Ids } from '../../schema/clock.ts';
import { textOf } from '../../schema/message.ts';
import type { Run } from '../../schema/run.ts';
import type { Store } from '../../store/index.ts';
import type { CardAgents } from './card-agents.ts';
import type { SendRequest } from './decode.ts';
import { noAgents } from './errors.ts';
import { agentFor, type ClientTaskIds, checkClientTaskId, checkContinuation } from './identity.ts';
import type { PushConfig } from './push/config.ts';
import type { InlinePush } from './push/push.ts';
import { fingerprintOf } from './repeated.ts';
import type { Follower } from './task-feed.ts';
import type { Following, TaskRoom } from './tasks.ts';

/**
 * Takes a message: it makes a task, or goes on with one (a2a.md 7.3 to 7.5). What it means is decided where the
 * thread is changed, so that two messages never decide on the same state; nothing is written before the last check.
 */
export type TaskAdmission = {
  /**
   * Resolves when the message is durable. The follower receives the updates of its task. A message that is sent again, by the
   * same id and in the same words, is not executed again. @throws A2aError 400, 404
   */
  accept(scope: string, asked: SendRequest, follower?: Omit<Follower, 'at'>): Promise<AcceptedTask>;
};

export type AcceptedTask = {
  task_id: string;
  /** What the message is called here, which clients may call as they like. */
  message_id: string;
  accepted_at: number;
  /** The message was accepted before, and the task is what came of it. */
  repeated: boolean;
  stop(): void;
};

export type AdmissionDeps = {
  store: Pick<Store, 'runs' | 'received'>;
  runtime: Pick<Runtime, 'admit' | 'lastAgent'>;
  ids: Ids;
  clock: Clock;
  /** As it is now; with a `resolution_id`, as it was then. @throws Invalid `agent not found: <id>` */
  resolve(agentId: string, resolution_id?: string): Submission['agent'];
  tasks: TaskRoom;
  agents: Pick<CardAgents, 'checkTenant' | 'publicAgent'>;
  push: InlinePush;
  settings: { a2a_client_task_ids: ClientTaskIds };
};

const FROM_CLIENT = { origin: 'user', adapter: 'a2a' } as const;

export const createTaskAdmission = (deps: AdmissionDeps): TaskAdmission => {
  const { store, runtime, ids, resolve, clock, tasks, agents, push, settings } = deps;

  const continuation = (place: Place, run: Run, asked: SendRequest, thread: ThreadView): Submission => {
    checkContinuation(run, asked, thread.executes === run.run_id);
    return {
      mode: 'resume_open_run',
      agent: resolve(run.agent_id, run.resolution_id),
      named: false,
      into: run.run_id,
      messages: messagesOf(place, asked),
      decisions: answersIn(run, asked),
      ...FROM_CLIENT,
    };
  };

  const beginning = (place: Place, asked: SendRequest, thread: ThreadView): Submission => {
    const { scope, thread_id, task_id } = place;
    const agent_id = agentFor({
      named: asked.agent_id,
      last: runtime.lastAgent(scope, thread_id),
      used: !thread.fresh || thread.last() !== undefined,
      publicAgent: agents.publicAgent(),
    });
    if (agent_id === undefined) throw noAgents();
    agents.checkTenant(agent_id);
    return {
      mode: 'queue',
      agent: resolve(agent_id),
      named: true,
      messages: messagesOf(place, asked),
      run_id: task_id,
      dispatch_id: task_id,
      context: asked.context,
      ...FROM_CLIENT,
    };
  };

  const acceptNew = async (
    scope: string,
    asked: SendRequest,
    follower: Omit<Follower, 'at'> | undefined,
    fingerprint: string | undefined,
  ): Promise<AcceptedTask> => {
    const { agent_id, task_id, context_id } = asked;
    const known = task_id === undefined ? undefined : store.runs.get(scope, task_id);
    if (!known) checkClientTaskId(task_id, context_id, settings.a2a_client_task_ids);
    const place = {
      scope,
      thread_id: known?.thread_id ?? context_id ?? ids.uuid(),
      task_id: task_id ?? ids.uuid(),
      message_id: ids.uuid(),
    };
    const accepted_at = clock.now();
    let following: Following | undefined;

    const read = (thread: ThreadView, include: Include): Submission => {
      const run = task_id === undefined ? undefined : thread.run(task_id);
      const submission = run ? continuation(place, run, asked, thread) : beginning(place, asked, thread);
      const enclosing = { task_id: place.task_id, tenant: agent_id };
      const config = asked.push === undefined ? undefined : push.check(asked.push, enclosing);
      following = follower && tasks.follow(scope, place.task_id, follower);
      const pushes = config && include(config);
      return {
        ...submission,
        alongside(batch, found) {
          pushes?.(batch, found);
          const { message_id } = place;
          const received = { task_id: place.task_id, message_id, accepted_at };
          if (fingerprint !== undefined) store.received.put(batch, scope, fingerprint, received);
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
    return {
      task_id: place.task_id,
      message_id: place.message_id,
      accepted_at,
      repeated: false,
      stop: () => following?.stop(),
    };
  };

  /** Messages that are being accepted, by scope and fingerprint. */
  const coming = new Map<string, Promise<AcceptedTask>>();

  /** What came of the message when it was sent before. */
  const acceptedBefore = async (
    scope: string,
    fingerprint: string,
    follower: Omit<Follower, 'at'> | undefined,
  ): Promise<AcceptedTask | undefined> => {
    // One that fails leaves nothing behind.
    await coming.get(keyOf(scope, fingerprint))?.catch(() => {});
    const before = store.received.get(scope, fingerprint, clock.now());
    if (!before || !store.runs.get(scope, before.task_id)) return undefined;
    const following = follower && tasks.follow(scope, before.task_id, follower);
    return { ...before, repeated: true, stop: () => following?.stop() };
  };

  const accept: TaskAdmission['accept'] = async (scope, asked, follower) => {
    agents.checkTenant(asked.agent_id);
    const fingerprint = fingerprintOf(asked);
    if (fingerprint === undefined) return acceptNew(scope, asked, follower, undefined);
    const before = await acceptedBefore(scope, fingerprint, follower);
    if (before) return before;
    const key = keyOf(scope, fingerprint);
    // Another request may have begun while this one waited.
    if (coming.has(key)) return accept(scope, asked, follower);
    const accepted = acceptNew(scope, asked, follower, fingerprint).finally(() => coming.delete(key));
    coming.set(key, accepted);
    return accepted;
  };

  return { accept };
};

const keyOf = (scope: string, fingerprint: string): string => `${scope}\0${fingerprint}`;

type Include = (config: PushConfig) => Submission['alongside'];

type Place = { scope: string; thread_id: string; task_id: string; message_id: string };

/** Open questions of tools and delegates are answered by what is said, and by nothing else is a permission given. */
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
