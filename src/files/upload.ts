import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { BusboyInstance } from '@fastify/busboy';
import { Invalid, Outcome } from '../schema/outcome.ts';

/**
 * Reads a multipart body with one file (openai.md 9.1), whose fields may precede or follow it.
 *
 * Guarantees: no memory in addition to the chunks of the body, of which one is used at a time; the number and length of
 * fields are limited.
 */
export type Upload = {
  fields: ReadonlyMap<string, string>;
};

/** A file as it arrives. A chunk is valid until the next one is requested. */
export type IncomingFile = { filename: string; media_type: string; chunks: AsyncIterable<Uint8Array> };

const LIMITS = { fields: 16, fieldSize: 4096, fieldNameSize: 100, files: 1, parts: 32, headerPairs: 32 };

/**
 * Calls `store` with the file of the field `file`, and resolves with its result and the other fields. Discards the result
 * when the rest of the body is wrong.
 *
 * @throws Invalid for a body that is not multipart or has no file, and the error of `store`
 */
export const readUpload = async <Stored extends { discard(): void }>(
  contentType: string,
  chunks: AsyncIterable<Uint8Array>,
  store: (file: IncomingFile) => Promise<Stored>,
): Promise<Upload & { stored: Stored }> => {
  const parser = await createParser(contentType);
  const fields = new Map<string, string>();
  let storing: Promise<Stored> | undefined;
  let incoming: Incoming | undefined;
  const ended = new Promise<void>((resolve, reject) => {
    parser.on('finish', resolve);
    parser.on('error', (error) => reject(malformed(error)));
    for (const limit of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const)
      parser.on(limit, () => reject(new Invalid('the body has too many parts')));
    parser.on('field', (name, value) => fields.set(name, value));
    parser.on('file', (name, stream, filename, _encoding, media_type) => {
      stream.on('error', (error: unknown) => reject(malformed(error)));
      if (name !== 'file' || storing) {
        stream.resume();
        return;
      }
      incoming = openIncoming(stream);
      // Browsers encode quotes in the name (WHATWG HTML, multipart/form-data).
      const plain = (filename ?? '').replaceAll('%22', '"');
      storing = store({ filename: plain, media_type, chunks: incoming.chunks() });
      storing.catch(reject);
    });
  });
  // Awaited below, together with the body.
  ended.catch(() => {});
  try {
    await Promise.race([feed(parser, chunks, () => incoming), ended]);
    await ended;
  } catch (error) {
    parser.destroy();
    // The parser does not end the stream of the file.
    incoming?.fail(error);
    throw await reasonOf(storing, error);
  }
  if (!storing) throw new Invalid("the body must have a file in the field 'file'");
  return { fields, stored: await storing };
};

export const isMultipart = (contentType: string): boolean =>
  /^\s*multipart\/form-data\s*;/i.test(contentType);

/** The parser is loaded with the first upload. @throws Invalid */
const createParser = async (contentType: string): Promise<BusboyInstance> => {
  const { default: parsers } = await import('@fastify/busboy');
  try {
    return new parsers.Busboy({ headers: { 'content-type': contentType }, limits: LIMITS });
  } catch (error) {
    throw malformed(error);
  }
};

/** A store that rejects a file ends its stream, which the parser reports as a failure too. */
const reasonOf = async (
  storing: Promise<{ discard(): void }> | undefined,
  error: unknown,
): Promise<unknown> => {
  try {
    (await storing)?.discard();
    return error;
  } catch (rejected) {
    return rejected instanceof Outcome ? rejected : error;
  }
};

/**
 * The parser gets a chunk when everything of the one before has been stored, because its parts refer to the bytes of the
 * chunk, which the next one replaces.
 */
const feed = async (
  parser: BusboyInstance,
  chunks: AsyncIterable<Uint8Array>,
  file: () => Incoming | undefined,
): Promise<void> => {
  for await (const chunk of chunks) {
    await new Promise<void>((resolve) => parser.write(chunk, () => resolve()));
    // Streams that are read without a pause have passed everything on by then.
    await setImmediate();
    await file()?.taken();
  }
  parser.end();
};

/** The bytes of a part in the order in which the parser finds them. */
type Incoming = {
  chunks(): AsyncGenerator<Uint8Array, void>;
  /** Resolves when all bytes that were found have been stored, or the reader has ended. */
  taken(): Promise<void>;
  /** Ends the reader with an error. */
  fail(error: unknown): void;
};

const openIncoming = (stream: Readable): Incoming => {
  const queue: Uint8Array[] = [];
  const state = { isIdle: false, isOver: false };
  let end: { error?: unknown } | undefined;
  let wake = (): void => {};
  let onIdle = (): void => {};
  stream.on('data', (chunk: Buffer) => {
    queue.push(chunk);
    state.isIdle = false;
    wake();
  });
  stream.on('end', () => {
    end ??= {};
    wake();
  });
  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const chunk = queue.shift();
        if (chunk) yield chunk;
        else if (end) break;
        else {
          state.isIdle = true;
          onIdle();
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
      if (end.error !== undefined) throw end.error;
    } finally {
      state.isOver = true;
      onIdle();
    }
  }
  return {
    chunks,
    fail(error) {
      end ??= { error };
      wake();
    },
    async taken() {
      while (!state.isIdle && !state.isOver)
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
    },
  };
};

const malformed = (error: unknown): Invalid =>
  new Invalid(
    `the body is not valid multipart/form-data (${error instanceof Error ? error.message : String(error)})`,
  );
