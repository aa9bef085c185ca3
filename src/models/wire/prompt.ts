import { createHash } from 'node:crypto';
import { isPartBlock, type PartBlock, wordsForPart } from '../../schema/answer-part.ts';
import { describeMedia } from '../../schema/described-media.ts';
import { isObject } from '../../schema/endpoint.ts';
import type { Json } from '../../schema/json.ts';
import { type ContentBlock, type Message, type ReasoningItem, textOf } from '../../schema/message.ts';
import { nameForModel } from '../../schema/model-tool.ts';
import type { ProviderToolType } from '../../schema/provider-tool.ts';
import { wellFormed } from '../../schema/well-formed.ts';
import type { AcceptedInput, InferenceRequest } from '../model.ts';
import { type FilePart, filePart, type MediaRules, sentFiles, userFile } from './prompt-media.ts';
import { pairCalls } from './prompt-pairs.ts';
import type {
  AssistantPart,
  CallPart,
  ItemPart,
  PromptWriter,
  ResultPart,
  TextPart,
  UserPart,
} from './prompt-parts.ts';

/**
 * The history of a thread in the form that every provider accepts, piece by piece, in order.
 *
 * Guarantees: no text is blank and none has half a character; the name of a call, its id and its arguments (an object)
 * are what the strictest provider accepts, whatever a model wrote, and no id is there twice; calls and results are paired
 * (`prompt-pairs.ts`). A block of a user that the model is known not to accept is refused before the provider is called,
 * and described in words once it has been answered. Reasoning that a provider wants back is written at its place, and
 * only for the model that made it. What an answer held in addition to text is described in words, unless the model
 * accepts its own pictures. Files of results are sent to models that are known to accept them: within the result, where
 * the format has a form for that, or in a message of the user behind the results.
 * Costs one pass over the history; nothing is kept.
 */

export type PromptRules = MediaRules & {
  /** The provider accepts system texts only before everything else; later ones are moved there. */
  systemFirst: boolean;
  /** Whose reasoning is sent back. */
  origin: Pick<ReasoningItem, 'provider' | 'model' | 'format'>;
};

/** @throws ModelError `invalid_request` for a block that the model does not accept, or a URL that is none */
export const writePrompt = (
  { system, messages, cache, accepts: known, provider_tools = [] }: PromptInput,
  rules: PromptRules,
  given: PromptWriter,
): void => {
  const writer = pairCalls(given);
  const accepts = known ?? (rules.modalities?.input?.length ? rules.modalities.input : undefined);
  const walk: Walk = {
    rules,
    accepts,
    files: sentFiles(messages, accepts, rules),
    offered: new Set(provider_tools.map(({ type }) => type)),
    calls: new Map(),
    used: new Set(),
    results: [],
    behind: [],
  };
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  const pieces = createPieces();
  for (const text of system) pieces.add(systemPiece(writer, text));
  if (cache) pieces.mark('first');
  if (rules.systemFirst) {
    for (const message of messages)
      if (message.role === 'system') pieces.add(systemPiece(writer, textOf(message.content)));
  }
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'system' || !rules.systemFirst) {
      for (const piece of piecesOf(walk, message, writer, index < answered)) pieces.add(piece);
    }
    if (messages[index + 1]?.role !== 'tool') {
      for (const piece of resultPieces(walk, writer)) pieces.add(piece);
    }
    if (index + 1 === cache?.stable_messages) pieces.mark('last');
  }
  pieces.write();
  writer.end();
};

type PromptInput = Pick<InferenceRequest, 'system' | 'messages' | 'cache' | 'accepts' | 'provider_tools'>;

type Walk = {
  readonly rules: PromptRules;
  readonly accepts: AcceptedInput;
  /** Files of answers and results that the model is sent. */
  readonly files: ReadonlySet<ContentBlock>;
  /** Tools of the provider in this request. */
  readonly offered: ReadonlySet<ProviderToolType>;
  /** The last call of each id, as it is sent. */
  readonly calls: Map<string, CallPart>;
  /** Ids of calls as they are sent. */
  readonly used: Set<string>;
  /** Results that wait for the rest of their piece. */
  results: ResultPart[];
  /** Their files that follow them. */
  behind: { of: ResultPart; files: readonly FilePart[] }[];
};

type Piece = (isStable: boolean) => void;

/** Whether a piece is stable is known only after it. Where nothing is written for a message, the piece before is marked. */
const createPieces = () => {
  const pieces: { write: Piece; isStable: boolean }[] = [];
  return {
    add(write: Piece | undefined): void {
      if (write) pieces.push({ write, isStable: false });
    },
    mark(place: 'first' | 'last'): void {
      const piece = place === 'first' ? pieces[0] : pieces.at(-1);
      if (piece) piece.isStable = true;
    },
    write(): void {
      for (const { write, isStable } of pieces) write(isStable);
    },
  };
};

const systemPiece = (writer: PromptWriter, text: string): Piece | undefined =>
  isBlank(text) ? undefined : (isStable) => writer.system(text.toWellFormed(), isStable);

const piecesOf = (walk: Walk, message: Message, writer: PromptWriter, isAnswered: boolean): Piece[] => {
  switch (message.role) {
    case 'system':
      return present([systemPiece(writer, textOf(message.content))]);
    case 'tool':
      addResult(walk, message);
      return [];
    case 'user':
      return userPieces(walk, message, writer, isAnswered);
    case 'assistant': {
      const parts = assistantParts(walk, message);
      return parts.length === 0 ? [] : [(isStable) => writer.assistant(parts, isStable)];
    }
  }
};

const present = (pieces: readonly (Piece | undefined)[]): Piece[] =>
  pieces.filter((piece) => piece !== undefined);

const resultPieces = (walk: Walk, writer: PromptWriter): Piece[] => {
  const { results, behind } = walk;
  if (results.length === 0) return [];
  walk.results = [];
  walk.behind = [];
  const files = partsBehind(behind);
  return [
    (isStable) => writer.results(results, isStable),
    ...(files.length > 0 ? [(isStable: boolean) => writer.user(files, isStable)] : []),
  ];
};

/** A user who wrote nothing waits for an answer nevertheless, and providers refuse a message without content. */
const NOTHING_WRITTEN: TextPart = { type: 'text', text: '(empty message)' };

const userPieces = (walk: Walk, { content }: Message, writer: PromptWriter, isAnswered: boolean): Piece[] => {
  let hasResults = false;
  const parts: UserPart[] = [];
  for (const block of content) {
    if (block.type === 'tool_result') {
      hasResults = true;
      walk.results.push(resultPart(walk, block.tool_use_id, textOf(block.content)));
    } else if (block.type === 'text') parts.push(...textParts(block.text));
    else if ('source' in block) parts.push(userFile(block, walk.accepts, { ...walk.rules, isAnswered }));
  }
  if (parts.length === 0 && hasResults) return [];
  if (parts.length === 0) parts.push(NOTHING_WRITTEN);
  return [...resultPieces(walk, writer), (isStable) => writer.user(parts, isStable)];
};

const isBlank = (text: string): boolean => text.trim() === '';

const textParts = (text: string): TextPart[] =>
  isBlank(text) ? [] : [{ type: 'text', text: text.toWellFormed() }];

const assistantParts = (walk: Walk, { content, tool_calls = [], metadata }: Message): AssistantPart[] => {
  const items = createItems(walk, metadata?.reasoning_items);
  const parts: AssistantPart[] = [];
  const called = new Set<string>();
  // A call that is there twice, as a block and as a call of the message, is one.
  const calls = (id: string, name: string, input: Json): CallPart[] => {
    if (called.has(id)) return [];
    called.add(id);
    return [callPart(walk, id, name, input)];
  };
  for (const [index, block] of content.entries()) {
    if ('source' in block && walk.files.has(block)) parts.push(filePart(block));
    else if (isPartBlock(block)) parts.push({ type: 'text', text: onItsOwnLine(block, content, index) });
    else if (block.type === 'text') parts.push(...items.within(block.text));
    else if (block.type === 'thinking') {
      if (!isBlank(block.thinking)) parts.push({ type: 'thought', text: block.thinking.toWellFormed() });
    } else if (block.type === 'tool_use') parts.push(...calls(block.id, block.name, block.input));
  }
  for (const [index, { id, name, arguments: input }] of tool_calls.entries()) {
    parts.push(...items.before(index), ...calls(id, name, input));
  }
  parts.push(...items.rest());
  // An answer that consists of reasoning alone is not sent: no provider accepts one.
  return parts.some((part) => (part.type === 'item' ? part.tool : part.type !== 'thought')) ? parts : [];
};

/** Hands out the items of an answer at their places, which are counted in characters of its text and in calls. */
const createItems = (
  { rules: { origin }, offered }: Pick<Walk, 'rules' | 'offered'>,
  all: readonly ReasoningItem[] = [],
) => {
  const own = all.filter(
    ({ provider, model, format, tool }) =>
      provider === origin.provider &&
      model === origin.model &&
      format === origin.format &&
      (tool === undefined || offered.has(tool)),
  );
  let next = 0;
  let texted = 0;
  const due = (isDue: (after: ReasoningItem['after']) => boolean): ItemPart[] => {
    const parts: ItemPart[] = [];
    for (let each = own[next]; each && isDue(each.after); each = own[next]) {
      parts.push(itemPart(each));
      next += 1;
    }
    return parts;
  };
  return {
    /** A text of the answer, with the items that stand before and in it. */
    within(text: string): AssistantPart[] {
      const parts: AssistantPart[] = [];
      let from = 0;
      for (let each = own[next]; each && each.after.calls === 0; each = own[next]) {
        const at = each.after.text - texted;
        if (at >= text.length) break;
        parts.push(...textParts(text.slice(from, at)), itemPart(each));
        from = Math.max(from, at);
        next += 1;
      }
      texted += text.length;
      return [...parts, ...textParts(text.slice(from))];
    },
    before: (call: number): ItemPart[] => due(({ calls }) => calls <= call),
    rest: (): ItemPart[] => due(() => true),
  };
};

const itemPart = ({ item, tool }: ReasoningItem): ItemPart => ({
  type: 'item',
  item,
  ...(tool !== undefined && { tool }),
});

/** Some formats join texts as they are. */
const onItsOwnLine = (block: PartBlock, content: readonly ContentBlock[], index: number): string => {
  const words = wordsForPart(block).toWellFormed();
  const isText = (each: ContentBlock | undefined) => each?.type === 'text' || (each && isPartBlock(each));
  return `${isText(content[index - 1]) ? '\n' : ''}${words}${content[index + 1]?.type === 'text' ? '\n' : ''}`;
};

const callPart = (walk: Walk, id: string, name: string, input: Json): CallPart => {
  const call: CallPart = {
    type: 'call',
    id: unusedId(walk, idForModel(id)),
    name: nameForModel(name),
    // The result of a call whose arguments are no object says so; providers refuse such arguments.
    input: isObject(input) ? wellFormed(input) : {},
  };
  walk.calls.set(id, call);
  return call;
};

/** Some providers number the calls of each answer from zero, and others reject an id that is used twice. */
const unusedId = ({ used }: Walk, given: string): string => {
  let id = given;
  for (let count = 2; used.has(id); count += 1) id = `${given.slice(0, LONGEST_ID - 8)}_${count}`;
  used.add(id);
  return id;
};

const resultPart = (walk: Walk, id: string, text: string): ResultPart => {
  const call = walk.calls.get(id);
  return {
    id: call?.id ?? idForModel(id),
    name: call?.name ?? nameForModel(id),
    text: text.toWellFormed(),
  };
};

const LONGEST_ID = 64;
const LEGAL_ID = /^[A-Za-z0-9_-]{1,64}$/;
const HASH_LENGTH = 12;

/** The same id for the same call, and different ids for different calls: other services write ids that many refuse. */
export const idForModel = (id: string): string => {
  if (LEGAL_ID.test(id)) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH_LENGTH);
  return `${id.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, LONGEST_ID - HASH_LENGTH - 1)}_${hash}`;
};

/** Files that are not sent, or that follow, are described in their place, unless the text of the result does so. */
const addResult = (walk: Walk, { content, tool_call_id = '' }: Message): void => {
  const { files: sent, rules } = walk;
  const said = textOf(content);
  const texts: string[] = [];
  const within: (TextPart | FilePart)[] = [];
  const files: FilePart[] = [];
  for (const block of content) {
    if (block.type === 'text') {
      texts.push(block.text);
      within.push(...textParts(block.text));
    } else if ('source' in block) {
      const words = describeMedia(block);
      const isDescribed = said.includes(words);
      if (!isDescribed) texts.push(words);
      const part = sent.has(block) ? filePart(block) : undefined;
      if (part && rules.files?.inResult?.(part)) within.push(part);
      else if (!isDescribed) within.push(...textParts(words));
      if (part && !rules.files?.inResult?.(part)) files.push(part);
    }
  }
  const result = resultPart(walk, tool_call_id, texts.join('\n'));
  if (within.some(({ type }) => type === 'file')) result.content = within;
  walk.results.push(result);
  if (files.length > 0) walk.behind.push({ of: result, files });
};

/**
 * Files of results in a message of the user behind them: not every provider accepts a file in a result, and all of them
 * accept one there.
 */
const partsBehind = (behind: Walk['behind']): UserPart[] => {
  if (behind.length === 0) return [];
  const named = (of: ResultPart): TextPart[] =>
    behind.length === 1 ? [] : [{ type: 'text', text: `Result of ${of.name} (${of.id}):` }];
  return [
    { type: 'text', text: 'Files of the results above:' },
    ...behind.flatMap(({ of, files }) => [...named(of), ...files]),
  ];
};
