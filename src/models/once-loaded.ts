import type { Wire } from './wire/wire.ts';

/** A format that could not be loaded is loaded again by the next inference. */
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
