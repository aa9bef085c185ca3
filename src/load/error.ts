import { Invalid } from '../schema/outcome.ts';

/** A load that cannot be run, told to the person who asked for it. */
export class LoadError extends Invalid {}
