import type { InferenceEnd } from '../models/model.ts';
import { monotonic } from '../schema/clock.ts';
import type { ContentBlock, Message } from '../schema/message.ts';
import type { Termination } from '../schema/run.ts';
import type { RepeatedRequest } from '../schema/run-event.ts';
import { partsWaiting, takeParts } from './answer-parts.ts';
import { clearCalls } from './calls.ts';
import { produce, type Step, type Turn } from './turn.ts';

/** The common parts of every step, local or remote: opening it, storing its answer, and reporting it. */

/** Result of an inference, or of the remote turn in its place. */
export type InferOutcome =
  | { kind: 'answer' }
  | { kind: 'calls' }
  | { kind: 'truncated' }
  | { kind: 'pending_work' }
  | { kind: 'asks'; waits: 'forInput' | 'forAuthentication' | 'forBudget' }
  | { kind: 'stopped'; ending: Ending };

/** A remote agent may have failed, or its task may have been cancelled. */
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
    retries: [],
    firstAt: undefined,
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

/** Also called for a cancelled inference: the tail of a run always reports its open inference. */
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
    ...(step.firstAt !== undefined && { first_output_ms: Math.round(step.firstAt - step.startedAt) }),
    ...(end?.stop === 'MaxTokens' && { truncated: true }),
    ...retriesOf(step),
  });
};

export const retriesOf = (step: Step | undefined): { retries?: RepeatedRequest[] } =>
  step && step.retries.length > 0 ? { retries: step.retries } : {};

/** Returns the current answer so far, preceded by the parts that are pending for it. */
export const answerSoFar = (turn: Turn): ContentBlock[] => {
  const { step } = turn;
  if (!step) return [];
  return step.reported ? createContent([], step) : createContent(partsWaiting(turn), step);
};

/** Pending parts precede the answer; parts of the model keep their position in the text. */
export const createContent = (
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

/** Returns the partial answer at the time of the cut-off, if any. */
export const stoppedAnswer = ({ cutOff, run_id }: Turn): Message | undefined => {
  if (!cutOff) return undefined;
  const { message_id, reasoning } = cutOff;
  const content = createContent([], cutOff);
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
    // Parts added by tools are kept for the answer without further tool calls, which is the one that users read.
    content: createContent(turn.calls.length > 0 ? [] : takeParts(turn), step),
    ...(turn.calls.length > 0 && { tool_calls: turn.calls.map(({ call }) => call) }),
    ...metadataOf(step),
  });
  step.parts = [];
  step.sources = [];
};
