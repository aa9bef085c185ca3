import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { createProgress } from '../terminal/progress.ts';
import { givenFlags, readSettings, withSettingFlags } from './setting-flags.ts';

/** `troupe backup DIR`: copies the data while the service runs. To restore, start with the copy as `--storage-dir`. */
export const backupCommand = withSettingFlags(new Command('backup'), {
  keys: ['settings_file', 'storage_dir'],
})
  .description('back up the data directory of a running service')
  .argument('<folder>', 'destination; must be empty or not exist')
  .action(async (folder: string, options: Record<string, unknown>) => {
    const { storage_dir, database } = await readSettings(givenFlags(options), process.env);
    const { backupFolder, KEY_FILE, refuseBackup } = await import('../store/index.ts');
    if (database.url !== undefined) refuseBackup();
    const progress = createProgress();
    const onProgress = (written: number, most: number): void =>
      progress.show(`copying ${megabytes(written)}, of ${megabytes(most)} at most`);
    const stop = new AbortController();
    for (const signal of SIGNALS) process.once(signal, () => stop.abort(signal));
    try {
      await backupFolder(storage_dir, folder, { onProgress, signal: stop.signal }).finally(progress.clear);
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      process.stderr.write(`troupe: stopped by ${stop.signal.reason}; ${folder} is unchanged\n`);
      // LMDB does not stop copying before its process ends.
      process.exit(128 + constants.signals[stop.signal.reason as (typeof SIGNALS)[number]]);
    }
    process.stdout.write(`${storage_dir} is copied to ${folder}\n`);
    const key = join(storage_dir, KEY_FILE);
    if (existsSync(key))
      process.stdout.write(
        `the copy does not contain the key of its secrets: keep a copy of ${key} elsewhere, a restore needs both\n`,
      );
  });

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
