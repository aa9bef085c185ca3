import { Invalid } from '../schema/outcome.ts';
import { type Exchange, setDisconnectListener } from './exchange.ts';

/**
 * A request body that the handler reads as it arrives.
 *
 * Guarantees: while the handler does not read, the connection is paused, so a body of any length occupies about
 * `MOST_QUEUED` bytes and one chunk, in blocks that are reused, some of them by later bodies: the memory does not grow
 * until the next garbage collection. A body that arrives faster than it is read has larger blocks, because each one costs the handler a wait
 * for the disk; one that arrives slowly keeps its first block. Reading ends with an error when the client disconnects
 * before the end.
 * Relies on the handler to read the stream to its end or to leave the loop over it: either resumes the connection, so
 * that the client can receive the response. The handler limits the length of the body.
 * Cost: one copy of the bytes.
 */
export type BodyStream = {
  /** The `Content-Type` of the request; empty without one. */
  readonly contentType: string;
  /** The declared length; undefined for a body of unknown length. */
  readonly length: number | undefined;
  /** May be read once. A chunk is valid until the next one is requested. @throws Invalid when the client disconnects */
  chunks(): AsyncGenerator<Uint8Array, void>;
  /** Discards the rest. Idempotent. */
  discard(): void;
  /**
   * Discards the rest: the pending or next read throws the error, and the response closes the connection. Without effect
   * after the end.
   */
  fail(error: Error): void;
};

/** The connection is paused when more bytes than these are waiting to be read. */
export const MOST_QUEUED = 1024 * 1024;

const FIRST_BLOCK_BYTES = 64 * 1024;
const LARGEST_BLOCK_BYTES = 512 * 1024;
/** A declared length may be wrong. */
const SMALLEST_BLOCK_BYTES = 4096;
/** Blocks that are kept for later bodies. */
const MOST_SPARE_BYTES = 2 * 1024 * 1024;

/** Called in the callback of the request, because uWebSockets.js offers the body only then. */
export const openBodyStream = (
  exchange: Exchange,
  { contentType, contentLength }: { contentType: string; contentLength: number },
): BodyStream => {
  const length = contentLength > 0 ? contentLength : undefined;
  const queue = createQueue(Math.max(SMALLEST_BLOCK_BYTES, Math.min(FIRST_BLOCK_BYTES, length ?? Infinity)));
  exchange.res.onData((chunk, isLast) => {
    if (queue.end !== undefined || exchange.done) return;
    add(queue, new Uint8Array(chunk));
    if (isLast) queue.end = 'complete';
    else if (queue.bytes > MOST_QUEUED && !queue.isPaused) {
      queue.isPaused = true;
      exchange.res.pause();
    }
    queue.wake?.();
  });
  const end = (reason: Error | 'discarded'): void => {
    queue.end ??= reason;
    queue.blocks = [];
    queue.bytes = 0;
    resume(queue, exchange);
    queue.wake?.();
  };
  return {
    contentType,
    length,
    discard: () => end('discarded'),
    fail(error) {
      if (queue.end !== undefined) return;
      exchange.closes = true;
      end(error);
    },
    async *chunks() {
      setDisconnectListener(exchange, () => {
        queue.end ??= ENDED_EARLY;
        queue.wake?.();
      });
      try {
        yield* blocksOf(queue, () => resume(queue, exchange));
      } finally {
        end('discarded');
        // The reader has finished with these; it may still read the last one.
        for (const block of queue.free.splice(0)) keepSpare(block);
      }
    },
  };
};

type Block = { readonly buffer: Uint8Array; used: number };

type Queue = {
  /** Length of the next new block. */
  blockBytes: number;
  /** In the order of arrival; the last one may have room. */
  blocks: Block[];
  /** Blocks that were read. */
  readonly free: Block[];
  bytes: number;
  isPaused: boolean;
  end: Error | 'complete' | 'discarded' | undefined;
  wake: (() => void) | undefined;
};

const createQueue = (blockBytes: number): Queue => ({
  blockBytes,
  blocks: [],
  free: [],
  bytes: 0,
  isPaused: false,
  end: undefined,
  wake: undefined,
});

/** Copies the chunk, which is valid only during its callback. */
const add = (queue: Queue, chunk: Uint8Array): void => {
  for (let at = 0; at < chunk.byteLength; ) {
    const block = lastWithRoom(queue);
    const part = chunk.subarray(at, at + block.buffer.byteLength - block.used);
    block.buffer.set(part, block.used);
    block.used += part.byteLength;
    at += part.byteLength;
  }
  queue.bytes += chunk.byteLength;
};

const lastWithRoom = (queue: Queue): Block => {
  const { blocks, free } = queue;
  const last = blocks.at(-1);
  if (last && last.used < last.buffer.byteLength) return last;
  if (last && free.length === 0) growBlocks(queue);
  const block = free.pop() ?? takeSpare(queue.blockBytes) ?? newBlock(queue.blockBytes);
  block.used = 0;
  blocks.push(block);
  return block;
};

const newBlock = (bytes: number): Block => ({ buffer: Buffer.allocUnsafeSlow(bytes), used: 0 });

const growBlocks = (queue: Queue): void => {
  const isSpare = spare.some(({ buffer }) => buffer.byteLength === LARGEST_BLOCK_BYTES);
  queue.blockBytes = isSpare ? LARGEST_BLOCK_BYTES : Math.min(LARGEST_BLOCK_BYTES, 2 * queue.blockBytes);
};

/** Blocks of bodies that have ended. */
const spare: Block[] = [];

const takeSpare = (bytes: number): Block | undefined => {
  const index = spare.findIndex(({ buffer }) => buffer.byteLength === bytes);
  return index < 0 ? undefined : spare.splice(index, 1)[0];
};

const keepSpare = (block: Block): void => {
  const { byteLength } = block.buffer;
  if (byteLength !== FIRST_BLOCK_BYTES && byteLength !== LARGEST_BLOCK_BYTES) return;
  const total = spare.reduce((sum, { buffer }) => sum + buffer.byteLength, byteLength);
  if (total <= MOST_SPARE_BYTES) spare.push(block);
};

async function* blocksOf(queue: Queue, proceed: () => void): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const block = queue.blocks.shift();
    if (block) {
      queue.bytes -= block.used;
      yield block.buffer.subarray(0, block.used);
      if (block.buffer.byteLength === queue.blockBytes) queue.free.push(block);
      else keepSpare(block);
    } else if (queue.end === 'complete') return;
    else if (queue.end !== undefined) throw queue.end === 'discarded' ? ENDED_EARLY : queue.end;
    else {
      proceed();
      await new Promise<void>((resolve) => {
        queue.wake = resolve;
      });
    }
  }
}

const resume = (queue: Queue, { res, done }: Exchange): void => {
  if (!queue.isPaused) return;
  queue.isPaused = false;
  if (!done) res.resume();
};

const ENDED_EARLY = new Invalid('the client has disconnected before the end of the request body');
