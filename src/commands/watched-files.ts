import { createHash } from 'node:crypto';
import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Reports that files were edited.
 *
 * Guarantees: edits within `QUIET_MS` of each other cause one report; a save without a changed byte causes none; an
 * editor may replace a file instead of writing into it.
 * Cost: one watcher per folder, however many of its files are watched.
 */
export type WatchedFiles = {
  /** Adds a file, with its current content. */
  add(path: string): void;
  /** Also reports changes of other files in the same folders, such as the creation of a missing one. */
  includeSiblings(whether: boolean): void;
  close(): void;
};

/** Editors write a file in several steps, and several files one after another. */
const QUIET_MS = 100;

export function watchFiles(edited: () => void): WatchedFiles {
  const contents = new Map<string, string>();
  const folders = new Map<string, FSWatcher>();
  let siblings = false;
  let hasEvent = false;
  let timer: NodeJS.Timeout | undefined;

  const report = (): void => {
    let isEdited = siblings && hasEvent;
    hasEvent = false;
    for (const [path, known] of contents) {
      const content = contentOf(path);
      isEdited ||= content !== known;
      contents.set(path, content);
    }
    if (isEdited) edited();
  };
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(report, QUIET_MS);
  };
  const noteEvent = (): void => {
    hasEvent = true;
    wait();
  };
  const watchFolder = (folder: string): void => {
    if (folders.has(folder)) return;
    try {
      const watcher = watch(folder, noteEvent);
      // The folder was deleted: its files are reported, and `add` watches the folder that replaces it.
      watcher.on('error', () => {
        watcher.close();
        folders.delete(folder);
        noteEvent();
      });
      folders.set(folder, watcher);
    } catch {
      // The folder is missing, but the module that refers to it is watched.
    }
  };
  return {
    add(path) {
      contents.set(path, contentOf(path));
      watchFolder(dirname(path));
      // An edit between reading the file and the start of its watcher causes no event.
      wait();
    },
    includeSiblings(whether) {
      siblings = whether;
    },
    close() {
      clearTimeout(timer);
      for (const watcher of folders.values()) watcher.close();
      folders.clear();
    },
  };
}

function contentOf(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return 'missing';
  }
}
