import type { WithdrawnText } from '../../runtime/index.ts';
import { isPartBlock, type PartBlock } from '../../schema/answer-part.ts';
import { isData, typeOfMedia } from '../../schema/media.ts';
import { type Message, textOf } from '../../schema/message.ts';
import type { Termination } from '../../schema/run.ts';
import { failureOf } from '../../schema/run-failure.ts';
import type { ResponseUsage } from '../../schema/stored-response.ts';
import { timeOfUuid } from '../../schema/uuid-time.ts';
import { callId } from './ids.ts';
import { type ShownWaits, shortened, waitText } from './waits.ts';

/** The end of a leg of a run as a chat completion reports it (openai.md 6.2, 6.3). */

export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter';

export type LegFailure = { message: string; code?: string };

export type LegEnd =
  | { kind: 'failed'; failure: LegFailure }
  | { kind: 'finished'; finish_reason: FinishReason; refusal: string | null };

export type LegStatus = 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** The status of an ended leg in the metrics. */
export const statusOfLeg = (end: LegEnd, termination: Termination): LegStatus => {
  if (end.kind === 'failed') return 'failed';
  if (termination.type === 'cancelled') return 'cancelled';
  return end.finish_reason === 'stop' || end.finish_reason === 'tool_calls' ? 'completed' : 'incomplete';
};

export const endOfLeg = (
  termination: Termination,
  { truncated, waits }: { truncated: boolean; waits: ShownWaits },
): LegEnd => {
  const failure = failureOfLeg(termination);
  if (failure) return { kind: 'failed', failure };
  const finished = (finish_reason: FinishReason, refusal: string | null = null): LegEnd => ({
    kind: 'finished',
    finish_reason,
    refusal,
  });
  switch (termination.type) {
    case 'blocked':
      return finished('content_filter', termination.value);
    case 'suspended':
      return finished(waits.calls.length > 0 ? 'tool_calls' : 'stop');
    case 'stopped':
      return finished(STOPS.has(termination.value.code) ? 'stop' : 'length');
    default:
      return finished(truncated ? 'length' : 'stop');
  }
};

/** Undefined for an end that is no error for the client. */
export const failureOfLeg = (termination: Termination | undefined): LegFailure | undefined =>
  termination && (failureOf(termination) ?? invalidOutput(termination));

/** Codes of ends that the agent wants; the others are limits. */
const STOPS: ReadonlySet<string> = new Set(['stop_on_tool', 'content_match', 'content_match_invalid_regex']);

const invalidOutput = (termination: Termination): { message: string } | undefined =>
  termination.type === 'stopped' && termination.value.code === 'invalid_output'
    ? { message: `the result does not fit its schema: ${termination.value.detail ?? ''}` }
    : undefined;

/** The messages of a run in a leg, oldest first. */
export type LegMessages = readonly Message[];

export const messagesOfLeg = (history: readonly Message[], seq: number, run_id: string): LegMessages =>
  history
    .slice(seq)
    .filter(
      ({ role, visibility, metadata }) =>
        role === 'assistant' && visibility === undefined && metadata?.run_id === run_id,
    );

export const textOfAnswer = ({ content }: Pick<Message, 'content'>): string =>
  textOf(content.filter((block) => !isPartBlock(block)));

/**
 * Returns the address of the content of a stored file, with a signature that is valid from a time on.
 *
 * @param at milliseconds; default: now
 */
export type FileLink = (file_id: string, at?: number) => string;

/** Texts behind those of the model: parts of the answer, then what the run waits for. */
export const textsBehind = (
  messages: LegMessages,
  { waits, isKeyed, fileLink }: { waits: ShownWaits; isKeyed: boolean; fileLink: FileLink },
): string[] =>
  [
    ...messages.flatMap(({ id, content }) => {
      // A repeated request receives the same links.
      const at = timeOfUuid(id);
      return content.filter(isPartBlock).map((block) => partText(block, (file) => fileLink(file, at)));
    }),
    waitText(waits, isKeyed),
  ].filter((text) => text !== '');

export const BREAK = '\n\n';

type LegTextOptions = {
  waits: ShownWaits;
  stopped: Message | undefined;
  fileLink: FileLink;
  /** Included, as a reader of the stream has received them. */
  withdrawn?: readonly WithdrawnText[];
};

/** The whole text of a leg. */
export const legText = (
  messages: LegMessages,
  { waits, stopped, fileLink, withdrawn = [] }: LegTextOptions,
): string => {
  const answers = stopped ? [...messages, stopped] : messages;
  const begun = new Set(answers.map(({ id }) => id));
  return [
    ...answers.flatMap((answer) => streamedTexts(answer, withdrawn)),
    ...withdrawn
      .filter(({ message_id, before }) => before === undefined && !begun.has(message_id))
      .map(({ text }) => text),
    ...textsBehind(messages, { waits, isKeyed: true, fileLink }),
  ]
    .filter((text) => text !== '')
    .join(BREAK);
};

/** The texts of the steps that precede a message, and its own, which continues the text withdrawn from it. */
const streamedTexts = (answer: Message, withdrawn: readonly WithdrawnText[]): string[] => {
  const before = withdrawn.filter((each) => each.before === answer.id);
  const own = withdrawn.filter(({ message_id }) => message_id === answer.id);
  return [...before.map(({ text }) => text), own.map(({ text }) => text).join('') + textOfAnswer(answer)];
};

const LONGEST_DATA = 4000;

/** Files whose bytes are in the thread have no address, and are left out. */
const partText = (block: PartBlock, fileLink: (file_id: string) => string): string => {
  if (isData(block)) return `\`\`\`json\n${shortened(block.text, LONGEST_DATA)}\n\`\`\``;
  if (!('source' in block) || block.source.type === 'base64') return '';
  const { source } = block;
  const url = source.type === 'url' ? source.url : fileLink(source.file_id);
  const name = (block.title ?? nameIn(url)).replaceAll(/[[\]\n]/g, ' ');
  const mark = block.type === 'image' || typeOfMedia(block).startsWith('image/') ? '!' : '';
  return `${mark}[${name}](${url})`;
};

/** @param url such as `https://x.test/a/b.png?size=2`, whose file is `b.png` */
const nameIn = (url: string): string => {
  const [path = ''] = url.split(/[?#]/, 1);
  return path.split('/').findLast((part) => part !== '') ?? 'file';
};

export type ClientCall = { id: string; name: string; arguments: string };

/** @param history of the thread, with the calls of the run, which are numbered in its order */
export const clientCalls = (
  calls: ShownWaits['calls'],
  history: readonly Message[],
  run_id: string,
): ClientCall[] => {
  const numbers = callNumbers(history, run_id);
  return calls.map(({ tool_call_id, tool_name, arguments: args }) => ({
    id: callId({ run_id, ordinal: numbers.get(tool_call_id) ?? 0 }),
    name: tool_name,
    arguments: JSON.stringify(args ?? {}),
  }));
};

/** Numbers of the calls of a run, by the ids that the provider gave; the last call with an id counts. */
export const callNumbers = (history: readonly Message[], run_id: string): ReadonlyMap<string, number> => {
  const numbers = new Map<string, number>();
  let number = 0;
  for (const { tool_calls = [], metadata } of history) {
    if (tool_calls.length === 0 || metadata?.run_id !== run_id) continue;
    for (const { id } of tool_calls) {
      numbers.set(id, number);
      number += 1;
    }
  }
  return numbers;
};

export const usageBody = ({ input, output, cached, reasoning }: ResponseUsage) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: reasoning,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
});

const LONGEST_PROGRESS = 200;

/** A call of a tool of the agent as text of the reasoning (openai.md 6.2). */
export const callBegins = (name: string, args: unknown): string =>
  `\n[${name}] ${shortened(JSON.stringify(args ?? {}), LONGEST_PROGRESS)}\n`;

export const callEnds = (name: string, isFailed: boolean): string =>
  `[${name}] ${isFailed ? 'failed' : 'ok'}\n`;
