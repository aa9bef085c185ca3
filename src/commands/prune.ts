import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { Invalid } from '../schema/outcome.ts';

/**
 * `troupe prune`: uWebSockets.js comes with a binary for each system and version of Node, of which one is used. The
 * others go; installing the package again brings them back.
 */
export const pruneCommand = new Command('prune')
  .description('remove what an installed uWebSockets.js has for other systems and versions of Node')
  .option('--dry-run', 'only tell what would be removed')
  .action(({ dryRun = false }: { dryRun?: boolean }) => {
    const folder = installedFolder();
    if (folder === undefined) {
      process.stdout.write('uWebSockets.js is not installed: nothing to remove\n');
      return;
    }
    const binaries = binariesIn(folder);
    if (!dryRun) for (const { name } of binaries.unused) rmSync(join(folder, name));
    process.stdout.write(told(folder, binaries, dryRun));
  });

/**
 * Undefined when the package, which is optional, is not installed.
 *
 * @throws Invalid when it was not installed by a package manager, which could bring its files back
 */
const installedFolder = (): string | undefined => {
  const folder = folderOfPackage();
  if (folder !== undefined && !/[\\/]node_modules[\\/]/.test(folder)) {
    throw new Invalid(`${folder} is not in a folder node_modules: only what was installed is pruned`);
  }
  return folder;
};

const folderOfPackage = (): string | undefined => {
  try {
    return dirname(createRequire(import.meta.url).resolve('uWebSockets.js/package.json'));
  } catch {
    return undefined;
  }
};

type Binary = { name: string; bytes: number };
type Binaries = { used: string; unused: Binary[] };

/** @throws Invalid when there is none that this Node could use: all of them would go */
const binariesIn = (folder: string): Binaries => {
  const used = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  if (!existsSync(join(folder, used))) {
    throw new Invalid(
      `${folder} has no ${used}, which Node ${process.version} on this system needs: install it again, with the Node that will run it`,
    );
  }
  const unused = readdirSync(folder)
    .filter((name) => /^uws_.*\.node$/.test(name) && name !== used)
    .map((name) => ({ name, bytes: statSync(join(folder, name)).size }));
  return { used, unused };
};

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const told = (folder: string, { used, unused }: Binaries, dryRun: boolean): string => {
  const verb = dryRun ? 'would remove' : 'removed';
  const total = unused.reduce((sum, { bytes }) => sum + bytes, 0);
  const sum = createHash('sha256')
    .update(readFileSync(join(folder, used)))
    .digest('hex');
  return [
    ...unused.map(({ name, bytes }) => `${verb} ${name} (${megabytes(bytes)})`),
    `${verb} ${unused.length} files, ${megabytes(total)}, of ${folder}`,
    `kept ${used}, SHA-256 ${sum}`,
    '',
  ].join('\n');
};
