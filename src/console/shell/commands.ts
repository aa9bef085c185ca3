import { createAtom } from '@xstate/store';
import { useEffect } from 'react';
import type { PaletteItem } from './palette-search.ts';

/** A command that a screen offers to the palette and to shortcuts. */
export type Command = PaletteItem & { run: () => void };

/** Commands of the mounted screens. */
export const screenCommands = createAtom<readonly Command[]>([]);

/**
 * Registers commands while the component is mounted. `commands` has to be constant or memoized.
 * @example useCommands(useMemo(() => [{ id: 'agents.new', label: t('new'), section: 'actions', run }], [t]));
 */
export const useCommands = (commands: readonly Command[]): void => {
  useEffect(() => {
    screenCommands.set([...screenCommands.get(), ...commands]);
    return () => screenCommands.set(screenCommands.get().filter((command) => !commands.includes(command)));
  }, [commands]);
};
