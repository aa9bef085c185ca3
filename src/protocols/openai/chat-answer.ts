import type { RunEvent, RunEventOf } from '../../schema/run-event.ts';
import type { ResponseUsage } from '../../schema/stored-response.ts';
import { holds, type LegEncoder, type LegOptions } from './chat-encoder.ts';
import {
  BREAK,
  callBegins,
  callEnds,
  clientCalls,
  endOfLeg,
  type LegStatus,
  messagesOfLeg,
  statusOfLeg,
  textsBehind,
  usageBody,
} from './chat-leg.ts';
import { failedRun, type OpenAiError } from './errors.ts';
import { completionId } from './ids.ts';
import { addUsage, NO_USAGE } from './usage.ts';

/**
 * Collects the events of a leg to a chat completion without a stream (openai.md 6.2). Implemented as an encoder without
 * frames. Withdrawn text is left out, because no client has received it.
 */
export type ChatAnswer = {
  encoder: LegEncoder;
  /** Returns the completion or the failure of the leg; undefined if it has not ended. */
  outcome(): ChatCompletion | OpenAiError | undefined;
};

type State = {
  readonly options: LegOptions;
  /** Texts of the steps; the last one grows. */
  texts: string[];
  reasoning: string;
  /** Length of the reasoning at the start of the step, to which a repeated step returns. */
  reasoningAt: number;
  truncated: boolean;
  spent: ResponseUsage;
  outcome: ChatCompletion | OpenAiError | undefined;
  /** The end of the stream of a run that waits while its leg is open. */
  held: RunEventOf<'run_finish'> | undefined;
  status: LegStatus | undefined;
};

export const createChatAnswer = (options: LegOptions): ChatAnswer => {
  const state: State = {
    options,
    texts: [''],
    reasoning: '',
    reasoningAt: 0,
    truncated: false,
    spent: NO_USAGE,
    outcome: undefined,
    held: undefined,
    status: undefined,
  };
  return {
    encoder: {
      status: () => state.status,
      isHeld: () => state.held !== undefined,
      release() {
        if (state.held) state.outcome = completionOf(state, state.held);
        state.held = undefined;
        return '';
      },
      event(event) {
        note(state, event);
        return '';
      },
      text(delta) {
        addText(state, delta);
        return '';
      },
      reasoning(delta) {
        state.reasoning += delta;
        return '';
      },
      toolDelta: () => '',
    },
    outcome: () => state.outcome,
  };
};

const addText = ({ texts }: State, delta: string): void => {
  texts.push((texts.pop() ?? '') + delta);
};

const note = (state: State, event: RunEvent): void => {
  switch (event.event_type) {
    case 'step_start':
      state.texts.push('');
      state.reasoningAt = state.reasoning.length;
      break;
    case 'text_delta':
      addText(state, event.delta);
      break;
    case 'reasoning_delta':
      state.reasoning += event.delta;
      break;
    case 'stream_reset':
      state.texts.pop();
      state.texts.push('');
      state.reasoning = state.reasoning.slice(0, state.reasoningAt);
      break;
    case 'inference_complete':
      state.spent = addUsage(state.spent, event.usage);
      state.truncated = event.truncated === true;
      break;
    case 'tool_call_ready':
      if (tells(state, event.name)) state.reasoning += callBegins(event.name, event.arguments);
      break;
    case 'tool_call_done': {
      const { tool_name } = event.result;
      if (event.outcome !== 'suspended' && tells(state, tool_name))
        state.reasoning += callEnds(tool_name, event.outcome === 'failed');
      break;
    }
    case 'error':
      state.status = 'failed';
      state.outcome = failedRun({
        message: event.message,
        ...(event.code !== undefined && { code: event.code }),
      });
      break;
    case 'run_start':
      state.held = undefined;
      break;
    case 'run_finish':
      if (holds(state.options, event)) state.held = event;
      else state.outcome ??= completionOf(state, event);
      break;
    default:
  }
};

const tells = ({ options: { tellsProgress, isClientTool } }: State, name: string): boolean =>
  tellsProgress && !isClientTool(name);

const completionOf = (state: State, { run_id, termination }: RunEventOf<'run_finish'>) => {
  const { options, texts, reasoning, truncated, spent } = state;
  const { history, seq, isKeyed, fileLink, leg, created, model, fingerprint } = options;
  const waits = options.waits(run_id);
  const end = endOfLeg(termination, { truncated, waits });
  state.status = statusOfLeg(end, termination);
  if (end.kind === 'failed') return failedRun(end.failure);
  const behind = textsBehind(messagesOfLeg(history(), seq, run_id), { waits, isKeyed, fileLink });
  const text = [...texts, ...behind].filter((each) => each !== '').join(BREAK);
  const calls = clientCalls(waits.calls, history(), run_id).map(({ id, name, arguments: args }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: args },
  }));
  return {
    id: completionId({ run_id, leg }),
    object: 'chat.completion' as const,
    created,
    model,
    service_tier: 'default' as const,
    system_fingerprint: fingerprint,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant' as const,
          content: text === '' && calls.length > 0 ? null : text,
          refusal: end.refusal,
          annotations: [],
          ...(reasoning !== '' && { reasoning_content: reasoning }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: end.finish_reason,
      },
    ],
    usage: usageBody(spent),
  };
};

export type ChatCompletion = Exclude<ReturnType<typeof completionOf>, OpenAiError>;
