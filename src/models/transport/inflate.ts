import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ModelError } from '../errors.ts';

/**
 * Decompresses a body that the server compressed although the request accepts only `identity`.
 *
 * Guarantees: the body is read no faster than its decompressed data is consumed, apart from one buffer; nothing is
 * called after `destroy`.
 */
export type Inflater = {
  write(chunk: Buffer): void;
  end(): void;
  destroy(): void;
};

type Output = { data(chunk: Buffer): void; end(): void; fail(error: Error): void };

type Flow = { pause(): void; resume(): void };

const CODINGS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

/**
 * Returns undefined for a body that is not compressed.
 *
 * @throws ModelError for an unsupported coding
 */
export const createInflater = (
  encoding: string | string[] | undefined,
  flow: Flow,
  output: Output,
): Inflater | undefined => {
  const coding = String(encoding ?? '')
    .trim()
    .toLowerCase();
  if (coding === '' || coding === 'identity') return undefined;
  if (!isCoding(coding)) {
    const supported = Object.keys(CODINGS).join(', ');
    throw new ModelError('provider', `content-encoding must be one of ${supported} (got ${coding})`, {
      final: true,
    });
  }
  const stream = CODINGS[coding]();
  let destroyed = false;
  stream.on('data', (chunk: Buffer) => {
    if (!destroyed) output.data(chunk);
  });
  stream.on('drain', () => flow.resume());
  stream.on('end', () => {
    if (!destroyed) output.end();
  });
  stream.on('error', (error) => {
    if (!destroyed) output.fail(isCut(error) ? error : malformed(coding, error));
  });
  return {
    write(chunk) {
      if (!stream.write(chunk)) flow.pause();
    },
    end: () => void stream.end(),
    destroy() {
      destroyed = true;
      flow.resume();
      stream.destroy();
    },
  };
};

/** Whether the body ended too early, as after a broken connection. */
const isCut = (error: Error): boolean => 'code' in error && error.code === 'Z_BUF_ERROR';

const malformed = (coding: string, cause: Error): ModelError =>
  new ModelError('provider', `the response is not compressed with ${coding} as it declares`, { cause });

const isCoding = (coding: string): coding is keyof typeof CODINGS => Object.hasOwn(CODINGS, coding);
