import { isDeepStrictEqual } from 'node:util';
import type { InferenceSource } from '../models/model.ts';
import type { Json } from '../schema/json.ts';
import {
  PROVIDER_CALL,
  type ProviderCall,
  type ProviderCallBlock,
  type SourceBlock,
} from '../schema/provider-tool.ts';
import type { RunEvent } from '../schema/run-event.ts';
import type { Step, Turn } from './turn.ts';

/**
 * Calls of tools that the model provider executes, and the sources of the answer.
 *
 * Guarantees: each change of a call is an activity with the same id, which contains the whole call; an ended call does
 * not change again, unless the completion is retracted. No call is left running when its step ends. The ids are generated
 * here, because those of providers are unique in one response only.
 * Cost: one event for each change of a call.
 */
export type ProviderCalls = {
  report(call: ProviderCall): void;
  source(source: InferenceSource): void;
  /** The received answer is void. */
  takeBack(reason: string): void;
};

type Entry = { at: number; block: ProviderCallBlock };

export function trackProviderCalls(turn: Turn, step: Step): ProviderCalls {
  /** By the ids of the provider. */
  const entries = new Map<string, Entry>();
  const sources = new Set<string>();
  return {
    report({ id: given, ...call }) {
      const known = entries.get(given);
      if (known && known.block.status !== 'running') return;
      const block: ProviderCallBlock = {
        ...(known?.block ?? { type: 'provider_call', id: turn.ids.uuid() }),
        ...call,
      };
      if (known && isDeepStrictEqual(block, known.block)) return;
      const entry = known ?? { at: step.text.length, block };
      entry.block = block;
      if (!known) {
        entries.set(given, entry);
        step.parts.push(entry);
      }
      emitCall(turn, block);
    },
    source(source) {
      const key = source.type === 'url' ? source.url : `${source.id} ${source.title}`;
      if (sources.has(key)) return;
      sources.add(key);
      const block = blockOfSource(source);
      step.sources.push(block);
      turn.stream.emit(sourceActivity(turn, block));
    },
    takeBack(reason) {
      takeBackCalls(turn, step, reason);
      entries.clear();
      sources.clear();
    },
  };
}

/** Fails the calls without a result, because their answer has ended. */
export function endProviderCalls(turn: Turn, step: Step, error: string): void {
  failCalls(turn, step, error, ({ status }) => status === 'running');
}

/** Fails the calls of a void answer for readers, including ended ones. */
export function takeBackCalls(turn: Turn, step: Step, reason: string): void {
  failCalls(turn, step, `taken back: ${reason}`, ({ status }) => status !== 'failed');
}

function failCalls(
  turn: Turn,
  step: Step,
  error: string,
  isMeant: (call: ProviderCallBlock) => boolean,
): void {
  for (const part of step.parts) {
    const { block } = part;
    if (block.type !== 'provider_call' || !isMeant(block)) continue;
    const failed: ProviderCallBlock = { ...block, status: 'failed', error };
    part.block = failed;
    emitCall(turn, failed);
  }
}

function emitCall(turn: Turn, { type: _, ...call }: ProviderCallBlock): void {
  turn.stream.emit({
    event_type: 'activity_snapshot',
    message_id: call.id,
    activity_type: PROVIDER_CALL,
    content: jsonOf(call),
    replace: true,
  });
}

// JSON omits fields without a value, and the type of JSON has no such fields.
const jsonOf = (call: ProviderCall): { [key: string]: Json } => call as { [key: string]: Json };

function blockOfSource(source: InferenceSource): SourceBlock {
  const { id, title } = source;
  if (source.type === 'url')
    return { type: 'source_url', id, url: source.url, ...(title !== undefined && { title }) };
  const { media_type, filename } = source;
  return {
    type: 'source_document',
    id,
    media_type,
    title: source.title,
    ...(filename !== undefined && { filename }),
  };
}

const sourceActivity = (turn: Turn, source: SourceBlock): RunEvent => ({
  event_type: 'activity_snapshot',
  message_id: turn.ids.uuid(),
  replace: true,
  ...contentOfSource(source),
});

function contentOfSource(source: SourceBlock) {
  const { id: sourceId, title } = source;
  if (source.type === 'source_url') {
    const { url } = source;
    return { activity_type: 'source-url', content: { sourceId, url, ...(title !== undefined && { title }) } };
  }
  const { media_type: mediaType, filename } = source;
  const content = { sourceId, mediaType, title: source.title, ...(filename !== undefined && { filename }) };
  return { activity_type: 'source-document', content };
}
