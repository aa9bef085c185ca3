import type { JsonObject } from '../../schema/json.ts';
import { fileBlock } from './anthropic-media.ts';
import { type PromptRules, type PromptWriter, type ResultPart, writePrompt } from './prompt.ts';
import { listOf, objectOf } from './read.ts';
import type { WireCall } from './wire.ts';

/**
 * System texts and messages of a request.
 *
 * Guarantees: messages of the user and of the assistant alternate, and the first is the user's. Each call has exactly
 * one result, in the message behind it and before everything else there, and no id is used twice. Calls stand behind
 * the texts of their message, and no message ends with thinking. At most two blocks are marked for the cache, and
 * none of them is a thinking block.
 * Costs two passes over the history.
 */
export type Messages = { system: Block[]; messages: Turn[] };

export type Block = JsonObject;
export type Turn = { role: 'user' | 'assistant'; content: Block[] };

export const writeMessages = (
  { upstream, provider, spec, request, pauses }: WireCall,
  sendsThinking: boolean,
  format: string,
): Messages => {
  const rules: PromptRules = {
    modalities: spec.modalities,
    systemFirst: true,
    ownPictures: false,
    origin: { provider, model: upstream, format },
  };
  const { writer, system, turns } = collectTurns(sendsThinking);
  writePrompt(request, rules, writer);
  const messages = pairCalls(turns.map(inOrder));
  if (messages[0]?.role !== 'user') messages.unshift(userTurn('(start of the conversation)'));
  const paused = pauses
    .flatMap(({ content }) => listOf(content).map(objectOf))
    .filter((block) => block !== undefined);
  const last = messages.at(-1);
  if (last?.role === 'assistant') last.content.push(...paused);
  else if (paused.length > 0) messages.push({ role: 'assistant', content: paused });
  return { system, messages };
};

export const userTurn = (text: string): Turn => ({ role: 'user', content: [{ type: 'text', text }] });

/** A result with what is needed where no call belongs to it. */
type Result = { type: 'result'; part: ResultPart; mark: JsonObject };
type Draft = { role: Turn['role']; content: (Block | Result)[] };

const collectTurns = (sendsThinking: boolean) => {
  const system: Block[] = [];
  const turns: Draft[] = [];
  const add = (role: Turn['role'], blocks: readonly (Block | Result)[], isStable: boolean): void => {
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
      add(
        'user',
        results.map((part): Result => ({ type: 'result', part, mark: {} })),
        isStable,
      );
    },
    assistant(parts, isStable) {
      const blocks = parts.flatMap((part): Block[] => {
        if (part.type === 'text') return [textBlock(part.text)];
        if (part.type === 'call')
          return [{ type: 'tool_use', id: part.id, name: part.name, input: part.input }];
        // Thinking without the signature of this service is refused, and a picture has no block in an answer.
        return part.type === 'item' && sendsThinking ? [part.item] : [];
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

/** The blocks were made for this request, except for thinking, which is not marked. */
const markLast = (blocks: readonly (Block | Result)[]): void => {
  const last = blocks.findLast((block) => !isThinkingBlock(block));
  if (last) Object.assign(isResult(last) ? last.mark : last, MARK);
};

const isResult = (block: Block | Result): block is Result => block.type === 'result';

/**
 * The service refuses text behind a call, thinking at another place, and thinking at the end of a message. A call
 * that is there twice, as a block and as a call of the message, is one.
 */
const inOrder = ({ role, content }: Draft): Draft => {
  if (role === 'user')
    return { role, content: [...content.filter(isResult), ...content.filter((b) => !isResult(b))] };
  const ordered: (Block | Result)[] = [];
  let calls: (Block | Result)[] = [];
  const ids = new Set<unknown>();
  for (const block of content) {
    if (!isResult(block) && block.type === 'tool_use') {
      if (!ids.has(block.id)) calls.push(block);
      ids.add(block.id);
    } else if (isThinkingBlock(block)) {
      ordered.push(...calls, block);
      calls = [];
    } else ordered.push(block);
  }
  ordered.push(...calls);
  const end = ordered.findLastIndex((block) => !isThinkingBlock(block));
  return { role, content: ordered.slice(0, end + 1) };
};

const INTERRUPTED = '[Tool execution was interrupted]';

/** Gives each call its own id and its result, and writes results without a call as text. */
const pairCalls = (drafts: readonly Draft[]): Turn[] => {
  const used = new Set<string>();
  const turns: Turn[] = [];
  /** Ids as sent, by the ids that the calls of the message before had. */
  let open = new Map<string, string>();
  const interruptedResults = (): Block[] =>
    Array.from(open.values(), (id) => resultBlock(id, { text: INTERRUPTED }, {}));
  for (const { role, content } of drafts) {
    const blocks: Block[] = [];
    if (role === 'assistant') {
      for (const block of content) {
        if (isResult(block)) continue;
        const isCall = block.type === 'tool_use';
        blocks.push(isCall ? { ...block, id: addCall(String(block.id), open, used) } : block);
      }
    } else {
      const texts: Block[] = [];
      for (const block of content) {
        if (!isResult(block)) {
          texts.push(block);
          continue;
        }
        const id = open.get(block.part.id);
        open.delete(block.part.id);
        if (id === undefined) texts.push({ ...textBlock(wordsFor(block.part)), ...block.mark });
        else blocks.push(resultBlock(id, block.part, block.mark));
      }
      blocks.push(...interruptedResults(), ...texts);
      open = new Map();
    }
    if (blocks.length > 0) turns.push({ role, content: blocks });
  }
  if (open.size > 0) turns.push({ role: 'user', content: interruptedResults() });
  return turns;
};

const LONGEST_ID = 64;

const addCall = (given: string, open: Map<string, string>, used: Set<string>): string => {
  let id = given;
  for (let count = 2; used.has(id); count += 1) id = `${given.slice(0, LONGEST_ID - 8)}_${count}`;
  used.add(id);
  open.set(given, id);
  return id;
};

/** A result without text has no content: a blank one is refused. */
const resultBlock = (id: string, { text }: Pick<ResultPart, 'text'>, mark: JsonObject): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  ...(text.trim() !== '' && { content: text }),
  ...mark,
});

const wordsFor = ({ name, text }: ResultPart): string => `[Result of ${name}] ${text}`.trimEnd();
