import { fileBlock } from './anthropic-media.ts';
import { pairServerCalls, toolOfBlock } from './anthropic-server-tools.ts';
import type { Block, Turn } from './anthropic-turn.ts';
import { type PromptRules, writePrompt } from './prompt.ts';
import type { FileForms } from './prompt-media.ts';
import type { PromptWriter, ResultPart } from './prompt-parts.ts';
import { listOf, objectOf } from './read.ts';
import type { WireCall } from './wire.ts';

/**
 * System texts and messages of a request.
 *
 * Guarantees: user and assistant messages alternate, and the first is the user's. Each call has exactly one result, at
 * the start of the message after it, and no id is used twice. Calls follow the texts of their message, and no message
 * ends with thinking. Calls that the service executed have their results. At most two blocks are marked for the cache,
 * and none of them is a block of the history.
 * Cost: two passes over the history.
 */
export type Messages = { system: Block[]; messages: Turn[] };

/** The format of the reasoning that is sent back, and the files that the service can represent. */
export type Target = { format: string; files: FileForms };

export const writeMessages = (
  { upstream, provider, spec, request, pauses }: WireCall,
  sendsThinking: boolean,
  { format, files }: Target,
): Messages => {
  const rules: PromptRules = {
    modalities: spec.modalities,
    systemFirst: true,
    ownPictures: false,
    files,
    origin: { provider, model: upstream, format },
  };
  const { writer, system, turns } = collectTurns(sendsThinking);
  writePrompt(request, rules, writer);
  const paused = pauses
    .flatMap(({ content }) => listOf(content).map(objectOf))
    .filter((block) => block !== undefined);
  const own = turns.map(inOrder).filter(({ content }) => content.length > 0);
  const messages = pairServerCalls(own, paused);
  if (messages[0]?.role !== 'user') messages.unshift(userTurn('(start of the conversation)'));
  const last = messages.at(-1);
  if (last?.role === 'assistant') last.content.push(...paused);
  else if (paused.length > 0) messages.push({ role: 'assistant', content: paused });
  return { system, messages };
};

export const userTurn = (text: string): Turn => ({ role: 'user', content: [{ type: 'text', text }] });

const collectTurns = (sendsThinking: boolean) => {
  const system: Block[] = [];
  const turns: Turn[] = [];
  const add = (role: Turn['role'], blocks: readonly Block[], isStable: boolean): void => {
    if (blocks.length === 0) return;
    if (isStable) markLast(blocks);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: [...blocks] });
  };
  const writer: PromptWriter = {
    system(text, isStable) {
      system.push({ type: 'text', text, ...(isStable && MARK) });
    },
    user(parts, isStable) {
      add(
        'user',
        parts.map((part) => (part.type === 'text' ? textBlock(part.text) : fileBlock(part))),
        isStable,
      );
    },
    results(results, isStable) {
      add('user', results.map(resultBlock), isStable);
    },
    assistant(parts, isStable) {
      const blocks = parts.flatMap((part): Block[] => {
        if (part.type === 'text') return [textBlock(part.text)];
        if (part.type === 'call')
          return [{ type: 'tool_use', id: part.id, name: part.name, input: part.input }];
        // The service rejects thinking without its own signature, and a completion cannot contain a picture block.
        return part.type === 'item' && (part.tool !== undefined || sendsThinking) ? [part.item] : [];
      });
      add('assistant', blocks, isStable);
    },
  };
  return { writer, system, turns };
};

const textBlock = (text: string): Block => ({ type: 'text', text });

const MARK = { cache_control: { type: 'ephemeral' } } as const;

export const isThinkingBlock = ({ type }: { type?: unknown }): boolean =>
  type === 'thinking' || type === 'redacted_thinking';

const isKept = (block: Block): boolean => isThinkingBlock(block) || toolOfBlock(block) !== undefined;

/** Marks a block that was created for this request; other blocks belong to the history. */
const markLast = (blocks: readonly Block[]): void => {
  const last = blocks.findLast((block) => !isKept(block));
  if (last) Object.assign(last, MARK);
};

/** The service rejects text after a call, thinking in another position, and thinking at the end of a message. */
const inOrder = ({ role, content }: Turn): Turn => {
  if (role === 'user') return { role, content };
  const ordered: Block[] = [];
  let calls: Block[] = [];
  for (const block of content) {
    if (block.type === 'tool_use') calls.push(block);
    else if (isThinkingBlock(block)) {
      ordered.push(...calls, block);
      calls = [];
    } else ordered.push(block);
  }
  ordered.push(...calls);
  const end = ordered.findLastIndex((block) => !isThinkingBlock(block));
  return { role, content: ordered.slice(0, end + 1) };
};

/** A result without text has no content, because the service rejects blank content. */
const resultBlock = ({ id, text, content }: ResultPart): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  ...(text.trim() !== '' && {
    content: content
      ? content.map((part) => (part.type === 'text' ? textBlock(part.text) : fileBlock(part)))
      : text,
  }),
});
