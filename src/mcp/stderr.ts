import type { Readable } from 'node:stream';
import { BOUNDS, excerpt } from './bounds.ts';
import { createThrottle } from './throttle.ts';

/**
 * Reads the stderr of a child to its end, so that the child never blocks on it, and keeps the last line to explain its
 * exit.
 */
export type StderrReader = { last(): string };

export const readStderr = (stream: Readable, report: (line: string) => void): StderrReader => {
  let rest = '';
  let last = '';
  const readLine = (line: string): void => {
    if (line.trim() === '') return;
    last = excerpt(line, BOUNDS.stderrChars);
    report(last);
  };
  const throttle = createThrottle(stream, BOUNDS.stderrRate);
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    throttle(chunk.length);
    const lines = (rest + chunk).slice(-BOUNDS.stderrLook).split('\n');
    rest = (lines.pop() ?? '').slice(-BOUNDS.stderrChars);
    for (const line of lines) readLine(line);
  });
  stream.on('error', () => {});
  return { last: () => (rest.trim() === '' ? last : rest) };
};
