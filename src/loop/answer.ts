import type { InferenceEnd } from '../models/model.ts';
import { monotonic } from '../schema/clock.ts';
import type { ContentBlock, Message } from '../schema/message.ts';
import type { Termination } from '../schema/run.ts';
import { partsWaiting, takeParts } from './answer-parts.ts';
import { clearCalls } from './calls.ts';
import { produce, type Step, type Turn } from './turn.ts';

/** What every step has in common, whoever answers in it: how it opens, how the answer is kept, and what is told of it. */

/** What an inference led to, or what stands in its place. */
export type InferOutcome =
  | { kind: 'answer' }
  | { kind: 'calls' }
  | { kind: 'truncated' }
  | { kind: 'pending_work' }
  | { kind: 'asks'; waits: 'forInput' | 'forAuthentication' }
  | { kind: 'stopped'; ending: Ending };

/** An agent that runs elsewhere may have failed there, or have been cancelled. */
export type Ending = Exclude<Termination, { type: 'suspended' }>;

export const openStep = (turn: Turn): Step => {
  const step: Step = {
    index: turn.steps,
    message_id: turn.ids.uuid(),
    startedAt: monotonic(turn.clock),
    text: '',
    reasoning: '',
    reasoningItems: [],
    parts: [],
    sources: [],
    reported: false,
    completed: false,
    unsent: '',
    result: undefined,
  };
  clearCalls(turn);
  turn.step = step;
  turn.cutOff = undefined;
  turn.answer = undefined;
  turn.structured = undefined;
  turn.stream.emit({ event_type: 'step_start', message_id: step.message_id });
  return step;
};

/** Also called for an inference that was cancelled: the tail of a run always reports its open inference. */
export const reportInference = (turn: Turn, end?: InferenceEnd): void => {
  const { step } = turn;
  if (!step || step.reported) return;
  step.reported = true;
  turn.stream.emit({
    event_type: 'inference_complete',
    model: end?.by?.upstream ?? turn.agent.model.upstream,
    ...(end?.usage && { usage: end.usage }),
    ...(end?.cost_usd !== undefined && { cost_usd: end.cost_usd }),
    duration_ms: Math.round(monotonic(turn.clock) - step.startedAt),
  });
};

/** What waits for an answer that is under way is in front of it already. */
export const answerSoFar = (turn: Turn): ContentBlock[] => {
  const { step } = turn;
  if (!step) return [];
  return step.reported ? contentOf([], step) : contentOf(partsWaiting(turn), step);
};

/** What waited for the answer stands in front of it; what the model gave stands where it came in the text. */
export const contentOf = (
  waited: readonly ContentBlock[],
  { text, parts, sources }: Step,
): ContentBlock[] => {
  const content = [...waited];
  let from = 0;
  for (const { at, block } of parts) {
    content.push(...textBlock(text.slice(from, at)), block);
    from = at;
  }
  content.push(...textBlock(text.slice(from)), ...sources);
  return content;
};

const textBlock = (text: string): ContentBlock[] => (text === '' ? [] : [{ type: 'text', text }]);

/** What was there of an answer when it was cut off, if anything. */
export const stoppedAnswer = ({ cutOff, run_id }: Turn): Message | undefined => {
  if (!cutOff) return undefined;
  const { message_id, reasoning } = cutOff;
  const content = contentOf([], cutOff);
  if (content.length === 0 && reasoning === '') return undefined;
  return {
    id: message_id,
    role: 'assistant',
    content,
    metadata: { run_id, ...(reasoning !== '' && { reasoning }) },
  };
};

const metadataOf = ({ reasoning, reasoningItems: items }: Step): Pick<Message, 'metadata'> =>
  reasoning === '' && items.length === 0
    ? {}
    : {
        metadata: {
          ...(reasoning !== '' && { reasoning }),
          ...(items.length > 0 && { reasoning_items: items }),
        },
      };

export const keepAnswer = (turn: Turn, step: Step): void => {
  turn.response = step.text;
  produce(turn, {
    id: step.message_id,
    role: 'assistant',
    // What tools have added waits for the answer that asks for no more of them: that is the one that is looked at.
    content: contentOf(turn.calls.length > 0 ? [] : takeParts(turn), step),
    ...(turn.calls.length > 0 && { tool_calls: turn.calls.map(({ call }) => call) }),
    ...metadataOf(step),
  });
  step.parts = [];
  step.sources = [];
};
