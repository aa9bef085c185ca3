import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { Invalid } from '../schema/outcome.ts';

/**
 * `troupe prune`: uWebSockets.js contains a binary for each system and version of Node, of which one is used. The
 * others are removed. All are removed if none fits this Node, because the service then listens with `node:http`.
 * Reinstalling the package restores them.
 */
export const pruneCommand = new Command('prune')
  .description('remove the binaries of an installed uWebSockets.js that this system and Node do not use')
  .option('--dry-run', 'only report the files that would be removed')
  .action(({ dryRun = false }: { dryRun?: boolean }) => {
    const folder = installedFolder();
    if (folder === undefined) {
      process.stdout.write('uWebSockets.js is not installed: nothing to remove\n');
      return;
    }
    const binaries = binariesIn(folder);
    if (!dryRun) for (const { name } of binaries.unused) rmSync(join(folder, name));
    process.stdout.write(formatReport(folder, binaries, dryRun));
  });

/**
 * Undefined if the package, which is optional, is not installed.
 *
 * @throws Invalid if it was not installed by a package manager, which could restore its files
 */
const installedFolder = (): string | undefined => {
  const folder = folderOfPackage();
  if (folder !== undefined && !/[\\/]node_modules[\\/]/.test(folder)) {
    throw new Invalid(`${folder} is not inside node_modules: only installed packages are pruned`);
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
type Binaries = { used: string | undefined; unused: Binary[] };

const binariesIn = (folder: string): Binaries => {
  const own = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const unused = readdirSync(folder)
    .filter((name) => /^uws_.*\.node$/.test(name) && name !== own)
    .map((name) => ({ name, bytes: statSync(join(folder, name)).size }));
  return { used: existsSync(join(folder, own)) ? own : undefined, unused };
};

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const formatReport = (folder: string, { used, unused }: Binaries, dryRun: boolean): string => {
  const verb = dryRun ? 'would remove' : 'removed';
  const total = unused.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    ...unused.map(({ name, bytes }) => `${verb} ${name} (${megabytes(bytes)})`),
    `${verb} ${unused.length} files, ${megabytes(total)}, of ${folder}`,
    used === undefined
      ? `no binary for Node ${process.version} on ${process.platform} ${process.arch}: the service uses node:http`
      : `kept ${used}, SHA-256 ${sumOf(join(folder, used))}`,
    '',
  ].join('\n');
};

const sumOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
