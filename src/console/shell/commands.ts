import { createAtom } from '@xstate/store';
import { useEffect } from 'react';
import type { PaletteItem } from './palette-search.ts';

/** What a screen lets be done with it from elsewhere: by the palette, and by keys. */
export type Command = PaletteItem & {
  run: () => void;
};

/** Of the screens that are shown. */
export const screenCommands = createAtom<readonly Command[]>([]);

/**
 * While the screen is shown. `commands` is made once or memoised.
 * @example useCommands(useMemo(() => [{ id: 'agents.new', label: t('new'), section: 'actions', run }], [t]));
 */
export const useCommands = (commands: readonly Command[]): void => {
  useEffect(() => {
    screenCommands.set([...screenCommands.get(), ...commands]);
    return () => screenCommands.set(screenCommands.get().filter((command) => !commands.includes(command)));
  }, [commands]);
};
