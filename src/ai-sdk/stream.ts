import { interrupted } from '../models/classify.ts';
import type { InferenceEnd } from '../models/model.ts';
import type { Watchdog } from '../models/watchdog.ts';
import type { CallOptions } from './call.ts';
import { toBrokenStream, toModelError } from './errors.ts';
import type { AiSdkModel } from './model.ts';
import type { PartReceiver, StreamPart } from './parts.ts';

/**
 * The stream of one call of an AI SDK model.
 *
 * Guarantees: an inference ends when its signal fires, even if the model ignores the signal; a stream that opens or
 * continues after that is cancelled. The sink receives nothing after the signal.
 * Cost: the promises of the package's stream, and one read per part.
 */

type Reader = ReadableStreamDefaultReader<{ readonly type: string }>;

/** @throws ModelError */
export async function openStream(model: AiSdkModel, call: CallOptions, signal: AbortSignal): Promise<Reader> {
  try {
    const opening = Promise.resolve(model.doStream({ ...call, abortSignal: signal }));
    const { stream } = await untilAborted(opening, signal, ({ stream }) => stream.cancel());
    return stream.getReader();
  } catch (error) {
    throw toModelError(error);
  }
}

/** Rejects when the signal fires. A result that arrives later is discarded. */
export function untilAborted<Result>(
  result: Promise<Result>,
  signal: AbortSignal,
  discard: (late: Result) => unknown = () => {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason);
      result.then(discard).catch(ignore);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    result.then(resolve, reject);
  });
}

const ignore = (): void => {};

/** @throws ModelError */
export async function deliver(
  reader: Reader,
  receive: PartReceiver,
  watchdog: Watchdog,
): Promise<InferenceEnd> {
  let end: InferenceEnd | undefined;
  // This resolves a pending read.
  watchdog.signal.addEventListener('abort', () => reader.cancel().catch(ignore), { once: true });
  try {
    while (!end) {
      const { done, value } = await read(reader, receive);
      const cause = watchdog.cause();
      if (cause) throw cause;
      if (done) throw interrupted('connection reset');
      watchdog.touch();
      // Parts differ between versions of a package; the receiver ignores unknown ones.
      end = receive(value as StreamPart);
    }
    return end;
  } finally {
    // The rest of a stream does not affect the inference, so neither outcome is reported.
    (end ? drain(reader) : reader.cancel()).catch(ignore);
  }
}

async function read(reader: Reader, { hasBegun }: PartReceiver) {
  try {
    return await reader.read();
  } catch (error) {
    throw toBrokenStream(error, hasBegun());
  }
}

/** A stream must not continue after its end part; if it does, only this many parts are read. */
const MOST_PARTS_AFTER_END = 64;

/** A connection is reusable only after its response was read to the end. */
async function drain(reader: Reader): Promise<void> {
  for (let left = MOST_PARTS_AFTER_END; left > 0; left -= 1) {
    const { done } = await reader.read();
    if (done) return;
  }
  await reader.cancel();
}
