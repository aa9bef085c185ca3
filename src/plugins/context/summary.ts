import { describePart, isPartBlock } from '../../schema/answer-part.ts';
import { describeMedia } from '../../schema/described-media.ts';
import { type ContentBlock, type Message, textOf } from '../../schema/message.ts';
import { isSource } from '../../schema/provider-tool.ts';
import type { CompactionPlan } from './compaction.ts';
import type { CompactionSettings } from './settings.ts';
import { type ShorteningLimits, shortenResult } from './shorten.ts';

/** Builds the prompt of the summarizer, and the message from its completion (agent-loop.md 12.3). Pure. */

export type SummaryPrompt = {
  system: string;
  user: string;
  max_tokens: number;
  /** Upstream name; default: the model of the agent. */
  upstream_model?: string;
};

/** `messages` are those of the plan as the model sees them: without retracted calls and markers. */
export const summaryPrompt = (
  { previous, messages }: Pick<CompactionPlan, 'previous' | 'messages'>,
  settings: CompactionSettings,
  limits: ShorteningLimits,
): SummaryPrompt => {
  const { summarizer_user_prompt: template, summary_model } = settings;
  const values: Record<string, string> = {
    '{messages}': messages.map((message) => lineOf(shortenResult(message, limits))).join('\n\n'),
    '{previous_summary}': previous ? summaryText(previous) : '',
  };
  // A template without `{messages}` gets them appended.
  const complete = template.includes('{messages}') ? template : `${template}\n\n{messages}`;
  return {
    system: settings.summarizer_system_prompt,
    // One pass, so that a placeholder inside a message stays text.
    user: complete.replace(/\{(?:messages|previous_summary)\}/g, (name) => values[name] ?? name),
    max_tokens: settings.summary_max_tokens,
    ...(summary_model !== undefined && { upstream_model: summary_model }),
  };
};

const lineOf = ({ role, content, tool_calls = [], tool_call_id }: Message): string => {
  const text = content.map((block) => describeBlock(block, role)).join('');
  const calls = tool_calls.map(
    ({ id, name, arguments: args }) => `calls ${name} (${id}) with ${JSON.stringify(args)}`,
  );
  const speaker = tool_call_id === undefined ? role : `${role} (${tool_call_id})`;
  return `${speaker}: ${[text, ...calls].filter((part) => part !== '').join('\n')}`;
};

/** Renders a block as a request of the conversation does. */
const describeBlock = (block: ContentBlock, role: Message['role']): string => {
  if (role === 'assistant' && isPartBlock(block)) return describePart(block);
  if (isSource(block)) return '';
  if ('source' in block) return describeMedia(block);
  return block.type === 'text' ? block.text : `[${block.type}]`;
};

const OPEN = '<conversation-summary>\n';
const CLOSE = '\n</conversation-summary>';

/** The text of a summary without its frame. */
const summaryText = ({ content }: Message): string => {
  const text = textOf(content);
  return text.startsWith(OPEN) && text.endsWith(CLOSE) ? text.slice(OPEN.length, -CLOSE.length) : text;
};

export const summaryMessage = (
  id: string,
  text: string,
  { range }: Pick<CompactionPlan, 'range'>,
): Message => ({
  id,
  role: 'system',
  content: [{ type: 'text', text: `${OPEN}${text.trim()}${CLOSE}` }],
  visibility: 'internal',
  metadata: { compaction: range },
});

/** True when a summary of `post_tokens` saves enough compared to the messages that it covers. */
export const savesEnough = (
  post_tokens: number,
  { pre_tokens }: Pick<CompactionPlan, 'pre_tokens'>,
  { min_savings_ratio }: Pick<CompactionSettings, 'min_savings_ratio'>,
): boolean => pre_tokens - post_tokens >= min_savings_ratio * pre_tokens;
