import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders that are removed when this process exits. */

const folders: string[] = [];

process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

export const removedAtExit = (folder: string): string => {
  folders.push(folder);
  return folder;
};

/** Creates an empty folder. */
export const newFolder = (): string => removedAtExit(mkdtempSync(join(tmpdir(), 'troupe-bench-')));
