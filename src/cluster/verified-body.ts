import { type Hmac, timingSafeEqual } from 'node:crypto';
import type { WireResponse } from '../http/wire.ts';
import { TAIL_BYTES } from './signature.ts';

/**
 * Separates a signed body from its tail, and checks it while it arrives.
 *
 * Guarantees: the listener receives the last chunk only if the signature of the whole body is valid; otherwise the
 * handler observes that the client has disconnected, and `refuse` is called if no response has begun.
 * Cost: one copy of the bytes.
 */
export const verifyBody = (res: WireResponse, signature: Hmac, refuse: () => void): WireResponse => {
  const body: Body = { signature, tail: EMPTY };
  let listeners = NO_LISTENERS;
  let phase: 'open' | 'begun' | 'over' = 'open';
  const fail = (): void => {
    const before = phase;
    phase = 'over';
    if (before === 'over') return;
    listeners.aborted();
    if (before === 'open') refuse();
    else res.close();
  };
  const ending =
    <Args extends unknown[]>(end: (...args: Args) => unknown) =>
    (...args: Args): unknown => {
      phase = 'over';
      return end(...args);
    };
  res.onAborted(() => {
    if (phase === 'over') return;
    phase = 'over';
    listeners.aborted();
  });
  return {
    retains: res.retains,
    onAborted(listener) {
      listeners = { aborted: listener };
    },
    onData(listener) {
      res.onData((chunk, isLast) => {
        const pieces = take(body, new Uint8Array(chunk));
        if (isLast && !isValid(body)) return fail();
        const last = pieces.pop() ?? EMPTY;
        for (const piece of pieces) listener(whole(piece), false);
        if (isLast || last.byteLength > 0) listener(whole(last), isLast);
      });
    },
    pause: () => res.pause(),
    resume: () => res.resume(),
    onWritable: (listener) => res.onWritable(listener),
    writeStatus(status) {
      phase = 'begun';
      return res.writeStatus(status);
    },
    writeHeader: (name, value) => res.writeHeader(name, value),
    write: (text) => res.write(text),
    end: ending((text?: string | Uint8Array, closes?: boolean) => res.end(text, closes)),
    endWithoutBody: ending(() => res.endWithoutBody()),
    cork: (write) => res.cork(write),
    close: () => res.close(),
    getRemoteAddressAsText: () => res.getRemoteAddressAsText(),
  };
};

/** `tail`: the last bytes received, up to `TAIL_BYTES`, which may be the signature. */
type Body = { readonly signature: Hmac; tail: Uint8Array };

const EMPTY = new Uint8Array(0);

const NO_LISTENERS = { aborted(): void {} };

/** Returns the bytes that are not part of the tail, after adding them to the signature. */
const take = (body: Body, chunk: Uint8Array): Uint8Array[] => {
  const { signature, tail } = body;
  const excess = Math.max(0, tail.byteLength + chunk.byteLength - TAIL_BYTES);
  const ofTail = Math.min(excess, tail.byteLength);
  const pieces = [tail.subarray(0, ofTail), chunk.subarray(0, excess - ofTail)];
  body.tail = Buffer.concat([tail.subarray(ofTail), chunk.subarray(excess - ofTail)]);
  for (const piece of pieces) signature.update(piece);
  return pieces.filter(({ byteLength }) => byteLength > 0);
};

const isValid = ({ signature, tail }: Body): boolean =>
  tail.byteLength === TAIL_BYTES && timingSafeEqual(signature.digest(), tail);

/** Copies the bytes to a buffer that contains nothing else. */
const whole = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;
