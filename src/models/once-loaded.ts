import type { Wire } from './wire/wire.ts';

/** If loading a format fails, the next inference loads it again. */
export const onceLoaded = (load: () => Promise<Wire>): (() => Promise<Wire>) => {
  let loaded: Promise<Wire> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
};
