import type { ResolvedAgent } from '../../loop/agent.ts';
import { recordedMessages, recordedPrompt } from '../../loop/recorded-inference.ts';
import { describeMedia } from '../../schema/described-media.ts';
import type { ContentBlock, Message } from '../../schema/message.ts';
import { fillPage } from '../../schema/page-rows.ts';
import { MOST_INPUT_MESSAGES, type RecordedInference } from '../../schema/recorded-inference.ts';
import type { Run } from '../../schema/run.ts';
import { outcomeOf } from '../../schema/run-query.ts';
import type { Store } from '../../store/index.ts';

/**
 * Reads the input and the output of an inference of a stored run. The response marks its position in the thread: the
 * messages before it are the input.
 *
 * Cost: at most `MOST_READ` messages of the thread before the inference, and the messages of the run. The response
 * contains as many of the newest ones as a page of a list.
 */
export const readInference = (
  { store, resolve }: { store: Store; resolve(agentId: string, resolution_id?: string): ResolvedAgent },
  scope: string,
  run: Run,
  step_index: number,
): RecordedInference | undefined => {
  const { run_id, thread_id, agent_id, resolution_id } = run;
  const response = responseOf(store, scope, run, step_index);
  if (!response && !(step_index === run.steps && mayHaveUnanswered(run))) return undefined;
  const to = response ? response.seq - 1 : (store.messages.lastOfRun(scope, thread_id, run_id)?.seq ?? 0);
  const from = Math.max(1, to - MOST_READ + 1);
  const history = Array.from(store.messages.range(scope, thread_id, { from, to }), ({ message }) => message);
  const messages = recordedMessages(history, from === 1);
  const newest = fillPage(messages.map(readable).reverse(), MOST_INPUT_MESSAGES).rows;
  return {
    run_id,
    step_index,
    agent_id,
    ...(resolution_id !== undefined && { resolution_id }),
    ...recordedPrompt(resolve(agent_id, resolution_id), run),
    messages: newest.reverse(),
    omitted_messages: messages.length - newest.length + (from - 1),
    response: response ? readable(response.message) : null,
  };
};

/** Whether the run may have begun an inference without a response: a completed one has not, nor has one that waits. */
const mayHaveUnanswered = (run: Run): boolean =>
  run.status === 'running' || (run.status === 'done' && outcomeOf(run) !== 'completed');

/** A longer history is not folded: summaries are shown next to the messages that they replaced. */
export const MOST_READ = 2000;

const responseOf = (store: Store, scope: string, { thread_id, run_id }: Run, step_index: number) => {
  for (const row of store.messages.ofRun(scope, thread_id, run_id, {})) {
    const { role, metadata } = row.message;
    if (role === 'assistant' && metadata?.step_index === step_index) return row;
  }
  return undefined;
};

const readable = (message: Message): Message => ({ ...message, content: message.content.map(described) });

const described = (block: ContentBlock): ContentBlock =>
  'source' in block && block.source.type === 'base64'
    ? { ...block, source: { ...block.source, data: describeMedia(block) } }
    : block;
