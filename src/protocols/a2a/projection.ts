import { isInterrupted, type TaskState } from '../../../machines/a2a-task.ts';
import { partsOf } from '../../a2a/parts.ts';
import { AUTH_REQUIRED, AuthorizationWait } from '../../schema/authorization.ts';
import { digestOfTicket } from '../../schema/call-digest.ts';
import type { JsonObject } from '../../schema/json.ts';
import type { ContentBlock, Message, MessageMetadata } from '../../schema/message.ts';
import { fillPage } from '../../schema/page-rows.ts';
import { isProviderCall, isSource } from '../../schema/provider-tool.ts';
import type { Run, WaitingTicket } from '../../schema/run.ts';
import { failureOf } from '../../schema/run-failure.ts';
import { taskStateOf } from '../../schema/task-state.ts';
import type { Store, TimedRun } from '../../store/index.ts';
import type { A2aMessage, Artifact, Part, StatusUpdate, Task, TaskStatus } from './model.ts';

/**
 * Presents runs as tasks (a2a.md 8) in their stored state.
 *
 * The messages of a task are those that its run consumed and produced, wherever they are stored: another task of the
 * context may have come in between, and a task that continues later keeps its messages. Pending messages count too.
 * Cost: one read per returned message; without history, only the last message of the agent is read.
 */
export type Projection = {
  find(scope: string, task_id: string): TimedRun | undefined;
  task(scope: string, found: TimedRun, shown: Shown): Task;
  update(scope: string, found: TimedRun): StatusUpdate;
  /** Returns the artifact of a completed task; undefined if the agent produced no content. */
  artifact(scope: string, run: Run): Artifact | undefined;
};

type Shown = {
  /** Number of latest messages, or undefined for all; never more than a page holds (`page-rows.ts`). */
  history: number | undefined;
  artifacts: boolean;
  /** Id of the last message of the history; later ones are omitted. */
  upTo?: string;
};

export const createProjection = ({
  store,
}: {
  store: Pick<Store, 'runs' | 'messages' | 'pending'>;
}): Projection => {
  /** Yields the externally visible messages, newest first. */
  function* newestFirst(scope: string, { thread_id, run_id, status }: Run): Iterable<Message> {
    if (status !== 'done') {
      for (const { message, delivery_mode } of store.pending.of(scope, thread_id).reverse()) {
        if (delivery_mode.target_run_id === run_id) yield message;
      }
    }
    for (const { message } of store.messages.ofRun(scope, thread_id, run_id, { reverse: true })) {
      yield message;
    }
  }

  function* shownNewestFirst(scope: string, run: Run, upTo: string | undefined): Iterable<A2aMessage> {
    let hasReached = upTo === undefined;
    for (const message of newestFirst(scope, run)) {
      hasReached ||= message.id === upTo;
      if (hasReached) yield* shown(message, run.thread_id, run.run_id);
    }
  }

  const historyOf = (scope: string, run: Run, { history: length, upTo }: Shown): A2aMessage[] => {
    const latest = fillPage(shownNewestFirst(scope, run, upTo), length ?? Number.POSITIVE_INFINITY);
    return latest.rows.reverse();
  };

  const lastAnswerOf = (scope: string, { thread_id, run_id }: Run) => {
    for (const { message } of store.messages.ofRun(scope, thread_id, run_id, { reverse: true })) {
      if (message.role !== 'assistant') continue;
      for (const word of shown(message, thread_id, run_id)) return { word, content: message.content };
    }
    return undefined;
  };

  const statusOf = (scope: string, { run, changed_at }: TimedRun): TaskStatus => {
    const state = taskStateOf(run);
    const message = SILENT.includes(state)
      ? undefined
      : explained(run, state, lastAnswerOf(scope, run)?.word);
    return { state, ...(message && { message }), timestamp: timestampOf(changed_at) };
  };

  const artifact = (scope: string, run: Run): Artifact | undefined => {
    const answer = lastAnswerOf(scope, run);
    const { structured_output: data } = run;
    if (!answer && data === undefined) return undefined;
    const parts = answer?.word.parts ?? [];
    return {
      ...createResponse(data === undefined ? parts : [...parts, { data, mediaType: 'application/json' }]),
      ...(answer && metadataOf(answer.content)),
    };
  };

  return {
    find: (scope, task_id) => store.runs.find(scope, task_id),
    artifact,
    update: (scope, found) => ({
      taskId: found.run.run_id,
      contextId: found.run.thread_id,
      status: statusOf(scope, found),
    }),
    task(scope, found, options) {
      const { run } = found;
      const status = statusOf(scope, found);
      const response =
        options.artifacts && status.state === 'TASK_STATE_COMPLETED' ? artifact(scope, run) : undefined;
      const history = historyOf(scope, run, options);
      return {
        id: run.run_id,
        contextId: run.thread_id,
        status,
        ...(response && { artifacts: [response] }),
        ...(history.length > 0 && { history }),
      };
    },
  };
};

export const timestampOf = (ms: number): string => new Date(ms).toISOString();

/** The response of the agent: one artifact, whether it is sent whole or in chunks. */
export const createResponse = (parts: Part[]): Artifact => ({
  artifactId: 'response',
  name: 'response',
  parts,
});

/** Provider calls and sources are metadata of the response, not content. */
const metadataOf = (content: readonly ContentBlock[]): Pick<Artifact, 'metadata'> => {
  const calls = content.filter(isProviderCall).map(({ type: _, ...call }) => call);
  const sources = content.filter(isSource);
  if (calls.length + sources.length === 0) return {};
  // Blocks of stored messages are JSON.
  const metadata = {
    ...(calls.length > 0 && { providerCalls: calls }),
    ...(sources.length > 0 && { sources }),
  } as JsonObject;
  return { metadata };
};

/** States that need no explanation. */
const SILENT: readonly TaskState[] = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'];

function* shown(message: Message, contextId: string, taskId: string): Iterable<A2aMessage> {
  const { role, visibility, metadata, id, content } = message;
  if (visibility === 'internal' || (role !== 'user' && role !== 'assistant')) return;
  const parts = partsOf(content);
  if (parts.length === 0) return;
  yield {
    messageId: metadata?.external_id ?? id,
    role: role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT',
    parts,
    taskId,
    contextId,
    ...extrasOf(metadata),
  };
}

/** Returns the additional data that the client sent with the message. */
const extrasOf = (metadata: MessageMetadata | undefined): Partial<A2aMessage> => {
  const { metadata: own, extensions, reference_task_ids } = metadata?.a2a ?? {};
  return {
    ...(own && { metadata: own }),
    ...(extensions && { extensions }),
    ...(reference_task_ids && { referenceTaskIds: reference_task_ids }),
  };
};

/** Adds to the last message of the agent why the task has failed or what it waits for. */
const explained = (run: Run, state: TaskState, word: A2aMessage | undefined): A2aMessage | undefined => {
  const tickets = isInterrupted(state) ? (run.waiting?.tickets ?? []) : [];
  const questions = tickets.length > 0 ? tickets.flatMap(questionOf) : endReasons(run, word);
  if (questions.length === 0) return word;
  return {
    messageId: `${run.run_id}:status`,
    role: 'ROLE_AGENT',
    parts: [...(word?.parts ?? []), ...questions],
    taskId: run.run_id,
    contextId: run.thread_id,
    ...(tickets.length > 0 && {
      metadata: {
        ticketIds: tickets.map(({ ticket_id }) => ticket_id),
        toolCallIds: tickets.map(({ tool_call_id }) => tool_call_id),
        digests: tickets.map(digestOfTicket),
      },
    }),
  };
};

/** Describes a pending call as text and data; for a delegate, the calls that it waits for. */
const questionOf = ({
  tool_name: name,
  tool_call_id: id,
  message,
  reason,
  tickets,
  ...call
}: WaitingTicket): Part[] => {
  const { url } = reason === AUTH_REQUIRED ? (AuthorizationWait.safeParse(call.arguments).data ?? {}) : {};
  const asked = message || `Tool '${name}' awaits a decision`;
  const question = { text: url === undefined ? asked : `${asked}: ${url}` };
  if (tickets) return [question, { data: { tickets }, mediaType: 'application/json' }];
  if (reason?.startsWith('agent_delegate:')) return [question];
  return [question, { data: { id, name, arguments: call.arguments ?? {} }, mediaType: 'application/json' }];
};

const endReasons = ({ termination_reason: end }: Run, word: A2aMessage | undefined): Part[] => {
  if (end?.type === 'blocked') return [{ text: end.value }];
  const failure = end && failureOf(end);
  return failure && !word ? [{ text: failure.message }] : [];
};
