import { isAtRest, isInterrupted, type TaskState } from '../../../machines/a2a-task.ts';
import type { AnswerPart } from '../../schema/answer-part.ts';
import type { Json } from '../../schema/endpoint.ts';
import { maskForeign } from '../../schema/redaction/foreign.ts';
import type { RemoteArtifact, RemoteOutput, RemoteSnapshot, RemoteTask } from '../../tools/remote-agent.ts';
import { answerParts } from './answer-parts.ts';
import { joined, lastWords, textOfParts, wordsOfParts } from './text.ts';
import { asJson, type WireArtifact, type WireEvent, type WireTask } from './wire.ts';

/**
 * A remote task as it is known here, from whole tasks and from the events of a stream (a2a.md 12.6).
 *
 * Guarantees: the text depends on the task alone, not on how it was followed. It is that of the first artifact that
 * has one, else that of the status, else the last words in the history; but a task that asks for something says it in
 * its status, so there the status comes first. What a failure says is no text of the answer.
 * Neighbouring texts of one artifact are one text: servers keep the chunks in which it came as parts of their own, and
 * give them back so in a whole task.
 * Its words are the same without the data of artifacts, which are parts of the answer as files are.
 */
export type Mirror = {
  task(): RemoteTask;
  state(): TaskState;
  /** Words that stay as they are, whatever is still to come. */
  streamable(): string;
  text(): string;
  words(): string;
  parts(): AnswerPart[];
  failure(): string;
  snapshot(): RemoteSnapshot;
  output(): RemoteOutput;
  adopt(task: WireTask, raw: Json): void;
  /** True when it told something else than one more chunk of an artifact. */
  apply(event: WireEvent, raw: Json): boolean;
};

const FAILURES: ReadonlySet<TaskState> = new Set(['TASK_STATE_FAILED', 'TASK_STATE_REJECTED']);

export const createMirror = (known: RemoteTask): Mirror => {
  let task: WireTask = {
    id: known.task_id,
    status: { state: 'TASK_STATE_WORKING' },
    artifacts: [],
    history: [],
  };
  let { context_id } = known;
  /** The last whole task as it came; undefined when something changed since. */
  let whole: Json | undefined;

  const state = (): TaskState => task.status.state;
  const ofStatus = (): string => textOfParts(task.status.message?.parts ?? []);
  const ofArtifacts = (): string =>
    task.artifacts.map(({ parts }) => textOfParts(parts)).find((text) => text !== '') ?? '';
  const wordsOfArtifacts = (): string =>
    task.artifacts.map(({ parts }) => wordsOfParts(parts)).find((text) => text !== '') ?? '';

  /** Why the other service failed, which may repeat the token that it was sent. */
  const failure = (): string => (FAILURES.has(state()) ? maskForeign(ofStatus()) : '');

  const text = (): string => {
    const status = FAILURES.has(state()) ? '' : ofStatus();
    if (isInterrupted(state()) && status) return status;
    return ofArtifacts() || status || (isAtRest(state()) ? lastWords(task.history) : '');
  };

  const changeArtifact = (given: WireArtifact, append: boolean): void => {
    const { artifactId } = given;
    const before = task.artifacts.find((artifact) => artifact.artifactId === artifactId);
    const artifact =
      before && append
        ? { ...before, parts: joined([...before.parts, ...given.parts]) }
        : { ...given, parts: joined(given.parts) };
    const artifacts = before
      ? task.artifacts.map((each) => (each === before ? artifact : each))
      : [...task.artifacts, artifact];
    task = { ...task, artifacts };
  };

  const adopt = (next: WireTask, raw: Json): void => {
    whole = raw;
    const artifacts = next.artifacts.map((artifact) => ({ ...artifact, parts: joined(artifact.parts) }));
    context_id = next.contextId ?? context_id;
    task = { ...next, artifacts };
  };

  const self: Mirror = {
    task: () => ({
      task_id: task.id,
      ...(context_id !== undefined && { context_id }),
    }),
    state,
    streamable: wordsOfArtifacts,
    text,
    words() {
      const all = text();
      return all !== '' && all === ofArtifacts() ? wordsOfArtifacts() : all;
    },
    parts: () => task.artifacts.flatMap(({ parts }) => answerParts(parts)),
    failure,
    snapshot() {
      const [said, failed] = [text(), failure()];
      return {
        ...self.task(),
        state: state(),
        ...(said && { text: said }),
        artifacts: task.artifacts.map(artifactOf),
        ...(failed && { failure_message: failed }),
      };
    },
    output() {
      const said = text();
      return {
        ...(said && { text: said }),
        ...(task.artifacts.length > 0 && { artifacts: task.artifacts.map(artifactOf) }),
        raw: whole ?? asJson(task),
      };
    },
    adopt,
    apply({ task: next, message, statusUpdate, artifactUpdate }, raw) {
      if (next) {
        // The event was read as an object with a task.
        adopt(next, (raw as { task: Json }).task);
        return true;
      }
      whole = undefined;
      context_id = statusUpdate?.contextId ?? artifactUpdate?.contextId ?? context_id;
      if (statusUpdate) task = { ...task, status: statusUpdate.status };
      if (message) task = { ...task, history: [...task.history, message] };
      if (!artifactUpdate) return Boolean(statusUpdate ?? message);
      const { artifact, append, lastChunk } = artifactUpdate;
      changeArtifact(artifact, append);
      return !append || lastChunk;
    },
  };
  return self;
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
