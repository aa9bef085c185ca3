import { describePart, isPartBlock, type PartBlock } from '../../schema/answer-part.ts';
import { describeMedia } from '../../schema/described-media.ts';
import { isObject } from '../../schema/endpoint.ts';
import type { Json } from '../../schema/json.ts';
import type { MediaBlock } from '../../schema/media.ts';
import { type ContentBlock, type Message, type ReasoningItem, textOf } from '../../schema/message.ts';
import { nameForModel } from '../../schema/model-tool.ts';
import type { ProviderToolType } from '../../schema/provider-tool.ts';
import { wellFormed } from '../../schema/well-formed.ts';
import type { AcceptedInput, InferenceRequest } from '../model.ts';
import { createUniqueIds, idForModel, type UniqueIds } from './prompt-ids.ts';
import { createItems } from './prompt-items.ts';
import { type FilePart, filePart, type MediaRules, sentFiles, userFile } from './prompt-media.ts';
import { pairCalls } from './prompt-pairs.ts';
import {
  type AssistantPart,
  type CallPart,
  isBlank,
  type PromptWriter,
  type ResultPart,
  type TextPart,
  type ThoughtPart,
  textParts,
  type UserPart,
} from './prompt-parts.ts';

/**
 * Writes the history of a thread in a form that every provider accepts, piece by piece, in order.
 *
 * Guarantees: no text is blank or contains a lone surrogate; the name of a call, its id and its arguments (an object)
 * satisfy the strictest provider for any model output, and no id occurs twice; calls and results are paired
 * (`prompt-pairs.ts`). A user's block that the model is known not to accept is rejected before the provider is called,
 * or replaced by a description if a completion has followed. Reasoning that a provider requires back is written at its
 * position, and only for the model that produced it. Non-text parts of a completion are described in text, unless the
 * model accepts its own pictures. Files of results are sent to models that are known to accept them: within the result,
 * if the format has a form for that, or in a user message after the results.
 * Cost: one pass over the history; nothing is kept.
 */

export type PromptRules = MediaRules & {
  /** Whether the provider accepts system texts only before everything else; later ones are moved there. */
  systemFirst: boolean;
  /** The origin of the reasoning that is sent back. */
  origin: Pick<ReasoningItem, 'provider' | 'model' | 'format'>;
};

/** @throws ModelError `invalid_request` for a block that the model does not accept, or for an invalid URL */
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
    ids: createUniqueIds(),
    results: [],
    behind: [],
  };
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  const pieces = createPieces();
  pieces.add(system.flatMap((text) => systemPieces(writer, text)));
  if (cache) pieces.mark('first');
  if (rules.systemFirst) {
    const moved = messages.filter(({ role }) => role === 'system');
    pieces.add(moved.flatMap(({ content }) => systemPieces(writer, textOf(content))));
  }
  for (const [index, message] of messages.entries()) {
    const isMoved = message.role === 'system' && rules.systemFirst;
    if (!isMoved) pieces.add(piecesOf(walk, message, writer, index < answered));
    if (messages[index + 1]?.role !== 'tool') pieces.add(resultPieces(walk, writer));
    if (index + 1 === cache?.stable_messages) pieces.mark('last');
  }
  pieces.write();
  writer.end();
};

type PromptInput = Pick<InferenceRequest, 'system' | 'messages' | 'cache' | 'accepts' | 'provider_tools'>;

type Walk = {
  readonly rules: PromptRules;
  readonly accepts: AcceptedInput;
  /** Files of completions and results that the model receives. */
  readonly files: ReadonlySet<ContentBlock>;
  /** Provider tools of this request. */
  readonly offered: ReadonlySet<ProviderToolType>;
  /** The last call of each id, in the sent form. */
  readonly calls: Map<string, CallPart>;
  readonly ids: UniqueIds;
  /** Results that are collected for the next piece. */
  results: ResultPart[];
  /** Files that follow these results. */
  behind: { of: ResultPart; files: readonly FilePart[] }[];
};

type Piece = (isStable: boolean) => void;

/** A piece may become stable after it was added. If a message wrote no piece, the previous piece is marked. */
const createPieces = () => {
  const pieces: { write: Piece; isStable: boolean }[] = [];
  return {
    add(added: readonly Piece[]): void {
      for (const write of added) pieces.push({ write, isStable: false });
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

const systemPieces = (writer: PromptWriter, text: string): Piece[] =>
  isBlank(text) ? [] : [(isStable) => writer.system(text.toWellFormed(), isStable)];

const piecesOf = (walk: Walk, message: Message, writer: PromptWriter, isAnswered: boolean): Piece[] => {
  switch (message.role) {
    case 'system':
      return systemPieces(writer, textOf(message.content));
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

/** A user who wrote nothing still expects a completion, but providers reject a message without content. */
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

const assistantParts = (walk: Walk, { content, tool_calls = [], metadata }: Message): AssistantPart[] => {
  const items = createItems(ownItems(walk, metadata?.reasoning_items));
  const parts: AssistantPart[] = [];
  const called = new Set<string>();
  // A call that occurs both as a block and as a call of the message is written once.
  const calls = (id: string, name: string, input: Json): CallPart[] => {
    if (called.has(id)) return [];
    called.add(id);
    return [callPart(walk, id, name, input)];
  };
  for (const [index, block] of content.entries()) {
    if (isPartBlock(block)) parts.push(partOfBlock(walk, block, content, index));
    else if (block.type === 'text') parts.push(...items.within(block.text));
    else if (block.type === 'tool_use') parts.push(...calls(block.id, block.name, block.input));
    else if (block.type === 'thinking') parts.push(...thoughtParts(block.thinking));
  }
  for (const [index, { id, name, arguments: input }] of tool_calls.entries()) {
    parts.push(...items.before(index), ...calls(id, name, input));
  }
  parts.push(...items.rest());
  return parts.some(isContent) ? parts : [];
};

/** A completion with only reasoning is not sent, because no provider accepts one. */
const isContent = (part: AssistantPart): boolean =>
  part.type === 'item' ? part.tool !== undefined : part.type !== 'thought';

/** The items of the same model, without those of provider tools that this request does not offer. */
const ownItems = (
  { rules: { origin }, offered }: Walk,
  items: readonly ReasoningItem[] = [],
): ReasoningItem[] =>
  items.filter(
    ({ provider, model, format, tool }) =>
      provider === origin.provider &&
      model === origin.model &&
      format === origin.format &&
      (tool === undefined || offered.has(tool)),
  );

const thoughtParts = (text: string): ThoughtPart[] =>
  isBlank(text) ? [] : [{ type: 'thought', text: text.toWellFormed() }];

/** A file is described unless the model receives it. */
const partOfBlock = (
  { files }: Walk,
  block: PartBlock,
  content: readonly ContentBlock[],
  index: number,
): FilePart | TextPart =>
  'source' in block && files.has(block)
    ? filePart(block)
    : { type: 'text', text: onItsOwnLine(block, content, index) };

/** Adds line breaks, because some formats concatenate texts. */
const onItsOwnLine = (block: PartBlock, content: readonly ContentBlock[], index: number): string => {
  const description = describePart(block).toWellFormed();
  const isText = (each: ContentBlock | undefined) => each?.type === 'text' || (each && isPartBlock(each));
  return `${isText(content[index - 1]) ? '\n' : ''}${description}${content[index + 1]?.type === 'text' ? '\n' : ''}`;
};

const callPart = (walk: Walk, id: string, name: string, input: Json): CallPart => {
  const call: CallPart = {
    type: 'call',
    id: walk.ids.add(idForModel(id)),
    name: nameForModel(name),
    // Providers reject arguments that are not an object; the result of such a call reports the mistake.
    input: isObject(input) ? wellFormed(input) : {},
  };
  walk.calls.set(id, call);
  return call;
};

const resultPart = (walk: Walk, id: string, text: string): ResultPart => {
  const call = walk.calls.get(id);
  return {
    id: call?.id ?? idForModel(id),
    name: call?.name ?? nameForModel(id),
    text: text.toWellFormed(),
  };
};

const addResult = (walk: Walk, { content, tool_call_id = '' }: Message): void => {
  const written: WrittenResult = { texts: [], within: [], files: [] };
  const wholeText = textOf(content);
  for (const block of content) {
    if (block.type === 'text') {
      written.texts.push(block.text);
      written.within.push(...textParts(block.text));
    } else if ('source' in block) addFile(written, walk, block, wholeText);
  }
  const { texts, within, files } = written;
  const result = resultPart(walk, tool_call_id, texts.join('\n'));
  if (within.some(({ type }) => type === 'file')) result.content = within;
  walk.results.push(result);
  if (files.length > 0) walk.behind.push({ of: result, files });
};

type WrittenResult = {
  texts: string[];
  /** The content of the result, if it contains files. */
  within: (TextPart | FilePart)[];
  /** The files that follow the result. */
  files: FilePart[];
};

/** Describes a file that is not sent or that follows the result, unless the text of the result already does. */
const addFile = (
  { texts, within, files }: WrittenResult,
  { files: sent, rules }: Walk,
  block: MediaBlock,
  wholeText: string,
): void => {
  const description = describeMedia(block);
  const isDescribed = wholeText.includes(description);
  if (!isDescribed) texts.push(description);
  const part = sent.has(block) ? filePart(block) : undefined;
  const isWithin = part !== undefined && rules.files?.inResult?.(part) === true;
  if (isWithin) within.push(part);
  else if (!isDescribed) within.push(...textParts(description));
  if (part && !isWithin) files.push(part);
};

/**
 * Sends files of results in a user message after them: not every provider accepts a file in a result, but all accept
 * one there.
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
