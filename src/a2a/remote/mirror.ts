import { isInterrupted, isTerminalOrInterrupted, type TaskState } from '../../../machines/a2a-task.ts';
import type { AnswerPart } from '../../schema/answer-part.ts';
import type { Json } from '../../schema/endpoint.ts';
import { maskForeign } from '../../schema/redaction/foreign.ts';
import type { RemoteArtifact, RemoteOutput, RemoteSnapshot, RemoteTask } from '../../tools/remote-agent.ts';
import { answerParts } from './answer-parts.ts';
import { joined, lastReply, plainTextOfParts, textOfParts } from './text.ts';
import { asJson, type WireArtifact, type WireEvent, type WireTask } from './wire.ts';

/**
 * The local state of a remote task, from complete tasks and from events of a stream (a2a.md 12.6).
 *
 * Guarantees: the text depends on the task alone, not on how it was followed. It is that of the first artifact with
 * text, else that of the status, else the last message of the history. For a task that requires input, the status comes
 * first, because it contains the question. The text of a failure is not part of the response.
 * Adjacent texts of one artifact are one text: servers store streamed chunks as separate parts, and return them in this
 * form in a complete task.
 * `words` is the text without the data of artifacts, which are parts of the response, as files are.
 */
export type Mirror = {
  task(): RemoteTask;
  state(): TaskState;
  /** Returns the text that later events cannot change. */
  streamable(): string;
  text(): string;
  plainText(): string;
  parts(): AnswerPart[];
  failure(): string;
  snapshot(): RemoteSnapshot;
  output(): RemoteOutput;
  adopt(task: WireTask, raw: Json): void;
  /** Returns true unless the event was only one more chunk of an artifact. */
  apply(event: WireEvent, raw: Json): boolean;
};

const FAILURES: ReadonlySet<TaskState> = new Set(['TASK_STATE_FAILED', 'TASK_STATE_REJECTED']);

type Copy = {
  task: WireTask;
  context_id: RemoteTask['context_id'];
  /** The last complete task as received; undefined after a later change. */
  whole: Json | undefined;
};

export const createMirror = ({ task_id: id, context_id }: RemoteTask): Mirror => {
  const task: WireTask = { id, status: { state: 'TASK_STATE_WORKING' }, artifacts: [], history: [] };
  const copy: Copy = { task, context_id, whole: undefined };
  return {
    task: () => idsOf(copy),
    state: () => copy.task.status.state,
    streamable: () => firstText(copy.task, plainTextOfParts),
    text: () => textOf(copy.task),
    plainText() {
      const all = textOf(copy.task);
      const isOfArtifacts = all !== '' && all === firstText(copy.task, textOfParts);
      return isOfArtifacts ? firstText(copy.task, plainTextOfParts) : all;
    },
    parts: () => copy.task.artifacts.flatMap(({ parts }) => answerParts(parts)),
    failure: () => failureOf(copy.task),
    snapshot() {
      const { status, artifacts } = copy.task;
      const [text, failed] = [textOf(copy.task), failureOf(copy.task)];
      return {
        ...idsOf(copy),
        state: status.state,
        ...(text && { text }),
        artifacts: artifacts.map(artifactOf),
        ...(failed && { failure_message: failed }),
      };
    },
    output() {
      const text = textOf(copy.task);
      const { artifacts } = copy.task;
      return {
        ...(text && { text }),
        ...(artifacts.length > 0 && { artifacts: artifacts.map(artifactOf) }),
        raw: copy.whole ?? asJson(copy.task),
      };
    },
    adopt: (task, raw) => adopt(copy, task, raw),
    apply: (event, raw) => apply(copy, event, raw),
  };
};

const idsOf = ({ task, context_id }: Copy): RemoteTask => ({
  task_id: task.id,
  ...(context_id !== undefined && { context_id }),
});

const statusText = ({ status }: WireTask): string => textOfParts(status.message?.parts ?? []);

/** Returns the text of the first artifact that has one. */
const firstText = ({ artifacts }: WireTask, textOf: (parts: WireArtifact['parts']) => string): string =>
  artifacts.map(({ parts }) => textOf(parts)).find((text) => text !== '') ?? '';

const textOf = (task: WireTask): string => {
  const { state } = task.status;
  const status = FAILURES.has(state) ? '' : statusText(task);
  if (isInterrupted(state) && status) return status;
  return (
    firstText(task, textOfParts) || status || (isTerminalOrInterrupted(state) ? lastReply(task.history) : '')
  );
};

/** Returns the reason of a failure, which may contain the token that the service has received. */
const failureOf = (task: WireTask): string =>
  FAILURES.has(task.status.state) ? maskForeign(statusText(task)) : '';

const adopt = (copy: Copy, task: WireTask, raw: Json): void => {
  const artifacts = task.artifacts.map((artifact) => ({ ...artifact, parts: joined(artifact.parts) }));
  copy.whole = raw;
  copy.context_id = task.contextId ?? copy.context_id;
  copy.task = { ...task, artifacts };
};

const apply = (
  copy: Copy,
  { task: next, message, statusUpdate, artifactUpdate }: WireEvent,
  raw: Json,
): boolean => {
  if (next) {
    // The event was parsed as an object with a task.
    adopt(copy, next, (raw as { task: Json }).task);
    return true;
  }
  copy.whole = undefined;
  copy.context_id = statusUpdate?.contextId ?? artifactUpdate?.contextId ?? copy.context_id;
  if (statusUpdate) copy.task = { ...copy.task, status: statusUpdate.status };
  if (message) copy.task = { ...copy.task, history: [...copy.task.history, message] };
  if (!artifactUpdate) return Boolean(statusUpdate ?? message);
  const { artifact, append, lastChunk } = artifactUpdate;
  copy.task = withArtifact(copy.task, artifact, append);
  return !append || lastChunk;
};

/** Adds or replaces an artifact, or appends to it. */
const withArtifact = (task: WireTask, given: WireArtifact, append: boolean): WireTask => {
  const { artifactId } = given;
  const before = task.artifacts.find((artifact) => artifact.artifactId === artifactId);
  const artifact =
    before && append
      ? { ...before, parts: joined([...before.parts, ...given.parts]) }
      : { ...given, parts: joined(given.parts) };
  const artifacts = before
    ? task.artifacts.map((each) => (each === before ? artifact : each))
    : [...task.artifacts, artifact];
  return { ...task, artifacts };
};

const artifactOf = ({ artifactId, name, parts }: WireArtifact): RemoteArtifact => {
  const media_type = parts[0]?.mediaType;
  return {
    ...(artifactId !== undefined && { id: artifactId }),
    ...(name !== undefined && { name }),
    ...(media_type !== undefined && { media_type }),
    content: asJson(parts),
  };
};
