import { readdirSync } from 'node:fs';
import { inProject } from './places.ts';

/** Shared parts of the test commands. */

/** @throws Error with the option and the allowed values */
export const countFrom = (name: string, text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`--${name}: '${text}' is not allowed; allowed: a whole number from 1`);
};

const filesOfTests = (): string[] =>
  readdirSync(inProject('test'), { recursive: true, encoding: 'utf8' }).map((name) => `test/${name}`);

/** Programs that tests start as separate processes. */
export const startedByTests = (): string[] => [
  'bench/index.ts',
  ...filesOfTests().filter((file) => /\/child-[\w-]+\.ts$/.test(file)),
];

/** Test files with one of the parts in their path; all without parts. @throws Error for a part without a file */
export const testFiles = (parts: readonly string[] = []): string[] => {
  const all = filesOfTests()
    .filter((file) => file.endsWith('.test.ts'))
    .sort();
  for (const part of parts) {
    if (!all.some((file) => file.includes(part))) throw new Error(`no test file has '${part}' in its path`);
  }
  return parts.length === 0 ? all : all.filter((file) => parts.some((part) => file.includes(part)));
};
