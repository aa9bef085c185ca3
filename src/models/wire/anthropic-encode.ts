import type { JsonObject } from '../../schema/json.ts';
import type { ModelSettings } from '../../schema/model-settings.ts';
import { isAdaptive } from '../settings/anthropic-models.ts';
import { isThinking, type Thinking, thinkingFor, WITHOUT_THINKING } from '../settings/anthropic-thinking.ts';
import { fitSettings, sentSettings } from '../settings/rules.ts';
import { toolsToSend } from '../tool-names.ts';
import {
  bindingBetas,
  canForceTools,
  outputFields,
  settingFields,
  thinkingFields,
  tokenFields,
} from './anthropic-effort.ts';
import { ANTHROPIC_FILES } from './anthropic-media.ts';
import {
  isThinkingBlock,
  type Messages,
  type Target,
  userTurn,
  writeMessages,
} from './anthropic-messages.ts';
import { serverTools } from './anthropic-server-tools.ts';
import { anthropicTool } from './anthropic-tools.ts';
import type { Turn } from './anthropic-turn.ts';
import { textOf } from './read.ts';
import { type ChosenTools, chooseTools } from './tool-choice.ts';
import type { WireCall, WireRequest } from './wire.ts';

/**
 * Encodes the body of `POST messages`.
 *
 * Thinking with a budget requires that the current assistant turn (all messages since the last user input) begins with
 * a thinking block. Without it (another model began the turn, or the completion had no thinking) the service rejects
 * the request, so the rest of the turn runs without thinking, and no thinking block is sent. Models with adaptive
 * thinking accept such a turn.
 */
export const encodeMessages = (call: WireCall): WireRequest => {
  const { upstream } = call;
  const planned = planMessages(call, { format: 'anthropic', files: ANTHROPIC_FILES });
  const { system, messages, max_tokens, thinking, hasBlocks, settings, tools, server, choice, sent } =
    planned;
  return {
    path: 'messages',
    headers: {
      'anthropic-version': '2023-06-01',
      ...betaHeader([...bindingBetas(upstream, hasBlocks), ...server.betas]),
    },
    body: {
      model: upstream,
      max_tokens,
      ...settingFields(settings),
      ...thinkingFields(thinking, upstream, hasBlocks),
      ...outputFields(thinking, call.request.output),
      ...(system.length > 0 && { system }),
      messages,
      ...(tools.length + server.tools.length > 0 && {
        tools: [...toolsToSend(tools).map(anthropicTool), ...server.tools],
      }),
      ...(tools.length > 0 && choiceFields(choice, settings)),
      ...containerOf(call),
      stream: true,
    },
    sent,
  };
};

/** Plans messages, thinking, settings and tools that are compatible with each other. */
export const planMessages = (call: WireCall, target: Target) => {
  const { upstream, adapter, spec, request } = call;
  const about = {
    format: 'anthropic',
    adapter,
    upstream,
    tools: request.tools,
    mostTokens: spec.max_output_tokens,
  } as const;
  const { reasoning_effort } = fitSettings(request.overrides, about).settings;
  const wanted = withThinking(call, thinkingFor(reasoning_effort, upstream), target);
  const fitted = fitSettings(request.overrides, { ...about, thinks: isThinking(wanted.thinking) });
  const { settings } = fitted;
  const { max_tokens, thinking } = tokenFields(settings, spec, upstream, wanted.thinking);
  const { tools, choice } = chooseTools(request, canForceTools(thinking, upstream));
  const { system, messages: written } = wanted.messages;
  const server = serverTools(request.provider_tools);
  const hasBlocks = written.some(({ content }) => content.some(isThinkingBlock));
  const messages = call.pauses.length > 0 ? written : endedByUser(written, upstream, thinking);
  const sent = sentSettings(fitted, {
    max_tokens,
    reasoning_effort: thinking.budget === undefined ? thinking.effort : { budget: thinking.budget },
    tool_choice: choice,
  });
  return { system, messages, max_tokens, thinking, hasBlocks, settings, tools, server, choice, sent };
};

const betaHeader = (betas: readonly string[]): Record<string, string> =>
  betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') };

/** The container keeps the files of code that was executed before a pause. */
const containerOf = ({ pauses }: WireCall): JsonObject => {
  const container = textOf(pauses.at(-1)?.container);
  return container === undefined ? {} : { container };
};

const withThinking = (
  call: WireCall,
  thinking: Thinking,
  target: Target,
): { thinking: Thinking; messages: Messages } => {
  const messages = writeMessages(call, thinking.sendsBlocks, target);
  if (thinking.type !== 'enabled' || mayThink(messages.messages)) return { thinking, messages };
  return { thinking: WITHOUT_THINKING, messages: writeMessages(call, false, target) };
};

/**
 * Whether the current assistant turn begins with thinking, or has not begun. Results that are followed by other content
 * may or may not begin a turn, so both possible turns must begin with thinking.
 */
const mayThink = (messages: readonly Turn[]): boolean => {
  const isWritten = ({ type }: JsonObject): boolean => type !== 'tool_result';
  const since = (isBegin: (turn: Turn) => boolean): Turn | undefined =>
    messages[messages.findLastIndex((turn) => turn.role === 'user' && isBegin(turn)) + 1];
  const begins = [
    since(({ content }) => content.some(isWritten)),
    since(({ content }) => content.every(isWritten)),
  ];
  return begins.every((turn) => {
    const first = turn?.content[0];
    return first === undefined || isThinkingBlock(first);
  });
};

/** A final assistant message is a prefilled completion, which models that think reject. */
const endedByUser = (messages: Turn[], upstream: string, { type }: Thinking): Turn[] => {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return messages;
  if (type === 'enabled' || isAdaptive(upstream)) return [...messages, userTurn('Continue.')];
  const end = last.content.at(-1);
  // The service rejects trailing whitespace.
  if (typeof end?.text !== 'string') return messages;
  return [
    ...messages.slice(0, -1),
    { ...last, content: last.content.with(-1, { ...end, text: end.text.trimEnd() }) },
  ];
};

/** Parallel calls are disabled in a field of the tool choice. */
const choiceFields = (
  choice: ChosenTools['choice'],
  { parallel_tool_calls: isParallel = true }: ModelSettings,
): JsonObject => {
  const chosen = choice ?? (isParallel ? undefined : 'auto');
  if (chosen === undefined) return {};
  const form =
    typeof chosen === 'string'
      ? { type: chosen === 'required' ? 'any' : chosen }
      : { type: 'tool', ...chosen };
  return {
    tool_choice: isParallel || chosen === 'none' ? form : { ...form, disable_parallel_tool_use: true },
  };
};
