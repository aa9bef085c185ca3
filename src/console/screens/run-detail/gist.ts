import { isObject } from '../../data/guard.ts';
import { redactText } from '../../data/redact-text.ts';
import { redact } from '../../data/redaction.ts';
import type { LogEvent } from '../../event-log/event.ts';
import { deciderIn } from '../../run-records/decider.ts';

/** A one-line summary of an event. */

/** Summaries are limited because a payload can have any size. */
const LONGEST = 160;

const cut = (text: string): string => {
  const line = text.slice(0, LONGEST * 2).replace(/\s+/g, ' ');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
};

const json = (value: unknown): string => JSON.stringify(redact(value)) ?? '';

const contentOf = (blocks: unknown): string =>
  Array.isArray(blocks)
    ? blocks.map((block) => (isObject(block) && typeof block.text === 'string' ? block.text : '')).join(' ')
    : '';

const word = (value: unknown): string => (typeof value === 'string' ? value : '');

const gist = ({ event_kind: kind, payload }: LogEvent): string => {
  const result = isObject(payload.result) ? payload.result : {};
  const usage = isObject(payload.usage) ? payload.usage : {};
  const termination = isObject(payload.termination) ? payload.termination : {};
  if (kind === 'ToolCallReady') return `${word(payload.name)} ${json(payload.arguments)}`;
  if (kind.startsWith('ToolCall') && 'tool_name' in result) {
    return `${word(result.tool_name)} ${word(result.message) || json(result.data)}`;
  }
  if (kind === 'ToolPermissionRequested') return word(result.tool_name);
  if (kind === 'InferenceComplete') {
    const tokens = [usage.prompt_tokens, usage.completion_tokens].join(' → ');
    return `${word(payload.model)} · ${tokens} · ${payload.duration_ms} ms`;
  }
  if (kind === 'MessageCommitted') {
    return `${word(payload.role)} #${payload.message_seq} ${redactText(cut(contentOf(payload.content_blocks)))}`;
  }
  if (kind === 'MailboxDecisionReceived' || kind === 'ToolPermissionResolved') {
    return [payload.action, deciderIn(payload), payload.reason]
      .filter((part) => word(part) !== '')
      .join(' · ');
  }
  if ('type' in termination) return `${word(termination.type)} ${json(termination.value) || ''}`;
  return word(payload.reason) || word(payload.status) || word(payload.error);
};

export const gistOf = (event: LogEvent): string => cut(gist(event));
