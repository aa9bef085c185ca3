import type { Readable } from 'node:stream';
import { BOUNDS, excerpt } from './bounds.ts';
import { createBrake } from './brake.ts';

/**
 * What a child says beside the protocol. It is read to the end, so that the child never blocks on it, and the last
 * line is kept for whoever asks why it exited.
 */
export type StderrReader = { last(): string };

export const readStderr = (stream: Readable, tell: (line: string) => void): StderrReader => {
  let rest = '';
  let last = '';
  const hear = (line: string): void => {
    if (line.trim() === '') return;
    last = excerpt(line, BOUNDS.stderrChars);
    tell(last);
  };
  const brake = createBrake(stream, BOUNDS.stderrRate);
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    brake(chunk.length);
    const lines = (rest + chunk).slice(-BOUNDS.stderrLook).split('\n');
    rest = (lines.pop() ?? '').slice(-BOUNDS.stderrChars);
    for (const line of lines) hear(line);
  });
  stream.on('error', () => {});
  return { last: () => (rest.trim() === '' ? last : rest) };
};
