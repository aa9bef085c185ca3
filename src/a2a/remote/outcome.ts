import type { AnswerPart } from '../../schema/answer-part.ts';
import type { Json } from '../../schema/endpoint.ts';
import type { RemoteArtifact, RemoteOutcome, RemoteTask } from '../../tools/remote-agent.ts';
import { answerParts } from './answer-parts.ts';
import type { Mirror } from './mirror.ts';
import { plainTextOfParts, textOfParts } from './text.ts';
import { asJson, type WireMessage } from './wire.ts';

/** Outcomes of turns (a2a.md 12.5 to 12.7). */

/** Returns the outcome of a settled task. */
export const taskOutcome = (mirror: Mirror): RemoteOutcome => {
  const state = mirror.state();
  const [content, ended] = [contentOf(mirror), `remote task ended in ${state}`];
  switch (state) {
    case 'TASK_STATE_FAILED':
      return { ...content, status: 'failed', reason: mirror.failure() || ended };
    case 'TASK_STATE_REJECTED':
      return { ...content, status: 'rejected', reason: mirror.failure() || ended };
    case 'TASK_STATE_CANCELED':
      return { ...content, status: 'cancelled' };
    case 'TASK_STATE_INPUT_REQUIRED':
      return {
        ...content,
        status: 'input_required',
        reason: content.text || 'remote agent requires additional input',
      };
    case 'TASK_STATE_AUTH_REQUIRED':
      return {
        ...content,
        status: 'auth_required',
        reason: content.text || 'remote agent requires authentication',
      };
    default:
      return { ...content, status: 'completed' };
  }
};

/** Returns the outcome of an abandoned turn with its content so far. */
export const abandonedOutcome = (
  status: 'cancelled' | 'timeout',
  mirror: Mirror | undefined,
): RemoteOutcome => ({
  ...(mirror ? contentOf(mirror) : { text: '', output: {} }),
  status,
});

const contentOf = (mirror: Mirror) => {
  const task = mirror.task();
  const base = { task, ...contextOf(task), text: mirror.text(), output: mirror.output() };
  return { ...base, ...besides(mirror.plainText(), mirror.parts()) };
};

const besides = (plainText: string, parts: readonly AnswerPart[]) =>
  parts.length > 0 ? { plainText, parts } : {};

const contextOf = ({ context_id }: Partial<RemoteTask>) => (context_id === undefined ? {} : { context_id });

/** Returns the outcome of an immediate message. */
export const messageOutcome = (message: WireMessage, raw: Json): RemoteOutcome => {
  const { taskId: task_id, contextId: context_id } = message;
  const ids = contextOf({ context_id });
  const text = textOfParts(message.parts);
  const artifacts = artifactsOf(message);
  return {
    ...(task_id !== undefined && { task: { task_id, ...ids } }),
    ...ids,
    text,
    ...besides(plainTextOfParts(message.parts), answerParts(message.parts)),
    output: { ...(text && { text }), ...(artifacts.length > 0 && { artifacts }), raw },
    status: 'completed',
  };
};

const artifactsOf = ({ messageId = 'message', parts }: WireMessage): RemoteArtifact[] =>
  parts.flatMap((part, index) => {
    const { raw, url, data, filename, mediaType } = part;
    if (raw === undefined && url === undefined && (data === undefined || data === null)) return [];
    return {
      id: `${messageId}:${index}`,
      ...(filename !== undefined && { name: filename }),
      ...(mediaType !== undefined && { media_type: mediaType }),
      content: asJson([part]),
    };
  });
