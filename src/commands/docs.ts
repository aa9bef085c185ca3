import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { manualFolder } from '../composition/version.ts';
import { SERVICE_URL } from './service-url.ts';
import { guarded, Usage } from './usage.ts';

/** `troupe docs`: prints where the manual of this version is. */
export const docsCommand = new Command('docs')
  .description('print the address and the folder of the manual')
  .option('--url <url>', 'URL of the running service', SERVICE_URL)
  .action(
    guarded(async ({ url }: { url: string }) => {
      if (!/^https?:/.test(url) || !URL.canParse(url)) {
        throw new Usage(`--url: '${url}' is not an http or https URL`);
      }
      const address = `${url.replace(/\/+$/, '')}/docs`;
      const problem = await problemAt(address);
      process.stdout.write(`Manual    ${address}${problem === undefined ? '' : ` (${problem})`}\n`);
      process.stdout.write(
        `Markdown  ${existsSync(manualFolder) ? manualFolder : 'not built: run npm run build:console'}\n`,
      );
    }),
  );

/** How long the command waits for the service. */
const TIMEOUT_MS = 2000;

/** Undefined if a service serves the manual at this address. */
const problemAt = async (address: string): Promise<string | undefined> => {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { ok, status } = await fetch(address, { method: 'HEAD', signal });
    return ok ? undefined : `the server responds with ${status}`;
  } catch {
    return 'no service responds; start one with troupe dev or troupe serve';
  }
};
