import type { AnswerWriter } from '../models/wire/wire.ts';
import { type Item, storable } from './items.ts';

/**
 * The open blocks of text and reasoning of one completion.
 *
 * Guarantees: stored items of a block are reported at its end. A block whose end is not reported ends before the next
 * call or file.
 * Cost: one lookup per delta.
 */
export type Blocks = {
  add(kind: BlockKind, delta: BlockDelta): void;
  end(kind: BlockKind, delta: Omit<BlockDelta, 'delta'>): void;
  endAll(): void;
};

export type BlockKind = 'text' | 'reasoning';
export type BlockDelta = { id: string; delta: string; providerMetadata?: unknown };

type Block = { kind: BlockKind; text: string; length: number; metadata: unknown };

export function createBlocks(answer: Pick<AnswerWriter, 'reasoningItem'>): Blocks {
  const open: Record<BlockKind, Map<string, Block>> = { text: new Map(), reasoning: new Map() };
  const blockOf = (kind: BlockKind, id: string): Block => {
    let block = open[kind].get(id);
    if (!block) {
      block = { kind, text: '', length: 0, metadata: undefined };
      open[kind].set(id, block);
    }
    return block;
  };
  const add = (kind: BlockKind, { id, delta, providerMetadata }: BlockDelta): void => {
    const block = blockOf(kind, id);
    block.length += delta.length;
    if (kind === 'reasoning') block.text += delta;
    // The AI SDK replaces the metadata of a block in the same way.
    block.metadata = providerMetadata ?? block.metadata;
  };
  const report = (block: Block): void => {
    const item = itemFrom(block);
    if (item) answer.reasoningItem(item);
  };
  return {
    add,
    end(kind, { id, providerMetadata }) {
      add(kind, { id, delta: '', providerMetadata });
      report(blockOf(kind, id));
      open[kind].delete(id);
    },
    endAll() {
      for (const blocks of [open.reasoning, open.text]) {
        for (const block of blocks.values()) report(block);
        blocks.clear();
      }
    },
  };
}

function itemFrom({ kind, text, length, metadata: given }: Block): Item | undefined {
  const metadata = storable(given);
  if (kind === 'text') return length > 0 && metadata ? { type: 'text', length, metadata } : undefined;
  if (text === '' && !metadata) return undefined;
  return { type: 'reasoning', text: text.toWellFormed(), ...(metadata && { metadata }) };
}
