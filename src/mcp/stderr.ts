import type { Readable } from 'node:stream';
import { BOUNDS, excerpt } from './bounds.ts';

/**
 * What a child says beside the protocol. It is read to the end, so that the child never blocks on it; a few lines a
 * second are told, and the last one is kept for whoever asks why it exited.
 */
export type StderrReader = { last(): string };

export const readStderr = (stream: Readable, tell: (line: string) => void): StderrReader => {
  let rest = '';
  let last = '';
  let second = 0;
  let told = 0;
  const hear = (line: string): void => {
    if (line.trim() === '') return;
    last = excerpt(line, BOUNDS.stderrChars);
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) told = 0;
    second = now;
    told += 1;
    if (told <= BOUNDS.stderrLines) tell(last);
  };
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(-BOUNDS.stderrChars);
    for (const line of lines) hear(line);
  });
  stream.on('error', () => {});
  return { last: () => (rest.trim() === '' ? last : rest) };
};
