import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from 'ai-sdk-provider-4';
import { type Answer, createAnswer } from '../models/answer.ts';
import { ModelError } from '../models/errors.ts';
import type { InferenceEnd, InferenceSink, InferenceSource } from '../models/model.ts';
import { countOf, reportUsage } from '../models/wire/read.ts';
import type { Finish } from '../models/wire/wire.ts';
import type { ReasoningItem } from '../schema/message.ts';
import { type Blocks, createBlocks } from './blocks.ts';
import { toStreamError } from './errors.ts';
import { FORMAT, type Item, storable } from './items.ts';

/**
 * Passes the parts of an AI SDK stream to the sink.
 *
 * Guarantees: those of `createAnswer`. Some packages end every open call when their connection ends, truncated
 * arguments included; `createAnswer` holds such a call back. A call that the provider executes itself is ignored
 * together with its result; its sources are reported.
 */

export type StreamPart = LanguageModelV3StreamPart | LanguageModelV4StreamPart;

/** Returns the end with the last part. @throws ModelError for a part that reports a failure */
export type PartReceiver = ((part: StreamPart) => InferenceEnd | undefined) & {
  /** Returns whether the completion has content. */
  hasBegun(): boolean;
};

type Origin = Pick<ReasoningItem, 'provider' | 'model' | 'format'>;

/** No model has this origin, so stored reasoning is never sent. */
const NO_ORIGIN: Origin = { provider: '', model: '', format: FORMAT };

/** `origin` is the model to which stored reasoning is sent back. */
export function createPartReceiver(sink: InferenceSink, origin: Origin = NO_ORIGIN): PartReceiver {
  const answer = createAnswer(sink, origin);
  const receiving: Receiving = {
    answer,
    blocks: createBlocks(answer),
    own: new Map(),
    foreign: new Set(),
    sources: new Set(),
  };
  const receive = (part: StreamPart): InferenceEnd | undefined => {
    if (part.type === 'finish') return finish(receiving, part);
    receivePart(receiving, part);
    return undefined;
  };
  return Object.assign(receive, { hasBegun: answer.hasBegun });
}

type Receiving = {
  readonly answer: Answer;
  readonly blocks: Blocks;
  /** Metadata of started calls by id. */
  readonly own: Map<string, unknown>;
  /** Ids of calls that the provider executes. */
  readonly foreign: Set<string>;
  /** Reported sources; a citation may repeat one. */
  readonly sources: Set<string>;
};

type Part<Type extends StreamPart['type']> = Extract<StreamPart, { type: Type }>;

function receivePart(receiving: Receiving, part: Exclude<StreamPart, { type: 'finish' }>): void {
  const { answer, blocks } = receiving;
  switch (part.type) {
    case 'text-start':
      blocks.add('text', { ...part, delta: '' });
      break;
    case 'text-delta':
      blocks.add('text', part);
      answer.text(part.delta);
      break;
    case 'text-end':
      blocks.end('text', part);
      if ('citations' in part)
        for (const { source } of part.citations ?? []) receiveSource(receiving, source);
      break;
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
      receiveReasoning(receiving, part);
      break;
    case 'tool-input-start':
      startCall(receiving, part);
      break;
    case 'tool-input-delta':
      if (!receiving.foreign.has(part.id)) answer.callDelta(part.id, part.delta);
      break;
    case 'tool-call':
      endCall(receiving, part);
      break;
    case 'file':
      blocks.endAll();
      receiveFile(answer, part);
      break;
    case 'source':
      receiveSource(receiving, part);
      break;
    case 'custom': {
      const metadata = storable(part.providerMetadata);
      keep(answer, { type: 'custom', kind: part.kind, ...(metadata && { metadata }) });
      break;
    }
    case 'tool-approval-request':
      throw new ModelError(
        'provider',
        'the provider requested an approval of a provider tool, which is not supported',
        { final: true },
      );
    case 'error':
      throw toStreamError(part.error, answer.hasBegun());
    // Other parts are informational, or belong to a later version.
  }
}

const keep = (answer: Answer, item: Item): void => answer.reasoningItem(item);

function receiveReasoning({ answer, blocks }: Receiving, part: ReasoningPart): void {
  if (part.type === 'reasoning-end') blocks.end('reasoning', part);
  else blocks.add('reasoning', { delta: '', ...part });
  if (part.type === 'reasoning-delta') answer.reasoning(part.delta);
  answer.reasoningEncrypted(encryptedIn(part));
}

function startCall({ answer, blocks, own, foreign }: Receiving, part: Part<'tool-input-start'>): void {
  const { id, toolName, providerExecuted, providerMetadata } = part;
  blocks.endAll();
  if (providerExecuted) foreign.add(id);
  else {
    own.set(id, providerMetadata);
    answer.callStart(id, toolName);
  }
}

function endCall({ answer, blocks, own, foreign }: Receiving, part: Part<'tool-call'>): void {
  const { toolCallId: id, toolName, input, providerExecuted, providerMetadata } = part;
  blocks.endAll();
  if (providerExecuted || foreign.has(id)) {
    foreign.add(id);
    return;
  }
  answer.callStart(id, toolName);
  const metadata = storable(providerMetadata ?? own.get(id));
  own.set(id, metadata);
  if (metadata) keep(answer, { type: 'call', id, metadata });
  answer.callEnd(id, input);
}

/** A file of version 3 has its bytes or their base64 as `data`; one of version 4 has an object with its kind. */
function receiveFile(answer: Answer, { data, mediaType }: Part<'file'>): void {
  const file =
    typeof data === 'string' || data instanceof Uint8Array ? { type: 'data' as const, data } : data;
  if (file.type === 'url') answer.fileAt(mediaType, file.url.href);
  else answer.file(mediaType, typeof file.data === 'string' ? file.data : toBase64(file.data));
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

function receiveSource({ answer, sources }: Receiving, part: Part<'source'>): void {
  const source = toSource(part);
  const key = `${source.id} ${source.type === 'url' ? source.url : source.title}`;
  if (sources.has(key)) return;
  sources.add(key);
  answer.source(source);
}

function toSource(part: Part<'source'>): InferenceSource {
  const { id, title } = part;
  if (part.sourceType === 'url') return { type: 'url', id, url: part.url, ...(title && { title }) };
  const { mediaType: media_type, filename } = part;
  return { type: 'document', id, media_type, title: part.title, ...(filename && { filename }) };
}

function finish({ answer, blocks, own, foreign }: Receiving, part: Part<'finish'>): InferenceEnd {
  blocks.endAll();
  const { inputTokens: input, outputTokens: output } = part.usage;
  reportUsage(answer, {
    prompt: countOf(input.total),
    completion: countOf(output.total),
    cacheRead: countOf(input.cacheRead),
    cacheWrite: countOf(input.cacheWrite),
    thinking: countOf(output.reasoning),
  });
  const onlyForeign = foreign.size > 0 && own.size === 0;
  return answer.end(toFinish(part.finishReason, onlyForeign));
}

const REASONS: Partial<Record<LanguageModelV4FinishReason['unified'], Finish['reason']>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'calls',
  error: 'failed',
  interrupted: 'missing',
};

/**
 * A package whose stream ended without a reason from the provider reports `other` without a raw reason. A package whose
 * model refused in text reports a content filter although the provider reported none: that counts as a completion.
 */
function toFinish({ unified, raw }: LanguageModelV4FinishReason, onlyForeign: boolean): Finish {
  const reasoned = (reason: Finish['reason']): Finish => ({ reason, ...(raw !== undefined && { raw }) });
  if (unified === 'content-filter')
    return reasoned(raw === undefined || raw === 'stop' ? 'stop' : 'filtered');
  if (unified === 'other' && raw === undefined) return reasoned('missing');
  if (raw === 'stop_sequence') return reasoned('stop_sequence');
  if (unified === 'tool-calls' && onlyForeign) return reasoned('stop');
  return reasoned(REASONS[unified] ?? 'other');
}

type ReasoningPart = Part<'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>;

/** Where packages store the opaque text of a provider, which is complete when this part arrives. */
const ENCRYPTED: Record<ReasoningPart['type'], readonly string[]> = {
  'reasoning-start': ['redactedData'],
  'reasoning-delta': ['signature', 'thoughtSignature'],
  'reasoning-end': ['reasoningEncryptedContent'],
};

function encryptedIn({ type, providerMetadata }: ReasoningPart): string {
  if (!providerMetadata) return '';
  const values = Object.values(providerMetadata).flatMap((metadata) =>
    ENCRYPTED[type].map((key) => metadata[key]),
  );
  return values.find((value): value is string => typeof value === 'string' && value !== '') ?? '';
}
