import type { AnswerPart } from '../../schema/answer-part.ts';
import type { Json } from '../../schema/endpoint.ts';
import type { RemoteArtifact, RemoteOutcome, RemoteTask } from '../../tools/remote-agent.ts';
import { answerParts } from './answer-parts.ts';
import type { Mirror } from './mirror.ts';
import { textOfParts, wordsOfParts } from './text.ts';
import { asJson, type WireMessage } from './wire.ts';

/** What a turn came to (a2a.md 12.5 to 12.7). */

/** Of a task that is settled. */
export const outcomeOf = (mirror: Mirror): RemoteOutcome => {
  const state = mirror.state();
  const [said, ended] = [whatIsSaid(mirror), `remote task ended in ${state}`];
  switch (state) {
    case 'TASK_STATE_FAILED':
      return { ...said, status: 'failed', reason: mirror.failure() || ended };
    case 'TASK_STATE_REJECTED':
      return { ...said, status: 'rejected', reason: mirror.failure() || ended };
    case 'TASK_STATE_CANCELED':
      return { ...said, status: 'cancelled' };
    case 'TASK_STATE_INPUT_REQUIRED':
      return {
        ...said,
        status: 'input_required',
        reason: said.text || 'remote agent requires additional input',
      };
    case 'TASK_STATE_AUTH_REQUIRED':
      return {
        ...said,
        status: 'auth_required',
        reason: said.text || 'remote agent requires authentication',
      };
    default:
      return { ...said, status: 'completed' };
  }
};

/** Of a turn that was given up; with what was known by then. */
export const givenUp = (status: 'cancelled' | 'timeout', mirror: Mirror | undefined): RemoteOutcome => ({
  ...(mirror ? whatIsSaid(mirror) : { text: '', output: {} }),
  status,
});

const whatIsSaid = (mirror: Mirror) => {
  const task = mirror.task();
  const said = { task, ...contextOf(task), text: mirror.text(), output: mirror.output() };
  return { ...said, ...besides(mirror.words(), mirror.parts()) };
};

const besides = (words: string, parts: readonly AnswerPart[]) => (parts.length > 0 ? { words, parts } : {});

const contextOf = ({ context_id }: Partial<RemoteTask>) => (context_id === undefined ? {} : { context_id });

/** Of a message that answered at once. */
export const answerOf = (message: WireMessage, raw: Json): RemoteOutcome => {
  const { taskId: task_id, contextId: context_id } = message;
  const ids = contextOf({ context_id });
  const text = textOfParts(message.parts);
  const artifacts = artifactsOf(message);
  return {
    ...(task_id !== undefined && { task: { task_id, ...ids } }),
    ...ids,
    text,
    ...besides(wordsOfParts(message.parts), answerParts(message.parts)),
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
