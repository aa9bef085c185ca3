import { join } from 'node:path';
import type { CodeSplittingNameFunction } from 'rolldown';
import { ROOT } from './sources.ts';

/**
 * Assigns the modules of the service to chunks. By default, each set of entries and dynamic imports that share modules
 * has a chunk: a start read more than 70 files, which took a tenth of its time.
 */

/** Entries that must not load the service: separate layers have the modules that it shares with them. */
const LIGHT = ['src/ai-sdk/index.ts'];

/**
 * Sources that a start loads. Each layer has the modules that its sources import statically, without those of the
 * layers above it, so it imports only from those.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['src/commands/program.ts'],
  ['src/store/index.ts'],
  ['src/app.ts'],
  [
    'src/commands/serve.ts',
    'src/commands/dev.ts',
    'src/commands/until-signal.ts',
    'src/commands/command-log.ts',
    'src/terminal/index.ts',
  ],
  ['src/routes/control-plane.ts'],
  ['src/routes/chat/runs.ts'],
  ['src/routes/ag-ui/runs.ts'],
  ['src/routes/eval-runs.ts'],
  ['src/routes/eval-datasets.ts'],
  ['src/routes/threads.ts'],
  ['src/routes/users.ts'],
  ['src/routes/table.ts'],
  ['src/routes/a2a/adapter.ts'],
  ['src/routes/openai/index.ts'],
  ['src/composition/surface.ts'],
];

/** Returns the name of the chunk of a module; null for the default. */
export const layerOf = (): CodeSplittingNameFunction => {
  let loaded: ReadonlySet<string> | undefined;
  let layers: readonly ReadonlySet<string>[] = [];
  return (id, context) => {
    const modulesOf = (sources: readonly string[]): Set<string> => {
      const found = new Set(sources.map((source) => join(ROOT, source)));
      for (const module of found)
        for (const imported of context.getModuleInfo(module)?.importedIds ?? []) found.add(imported);
      return found;
    };
    if (!loaded) {
      loaded = modulesOf(LAYERS.flat());
      layers = [...LIGHT.map((entry) => [entry]), ...LAYERS].map(modulesOf);
    }
    return loaded.has(id) ? `layer-${layers.findIndex((layer) => layer.has(id))}` : null;
  };
};
