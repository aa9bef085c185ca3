import type { AppInput } from '../composition/input.ts';
import type { TroupeConfig } from '../embedding/config.ts';
import { Outcome } from '../schema/outcome.ts';
import { SettingsError } from '../settings/index.ts';
import { loadConfigFile } from './config-file.ts';
import type { Served } from './until-signal.ts';
import { type WatchedFiles, watchFiles } from './watched-files.ts';

/**
 * Replaces the service of `troupe dev --watch` when its config file, or a file that it depends on, was edited.
 *
 * Guarantees: code that cannot be loaded does not stop the service; an edit during a reload causes another reload.
 */
export type Reloading = {
  /** Loads the config file for the first time. */
  load(): Promise<TroupeConfig>;
  /** Starts replacing this service on edits. */
  begin(served: Served): void;
};

export function reloadOnEdit(path: string, inputOf: (config: TroupeConfig) => Promise<AppInput>): Reloading {
  let served: Served | undefined;
  let isDirty = false;
  let isReloading = false;
  let shown = '';

  const load = async (): Promise<TroupeConfig> => {
    const found = new Set<string>();
    try {
      const config = await loadConfigFile(path, (file) => {
        if (!found.has(file)) files.add(file);
        found.add(file);
      });
      files.includeSiblings(false);
      return config;
    } catch (error) {
      files.includeSiblings(true);
      throw error;
    }
  };
  const reload = async (): Promise<void> => {
    const startedAt = performance.now();
    try {
      const input = await inputOf(await load());
      await served?.replace(input);
      shown = '';
      process.stdout.write(`Troupe: reloaded in ${Math.round(performance.now() - startedAt)} ms\n`);
    } catch (error) {
      const reason = reasonOf(error);
      // Edits of other files in the folder retry a missing import, so a repeated error is reported once.
      if (reason !== shown) process.stderr.write(`troupe: not reloaded: ${reason}\n`);
      shown = reason;
    }
  };
  const edited = async (): Promise<void> => {
    isDirty = true;
    if (!served || isReloading) return;
    isReloading = true;
    while (isDirty) {
      isDirty = false;
      await reload();
    }
    isReloading = false;
  };
  const files: WatchedFiles = watchFiles(() => void edited());
  return {
    load,
    begin(service) {
      served = service;
      if (isDirty) void edited();
    },
  };
}

function reasonOf(error: unknown): string {
  const isExpected = error instanceof SettingsError || error instanceof Outcome;
  if (!(error instanceof Error)) return String(error);
  return isExpected ? error.message : (error.stack ?? error.message);
}
