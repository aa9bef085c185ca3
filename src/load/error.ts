/** A load that cannot be run, told to the person who asked for it. */
export class LoadError extends Error {
  override name = 'LoadError';
}
