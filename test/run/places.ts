import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const inProject = (path: string): string => join(ROOT, path);

/**
 * Paths of the output of a test run: a single folder inside the project, so that the bundle resolves packages as the
 * sources do.
 */
export class Places {
  readonly bundle: string;

  constructor(readonly base: string) {
    this.bundle = join(base, 'bundle');
  }

  bundleOf(source: string): string {
    return join(this.bundle, source.replace(/\.tsx?$/, '.js'));
  }

  /** TAP output of a test file. */
  resultOf(file: string): string {
    return join(this.base, 'test-results', `${file}.tap`);
  }

  /** Recorded responses of services in this run. */
  get answers(): string {
    return join(this.base, 'answers');
  }

  fixturesOf(file: string): string {
    return join(this.base, 'fixtures', file.replace(/[^a-zA-Z0-9._-]+/g, '-'));
  }
}

/** The folder of tap, so that `tap replay` finds the results. */
export const TAP_PLACES = new Places(inProject('.tap'));

const WORKER = 'test/run/worker.ts';

export const workerOf = (places: Places): string => places.bundleOf(WORKER);

/** Module that a process loads before it runs tests. */
export const preludeOf = (places: Places): string => places.bundleOf('test/run/no-async-hooks.ts');

/** @param worker the bundled program that runs tests, within these paths */
export const placesOfWorker = (worker: string): Places =>
  new Places(resolve(worker, ...WORKER.split('/').map(() => '..'), '..'));
