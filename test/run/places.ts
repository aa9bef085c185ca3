import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where things lie. All but the sources is under `.tap`, which the repository ignores. */

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const inProject = (path: string): string => join(ROOT, path);

/** Inside the project, so that packages are found from there as from the sources. */
export const BUNDLE = inProject('.tap/bundle');

export const bundleOf = (source: string): string => join(BUNDLE, source.replace(/\.tsx?$/, '.js'));

/** Where `tap replay` looks for what a test file said. */
export const resultOf = (file: string): string => inProject(`.tap/test-results/${file}.tap`);

export const fixturesOf = (file: string): string =>
  inProject(`.tap/fixtures/${file.replace(/[^a-zA-Z0-9._-]+/g, '-')}`);
