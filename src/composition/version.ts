import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** `package.json` is one level above the chunks of a build, and two levels above this file and its entry points. */
const packageFile = ['../package.json', '../../package.json']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => {
    try {
      return JSON.parse(readFileSync(url, 'utf8')).name === 'troupe';
    } catch {
      return false;
    }
  });

export const version: string = packageFile ? JSON.parse(readFileSync(packageFile, 'utf8')).version : '0.0.0';

export const packageFolder: string = fileURLToPath(new URL('.', packageFile ?? import.meta.url));

/** Folder of the built browser console. */
export const consoleFolder: string = fileURLToPath(new URL('./dist/console', packageFile ?? import.meta.url));

/** Folder of the built manual, with the Markdown of its pages. */
export const manualFolder: string = fileURLToPath(new URL('./dist/docs', packageFile ?? import.meta.url));
