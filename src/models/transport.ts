import { notAStream } from './classify.ts';
import { ModelError } from './errors.ts';
import { BOUNDS, excerpt } from './transport/bounds.ts';

/**
 * How providers are asked: `fetch`, as far as a stranger may be trusted with it.
 *
 * Guarantees: nothing is sent to where a provider redirects, since keys travel in headers of many names; of a refusal
 * no more than its beginning is read; of an answer no event is longer, and no answer altogether, than `BOUNDS` say,
 * whatever it is compressed to. Whoever parses the events gets each of them whole, so that a long one in small
 * pieces costs no more than its length.
 * Costs: one read and a search for the last blank line a piece that the network brings; a copy only of an event that
 * came in several pieces.
 */
export const providerFetch: typeof fetch = async (input, init) =>
  bounded(await fetch(input, { ...init, redirect: 'manual' }));

/** @throws ModelError for a redirect */
export const bounded = async (response: Response): Promise<Response> => {
  const { status, statusText, headers, body } = response;
  if (status >= 300 && status < 400) {
    await body?.cancel();
    throw new ModelError('invalid_request', redirected(headers.get('location')), { status });
  }
  if (!body) return response;
  const taken = response.ok ? wholeEvents(body) : beginningOf(body, BOUNDS.errorBytes);
  return new Response(taken, { status, statusText, headers });
};

/** Addresses may carry keys behind their path. */
const redirected = (location: string | null): string => {
  const to = location !== null && URL.canParse(location) ? new URL(location) : undefined;
  const where = to ? excerpt(`${to.origin}${to.pathname}`, 200) : 'another address';
  return `the provider redirects to ${where}; base_url must lead there itself`;
};

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

const beginningOf = (body: Bytes, most: number): Bytes => {
  const reader = body.getReader();
  let left = most;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (value) controller.enqueue(value.subarray(0, left));
      left -= value?.length ?? 0;
      if (!done && left > 0) return;
      controller.close();
      giveUp(reader);
    },
    cancel: (reason) => reader.cancel(reason),
  });
};

const wholeEvents = (body: Bytes): Bytes => {
  const reader = body.getReader();
  const pieces = createPieces();
  let taken = 0;
  const tooLong = (what: string, most: number): ModelError => {
    giveUp(reader);
    return new ModelError('provider', `${what} has more than ${most} bytes`, { final: true });
  };
  /** @throws ModelError with what is said there */
  const refuseUnframed = async (piece: Piece, at: number): Promise<never> => {
    const begun = [piece.subarray(at), pieces.take(pieces.length())];
    throw notAStream(await textBehind(begun, reader));
  };
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          const rest = pieces.take(pieces.length());
          const at = unframedIn(rest);
          if (at >= 0) await refuseUnframed(rest, at);
          if (rest.length > 0) controller.enqueue(rest);
          return controller.close();
        }
        taken += value.length;
        if (taken > BOUNDS.streamBytes) throw tooLong('the answer', BOUNDS.streamBytes);
        const whole = pieces.add(value);
        if (pieces.length() > BOUNDS.frameBytes) throw tooLong('an event of the answer', BOUNDS.frameBytes);
        if (whole) {
          const at = unframedIn(whole);
          if (at >= 0) await refuseUnframed(whole, at);
          return controller.enqueue(whole);
        }
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
};

const NEW_LINE = 0x0a;
/** `{`, `[` and `<`: no line of an event stream begins so. */
const UNFRAMED: ReadonlySet<number> = new Set([0x7b, 0x5b, 0x3c]);

/** Where JSON or a page begins that is no event, or -1. Looks at the beginning of whole events, and for `{` behind. */
const unframedIn = (piece: Piece): number => {
  let start = 0;
  while (start < piece.length && isBlank(piece[start])) start += 1;
  if (UNFRAMED.has(piece[start] ?? 0)) return start;
  const at = Buffer.from(piece.buffer, piece.byteOffset, piece.length).indexOf('\n{');
  return at < 0 ? -1 : at + 1;
};

const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, NEW_LINE, 0x0d, 0xef, 0xbb, 0xbf]);

const isBlank = (byte: number | undefined): boolean => byte !== undefined && BLANKS.has(byte);

/** The text that began so, up to the bound of a refusal. */
const textBehind = async (
  begun: readonly Piece[],
  reader: ReadableStreamDefaultReader<Piece>,
): Promise<string> => {
  const pieces: Uint8Array[] = [...begun];
  let bytes = begun.reduce((sum, { length }) => sum + length, 0);
  while (bytes < BOUNDS.errorBytes) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
    if (done || !value) break;
    pieces.push(value);
    bytes += value.length;
  }
  giveUp(reader);
  return Buffer.concat(pieces).toString('utf8', 0, BOUNDS.errorBytes);
};

/** A connection that nobody reads from any more; what becomes of it is no news. */
const giveUp = (reader: ReadableStreamDefaultReader): void => {
  reader.cancel().catch(() => {});
};

type Piece = Uint8Array<ArrayBuffer>;

/** What has come of an event that has not ended. */
const createPieces = () => {
  let kept = Buffer.alloc(0);
  let length = 0;
  const keep = (piece: Piece): void => {
    if (length + piece.length > kept.length) {
      const longer = Buffer.allocUnsafeSlow(2 * (length + piece.length));
      kept.copy(longer, 0, 0, length);
      kept = longer;
    }
    kept.set(piece, length);
    length += piece.length;
  };
  const take = (end: number): Piece => {
    const taken = Uint8Array.from(kept.subarray(0, end));
    kept.copyWithin(0, end, length);
    length -= end;
    return taken;
  };
  return {
    length: () => length,
    take,
    /** Everything up to the end of the last event that has ended. */
    add(piece: Piece): Piece | undefined {
      if (length === 0) {
        const end = endOfEvents(piece);
        keep(piece.subarray(end));
        return end === 0 ? undefined : piece.subarray(0, end);
      }
      // The blank line may have come in pieces too.
      const from = Math.max(0, length - 2);
      keep(piece);
      const end = endOfEvents(kept.subarray(from, length));
      return end === 0 ? undefined : take(from + end);
    },
  };
};

const BLANK_LINES = ['\n\n', '\n\r\n', '\r\r'] as const;

const endOfEvents = (piece: Piece): number => {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  let end = 0;
  for (const blank of BLANK_LINES) {
    const at = bytes.lastIndexOf(blank);
    if (at >= 0) end = Math.max(end, at + blank.length);
  }
  return end;
};

/**
 * The text of an answer that has an end.
 *
 * @throws Error when it breaks off or has more than `most` bytes
 */
export const readText = async (response: Response, most: number): Promise<string> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    // Leaving the loop closes the connection.
    if (bytes > most) throw new Error(`more than ${most} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
};
