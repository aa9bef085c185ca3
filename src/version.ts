import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The version of the package. The file lies above this one, in the sources as well as in the build. */
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

/** The root folder of the package. */
export const packageFolder: string = fileURLToPath(new URL('.', packageFile ?? import.meta.url));

/** Where the build puts the browser console. */
export const consoleFolder: string = fileURLToPath(new URL('./dist/console', packageFile ?? import.meta.url));
