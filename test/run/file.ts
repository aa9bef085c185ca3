import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { t as root, Test, type TestOpts } from 'tap';
import type { Places } from './places.ts';
import { watchProgress } from './progress.ts';

/**
 * The test of the current file. In a worker, `import t from 'tap'` of a test file resolves to this binding, so that
 * top-level tests belong to their file only, as in a separate process.
 */
let current: Test | undefined;

export { current as default };

/** An uncaught error fails the current file. */
const failFile = (error: unknown): void => {
  if (current) current.threw(error instanceof Error ? error : new Error(String(error)));
  else endWith(error);
};

const endWith = (error: unknown): void => {
  console.error(error);
  process.exit(1);
};
process.on('uncaughtException', failFile);
process.on('unhandledRejection', failFile);

// tap's own test of the process would time out after a while without tests.
root.setTimeout(0);

export type FileResult = {
  ok: boolean;
  /** True if the file was stopped because it made no progress; its code may still wait in this process. */
  stalled: boolean;
};

/** Runs a test file and stores its TAP output, in which a stalled test is named. */
export const runFile = async (file: string, places: Places, stallMs?: number): Promise<FileResult> => {
  const result = places.resultOf(file);
  await mkdir(dirname(result), { recursive: true });
  const out = createWriteStream(result);
  const options: TestOpts = {
    name: file,
    testdir: places.fixturesOf(file),
    cb: () => import(places.bundleOf(file)),
  };
  const test = new Test(options);
  current = test;
  let stalled = false;
  const endWatch = watchProgress(
    () => out.bytesWritten,
    () => {
      stalled = true;
      test.timeout({ expired: file, message: 'stalled: it reports nothing and uses no CPU time' });
    },
    stallMs,
  );
  test.on('complete', () => test.comment(`time=${test.time}ms`));
  test.pipe(out);
  test.runMain(() => {});
  await finished(out);
  endWatch();
  return { ok: test.results?.ok === true, stalled };
};
